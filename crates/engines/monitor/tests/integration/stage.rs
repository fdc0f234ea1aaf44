//! A home that is watched while the real `claude` works in it: what is reported is compared with what is expected, and with
//! what the rules say of the files that were recorded beside it.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Activity, SessionEvent};
use monitor::{Listener, Monitor, MonitorSettings, Timers, WorkerSource};
use testkit::recording::{ChangeKind, Recorder, Seen};
use testkit::{Claude, ModelServer, PATIENCE, ScratchHome, Script, Terminal};
use transcript::ConfigFolder;

use crate::recordings;

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A home with a project, watched from before anything happens.
pub(crate) struct Stage {
    pub(crate) home: ScratchHome,
    pub(crate) server: ModelServer,
    monitor: Monitor,
    listener: Listener,
    reported: Vec<String>,
    last: Option<String>,
    /// All that was expected, in order.
    table: Vec<String>,
    pub(crate) created: usize,
    terminal: Option<Rc<Terminal>>,
    recorder: Recorder,
    killed: Vec<Seen>,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Self {
        let home = ScratchHome::new();
        let settings = MonitorSettings {
            folders: vec![ConfigFolder::new(home.config_dir())],
            hooks: Some(home.state_dir().join("hooks")),
            timers: Timers::default(),
            poll: Duration::from_secs(1),
            events: true,
            clock,
        };
        let recorder = Recorder::start(&home.config_dir());
        let monitor = Monitor::start(settings, WorkerSource::none()).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        Self {
            home,
            server: ModelServer::start(script),
            monitor,
            listener,
            reported: Vec::new(),
            last: None,
            table: Vec::new(),
            created: 0,
            terminal: None,
            recorder,
            killed: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self, claude: &Claude, arguments: &[&str]) -> Rc<Terminal> {
        let shop = self.home.repository("shop").path().to_owned();
        let terminal = Rc::new(claude.open(&self.home, &self.server, &shop, arguments));
        self.terminal = Some(Rc::clone(&terminal));
        terminal
    }

    /// Waits for an event.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, is_it: impl Fn(&SessionEvent) -> bool) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
            self.take(&event);
            if is_it(&event) {
                return;
            }
        }
        let screen = self.terminal.as_ref().map(|terminal| terminal.screen()).unwrap_or_default();
        panic!("not heard within {PATIENCE:?}: {what}; but {:#?}\n{screen}", self.reported);
    }

    /// Answers a dialog by a key, then waits for a state.
    #[track_caller]
    pub(crate) fn answer(&mut self, terminal: &Terminal, dialog: &str, key: &str, expected: &str) {
        terminal.until(|screen| screen.contains(dialog));
        terminal.key_until(key, |screen| !screen.contains(dialog));
        self.until_state(expected);
    }

    /// Waits for a state, written as `state E tool (detail)`.
    #[track_caller]
    pub(crate) fn until_state(&mut self, expected: &str) {
        let words = expected.to_owned();
        self.until(expected, |event| word(event).is_some_and(|word| word == words));
    }

    fn take(&mut self, event: &Arc<SessionEvent>) {
        self.created += usize::from(event.name() == "session-created");
        if let Some(word) = word(event).filter(|word| self.last.as_ref() != Some(word)) {
            self.last = Some(word.clone());
            self.reported.push(word);
        }
    }

    /// All states since the last look: those in brackets may be too short to be seen.
    #[track_caller]
    pub(crate) fn check(&mut self, expected: &[&str]) {
        let reported = std::mem::take(&mut self.reported);
        let expected: Vec<String> = expected.iter().map(|state| (*state).to_owned()).collect();
        assert!(
            recordings::are_as_reported(&reported, &expected),
            "reported {reported:#?}, and not {expected:#?}"
        );
        self.table.extend(expected);
    }

    /// Kills the process that the registry names, as nothing could prepare for it.
    pub(crate) fn kill(&mut self) {
        self.recorder.catch_up();
        for record in transcript::live_records(&self.home.config_dir().join("sessions")) {
            let pid = record.file_stem().unwrap().to_string_lossy().into_owned();
            let status = std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            assert!(status.success());
            let file = Path::new("sessions").join(record.file_name().unwrap());
            self.killed.push(Seen { at: clock(), file, what: ChangeKind::Killed });
        }
    }

    /// The end of the play: what was recorded beside it gives the same states, by the rules alone.
    #[track_caller]
    pub(crate) fn end(self) {
        drop((self.listener, self.monitor));
        let mut seen = [self.recorder.stop(), self.killed].concat();
        seen.sort_by_key(|seen| seen.at);
        let replayed = recordings::states(&seen);
        assert!(
            recordings::are_as_reported(&replayed, &self.table),
            "live {:#?}; replayed {replayed:#?}",
            self.table
        );
    }
}

fn word(event: &SessionEvent) -> Option<String> {
    let SessionEvent::SessionActivity(event) = event else { return None };
    Some(recordings::word(&Activity {
        state: event.state,
        evidence: event.evidence,
        since: event.since,
        tool: event.tool_name.clone(),
        detail: event.detail.clone(),
        asking: None,
    }))
}
