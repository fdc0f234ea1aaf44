//! A home with a project, a model that follows a script, and workers in it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use model::SessionId;
use testkit::claude::offline_environment;
use testkit::{Claude, ModelServer, PATIENCE, ScratchHome, Script};
use transcript::ConfigFolder;
use workers::store::{AddOutcome, NewWorker};
use workers::{
    BridgeServer, Command, Event, Limits, PermissionReply, PermissionRequest, ProcessIdentity, Program,
    QueuePolicy, RunnerConfig, SessionStart, TurnResult, WorkerHandle, WorkerId, WorkerOptions, WorkerSpec,
    WorkerState, WorkerStore,
};

pub(crate) struct Stage {
    pub(crate) home: ScratchHome,
    pub(crate) server: ModelServer,
    pub(crate) config: RunnerConfig,
    pub(crate) shop: PathBuf,
}

/// A worker, and all its events so far.
pub(crate) struct Actor {
    pub(crate) handle: WorkerHandle,
    pub(crate) events: Receiver<Arc<Event>>,
    thread: JoinHandle<WorkerState>,
    pub(crate) heard: Vec<Arc<Event>>,
}

#[expect(clippy::disallowed_methods, reason = "a test has a clock of its own")]
fn clock() -> Timestamp {
    Timestamp::now()
}

pub(crate) fn id() -> SessionId {
    uuid::Uuid::new_v4().to_string().parse().unwrap()
}

impl Stage {
    pub(crate) fn new(claude: &Claude, script: Script) -> Self {
        Self::with(claude, ModelServer::start(script))
    }

    /// A stage whose `claude` sees the scratch home and the scripted model, whatever this process has around it.
    pub(crate) fn with(claude: &Claude, server: ModelServer) -> Self {
        let home = ScratchHome::new();
        let real = claude.install(&home);
        let line = |(name, value): (&str, String)| format!("export {name}='{value}'");
        let ours = home.environment().into_iter();
        let ours = ours.map(|(name, value)| (name, value.to_string_lossy().into_owned()));
        let lines: Vec<_> = ours.chain(offline_environment(&server)).map(line).collect();
        let text = format!("#!/bin/sh\n{}\nexec '{}' \"$@\"\n", lines.join("\n"), real.display());
        let path = program(&home, "bin/worker-claude", &text);
        let config = RunnerConfig {
            home: home.state_dir(),
            program: Program { path, name: "claude".into() },
            release: claude.version().parse().unwrap(),
            // No test is about how long a program takes to start on a busy machine, but those that say so.
            limits: Limits { start: PATIENCE, ..Limits::default() },
            bridge: BridgeServer { program: "/nowhere/backstory".into(), environment: BTreeMap::new() },
            folders: vec![ConfigFolder::new(home.config_dir())],
            clock,
        };
        let shop = home.repository("shop").path().to_owned();
        Self { home, server, config, shop }
    }

    /// A stage with a program of the test's own in the place of `claude`.
    pub(crate) fn with_program(text: &str) -> Self {
        let mut stage = Self::new(&Claude::newest(), Script::new());
        stage.config.program.path = program(&stage.home, "bin/not-claude", text);
        stage
    }

    pub(crate) fn spec(&self, task: &str) -> WorkerSpec {
        WorkerSpec::new(SessionStart::Fresh(id()), self.shop.clone(), task.to_owned())
    }

    pub(crate) fn with_options(&self, task: &str, options: WorkerOptions) -> WorkerSpec {
        WorkerSpec { options, ..self.spec(task) }
    }

    pub(crate) fn table(&self) -> WorkerStore {
        WorkerStore::open(&self.config.home.join(workers::store::FILE)).unwrap()
    }

    pub(crate) fn add(&self, spec: &WorkerSpec) -> AddOutcome {
        let host = ProcessIdentity::current();
        let message = uuid::Uuid::new_v4().to_string();
        let session = spec.session().unwrap();
        let wanted = NewWorker { spec, session, slot: &spec.directory, message: &message, host: &host };
        self.table().add(&wanted, clock()).unwrap()
    }

    pub(crate) fn start(&self, spec: &WorkerSpec) -> Actor {
        match self.add(spec) {
            AddOutcome::Ready(id) | AddOutcome::Queued(id, _) => self.run(id),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn run(&self, id: WorkerId) -> Actor {
        let (handle, thread) = workers::start(self.config.clone(), id).unwrap();
        let events = handle.listen(QueuePolicy::Unbounded);
        Actor { handle, events, thread, heard: Vec::new() }
    }

    /// Runs a worker to its end, for one turn.
    pub(crate) fn play(&self, spec: &WorkerSpec) -> (TurnResult, WorkerState) {
        let mut actor = self.start(spec);
        let result = actor.result();
        (result, actor.close())
    }

    /// Runs a worker that may end by itself.
    pub(crate) fn play_out(&self, spec: &WorkerSpec) -> (Vec<Arc<Event>>, WorkerState) {
        let actor = self.start(spec);
        // It may have ended before it is asked to.
        let _ = actor.handle.command(Command::Close);
        let events = actor.events;
        let state = actor.thread.join().unwrap();
        (events.try_iter().collect(), state)
    }

    pub(crate) fn row(&self, id: WorkerId) -> workers::store::Worker {
        self.table().get(id).unwrap().unwrap()
    }

    pub(crate) fn transcript(&self, session: &SessionId) -> PathBuf {
        self.home.project_folder(&self.shop).join(format!("{session}.jsonl"))
    }
}

/// Writes an executable script into the home.
pub(crate) fn program(home: &ScratchHome, name: &str, text: &str) -> PathBuf {
    let path = home.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

impl Actor {
    /// The next event that `wanted` takes.
    #[track_caller]
    pub(crate) fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        loop {
            match self.events.recv_timeout(PATIENCE) {
                Ok(event) => {
                    self.heard.push(Arc::clone(&event));
                    if let Some(found) = wanted(&event) {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("{what}: nothing more; heard {:#?}", self.heard),
                Err(RecvTimeoutError::Disconnected) => panic!("{what}: it ended; heard {:#?}", self.heard),
            }
        }
    }

    #[track_caller]
    pub(crate) fn asked(&mut self) -> PermissionRequest {
        self.until("a request", |event| match event {
            Event::Asked(request) => Some(request.clone()),
            _ => None,
        })
    }

    #[track_caller]
    pub(crate) fn result(&mut self) -> TurnResult {
        self.until("a result", |event| match event {
            Event::Result(result) => Some(result.clone()),
            _ => None,
        })
    }

    #[track_caller]
    pub(crate) fn state(&mut self, word: &str) -> WorkerState {
        self.until(word, |event| match event {
            Event::State(state) if state.as_str() == word => Some(state.clone()),
            _ => None,
        })
    }

    /// Waits for the result of a tool.
    #[track_caller]
    pub(crate) fn tool_result(&mut self) -> (String, bool) {
        self.until("a tool's result", |event| match event {
            Event::ToolResult { text, is_error, .. } => Some((text.clone(), *is_error)),
            _ => None,
        })
    }

    #[track_caller]
    pub(crate) fn answer(&self, request: &PermissionRequest, reply: PermissionReply) {
        self.handle.command(Command::Answer { request: request.request.clone(), reply }).unwrap();
    }

    pub(crate) fn message(&self, text: &str) -> Result<(), String> {
        let id = uuid::Uuid::new_v4().to_string();
        self.handle.command(Command::Message { id, text: text.to_owned() })
    }

    /// Lets it end after its turn.
    #[track_caller]
    pub(crate) fn close(self) -> WorkerState {
        self.handle.command(Command::Close).unwrap();
        self.end()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(self) -> WorkerState {
        self.thread.join().unwrap()
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |event: &Arc<Event>| match &**event {
            Event::Text { text, agent: None, .. } => Some(text.clone()),
            _ => None,
        };
        self.heard.iter().filter_map(text).collect()
    }
}

pub(crate) fn allow() -> PermissionReply {
    PermissionReply::Allow { input: None, grant: None }
}

pub(crate) fn exists(path: &Path, name: &str) -> bool {
    path.join(name).exists()
}

/// Waits until something is so that nobody tells.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "another process makes it so, and tells nobody")]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
