//! The one thread that owns every session's state. Whatever can happen reaches it as an [`Input`]; what has
//! happened leaves it on one bus.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use model::{SOURCE, SessionEvent, SessionId, SessionInfo, Watching};
use transcript::{ConfigFolder, FileRole, FileStamp, SubagentFile, subagents_of};

use crate::bus::{Bus, Listener};
use crate::files::{Change, Files};
use crate::hooks::Inbox;
use crate::process::Process;
use crate::registry::{Registry, Told};
use crate::session::{News, Session};
use crate::source::Source;
use crate::{Timers, hooks};

/// A session silent for so long, that no live process holds, costs nothing but the look at its file in turn.
pub(crate) const HOT: SignedDuration = SignedDuration::from_hours(1);
/// How many silent files are looked at each time when the system tells of changes, and when it does not.
const SWEEP: usize = 300;
const SWEEP_ALONE: usize = 1500;
/// How many inputs are taken before what they brought is told.
const BATCH: usize = 4096;
/// The least time between two looks at sub-agents' folders that the system did not tell of.
const AGENTS_EVERY: u32 = 2;

/// What the monitor works with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The config folders of Claude Code.
    pub folders: Vec<ConfigFolder>,
    /// Where hooks leave their lines.
    pub hooks: Option<PathBuf>,
    /// The spans of the timers.
    pub timers: Timers,
    /// How often files, folders and processes are looked at whatever the system tells.
    pub poll: Duration,
    /// Whether to ask the system for events.
    pub events: bool,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// What reaches the thread that owns the sessions.
#[derive(Debug)]
pub(crate) enum Input {
    /// The system says that these have changed.
    Changed(Vec<PathBuf>),
    /// The system lost events: anything may have changed.
    Overflow,
    /// The system's events are broken.
    Broken(String),
    /// Somebody wants to hear what happens from now on.
    Listen(usize, Sender<(Snapshot, Listener)>),
    /// Somebody wants to know how things stand.
    Look(Sender<Snapshot>),
    /// It is enough.
    Stop,
}

/// How things stand.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The sessions that are watched closely: live ones, and those of the last hour.
    pub sessions: Vec<SessionInfo>,
    /// How the files are watched.
    pub watching: Option<Watching>,
    /// Transcripts that are known.
    pub files: usize,
    /// Records that were read while watching.
    pub records: u64,
}

/// The running monitor; it ends when dropped.
#[derive(Debug)]
pub struct Monitor {
    inputs: Sender<Input>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Starts to watch. Sessions that are there get their state from the ends of their files.
    pub fn start(settings: Settings) -> std::io::Result<Self> {
        let (inputs, receiver) = channel();
        let sender = inputs.clone();
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let mut owner = Owner::new(settings, &sender);
            drop(sender);
            owner.begin();
            owner.run(&receiver);
        })?;
        Ok(Self { inputs, thread: Some(thread) })
    }

    /// How things stand, and all that happens from then on to a listener that may be `capacity` events behind.
    /// `None` when the monitor has ended.
    pub fn listen(&self, capacity: usize) -> Option<(Snapshot, Listener)> {
        let (reply, answer) = channel();
        self.inputs.send(Input::Listen(capacity, reply)).ok()?;
        answer.recv().ok()
    }

    /// How things stand; `None` when the monitor has ended.
    pub fn look(&self) -> Option<Snapshot> {
        let (reply, answer) = channel();
        self.inputs.send(Input::Look(reply)).ok()?;
        answer.recv().ok()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.inputs.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Owner {
    settings: Settings,
    sessions: HashMap<SessionId, Session>,
    files: Files,
    registry: Registry,
    inbox: Option<Inbox>,
    source: Source,
    bus: Bus,
    dirty: BTreeSet<PathBuf>,
    touched: BTreeSet<SessionId>,
    told_watching: Option<Watching>,
    records: u64,
    polls: u32,
    is_begun: bool,
}

impl Owner {
    fn new(settings: Settings, inputs: &Sender<Input>) -> Self {
        let mut folders: Vec<ConfigFolder> = Vec::new();
        for folder in &settings.folders {
            // The physical path, as the system names it in its events; and each folder once.
            let root = fs::canonicalize(folder.root()).unwrap_or_else(|_| folder.root().to_owned());
            let folder = ConfigFolder::new(root);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self {
            registry: Registry::new(folders.iter().map(ConfigFolder::live_registry).collect()),
            inbox: settings.hooks.clone().map(Inbox::new),
            source: Source::new(inputs, settings.events),
            files: Files::new(folders),
            settings,
            sessions: HashMap::new(),
            bus: Bus::default(),
            dirty: BTreeSet::new(),
            touched: BTreeSet::new(),
            told_watching: None,
            records: 0,
            polls: 0,
            is_begun: false,
        }
    }

    fn now(&self) -> Timestamp {
        (self.settings.clock)()
    }

    /// Takes up what is there. Folders are watched before they are listed, so that nothing falls in between.
    fn begin(&mut self) {
        let now = self.now();
        self.watch_folders();
        let mut changes = self.files.list(now);
        self.watch_folders();
        changes.extend(self.files.list(now));
        for change in changes {
            self.changed(change, now);
        }
        let told = self.registry.look(now);
        self.hear(told, now);
        self.look_at_agents(now);
        self.read_hooks(now);
        self.settle_absent(now);
        for session in self.sessions.values_mut() {
            session.tracker.forget_news(now);
        }
        self.touched.clear();
        self.tell_watching();
        self.is_begun = true;
    }

    fn run(&mut self, inputs: &Receiver<Input>) {
        let mut polled = Instant::now();
        loop {
            let wait = self.patience(polled);
            match inputs.recv_timeout(wait) {
                Ok(first) => {
                    let more = std::iter::from_fn(|| inputs.try_recv().ok()).take(BATCH);
                    for input in std::iter::once(first).chain(more) {
                        if !self.take(input) {
                            return;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = self.now();
            self.look_at_dirty(now);
            if polled.elapsed() >= self.settings.poll {
                polled = Instant::now();
                self.poll(now);
            }
            self.tell(now);
        }
    }

    /// How long nothing will happen by itself.
    fn patience(&self, polled: Instant) -> Duration {
        let until_poll = self.settings.poll.saturating_sub(polled.elapsed());
        let now = self.now();
        let next = self.sessions.values().filter_map(|session| session.tracker.next_deadline(now)).min();
        let until_next = next.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
        // A deadline is reached a moment after its time, not before.
        let until_next = until_next.map(|wait| wait + Duration::from_millis(1));
        until_next.map_or(until_poll, |wait| wait.min(until_poll))
    }

    /// False when it is enough.
    fn take(&mut self, input: Input) -> bool {
        match input {
            Input::Changed(paths) => self.dirty.extend(paths),
            Input::Overflow => self.catch_up(),
            Input::Broken(why) => {
                self.source.broke(why);
                self.catch_up();
            }
            Input::Listen(capacity, reply) => {
                let listener = self.bus.listen(capacity);
                // Whoever asked may be gone.
                let _ = reply.send((self.snapshot(), listener));
            }
            Input::Look(reply) => {
                let _ = reply.send(self.snapshot());
            }
            Input::Stop => return false,
        }
        true
    }

    fn snapshot(&self) -> Snapshot {
        let now = self.now();
        Snapshot {
            sessions: self.sessions.values().map(|session| session.tracker.info(now)).collect(),
            watching: self.told_watching.clone(),
            files: self.files.len(),
            records: self.records,
        }
    }

    /// Events were lost: every file is looked at.
    fn catch_up(&mut self) {
        let now = self.now();
        let changes = [self.files.list(now), self.files.sweep(self.files.len())].concat();
        for change in changes {
            self.changed(change, now);
        }
        self.poll(now);
    }

    fn look_at_dirty(&mut self, now: Timestamp) {
        for path in std::mem::take(&mut self.dirty) {
            self.look_at(&path, now);
        }
    }

    fn look_at(&mut self, path: &Path, now: Timestamp) {
        if self.registry.folders().iter().any(|folder| path.parent() == Some(folder)) {
            let told = self.registry.look_at(path, now);
            self.hear(told, now);
        } else if self.inbox.as_ref().is_some_and(|inbox| path.starts_with(inbox.folder())) {
            self.read_hooks(now);
        } else if self.registry.folders().iter().any(|folder| path == folder) || self.files.is_root(path) {
            // The first session ever on this machine makes them.
            self.source.watch(path);
            let told = self.registry.look(now);
            self.hear(told, now);
            let changes = self.files.list(now);
            for change in changes {
                self.changed(change, now);
            }
            self.watch_folders();
        } else if self.files.is_project(path) {
            // Watched before it is listed, so that nothing falls in between.
            self.source.watch(path);
            let changes = self.files.list_one(path, now);
            for change in changes {
                self.changed(change, now);
            }
        } else if let Some(change) = self.files.look(path) {
            self.changed(change, now);
        } else if let Some(id) = self.owner_of(path) {
            self.watch_side_folders(&id);
            self.look_at_agents_of(&id, now);
        } else {
            self.watch_folders();
        }
    }

    /// The watched session whose side folder a path is, or lies in.
    fn owner_of(&self, path: &Path) -> Option<SessionId> {
        let names = path.iter().rev().take(3).filter_map(|name| name.to_str()?.parse::<SessionId>().ok());
        names.into_iter().find(|id| self.sessions.contains_key(id))
    }

    /// Everything that is looked at whether the system tells of it or not.
    fn poll(&mut self, now: Timestamp) {
        self.polls = self.polls.wrapping_add(1);
        self.cool(now);
        self.watch_folders();
        let mut changes = self.files.list(now);
        let hot: Vec<Arc<Path>> = self.sessions.values().filter_map(|session| session.file.clone()).collect();
        changes.extend(hot.iter().filter_map(|path| self.files.look(path)));
        let sweep = if self.source.works() { SWEEP } else { SWEEP_ALONE };
        changes.extend(self.files.sweep(sweep));
        for change in changes {
            self.changed(change, now);
        }
        let told = self.registry.look(now);
        self.hear(told, now);
        if self.polls.is_multiple_of(AGENTS_EVERY) || !self.source.works() {
            self.look_at_agents(now);
            self.source.prune();
        }
        self.read_hooks(now);
        self.touched.extend(self.sessions.keys().cloned());
        self.tell_watching();
    }

    fn changed(&mut self, change: Change, now: Timestamp) {
        match change {
            Change::Changed { path, role: FileRole::Session(id), before, now: stamp } => {
                self.transcript(&id, &path, before, stamp, now);
            }
            Change::Changed { path, role: FileRole::Subagent { session, agent }, now: stamp, .. } => {
                self.agent(&session, &SubagentFile { id: agent, path: path.to_path_buf(), stamp }, now);
            }
            Change::Changed { path, role: FileRole::FlatSubagent { agent }, now: stamp, .. } => {
                let file = SubagentFile { id: agent, path: path.to_path_buf(), stamp };
                if is_recent(&stamp, now)
                    && let Some(session) = file.session()
                {
                    self.agent(&session, &file, now);
                }
            }
            Change::Gone { path, role: FileRole::Session(id) } => self.gone(&id, &path, now),
            Change::Gone { .. } => {}
        }
    }

    fn transcript(
        &mut self,
        id: &SessionId,
        path: &Arc<Path>,
        before: Option<FileStamp>,
        stamp: FileStamp,
        now: Timestamp,
    ) {
        let is_new = before.is_none() && self.is_begun;
        let is_known = self.sessions.contains_key(id);
        if !is_known && !is_new && !is_recent(&stamp, now) && !self.registry.holds(id) {
            return;
        }
        let timers = self.settings.timers;
        let session = self.sessions.entry(id.clone()).or_insert_with(|| Session::new(id.clone(), timers));
        // The same session in two folders: the file that was written to last is the session's.
        if let Some(other) = session.file.clone().filter(|other| other != path)
            && modified(&other) > stamp.modified()
        {
            return;
        }
        let written = stamp.modified().unwrap_or(now).min(now);
        // What stood there before is history, unless it was replaced while nobody looked.
        let is_longer = |before: &FileStamp| before.ino == stamp.ino && before.size <= stamp.size;
        let from =
            if self.is_begun { before.filter(is_longer).map_or(0, |before| before.size) } else { u64::MAX };
        let news = if is_known && session.file.is_some() || is_new {
            session.read_on(path, now)
        } else {
            session.take_up(path, from, written, now)
        };
        self.publish(id, news, is_new && !is_known);
        self.watch_side_folders(id);
    }

    fn publish(&mut self, id: &SessionId, news: News, is_new: bool) {
        if is_new {
            self.created(id);
        }
        self.records += news.records;
        for event in news.events {
            self.bus.send(event);
        }
        self.touched.insert(id.clone());
    }

    fn created(&mut self, id: &SessionId) {
        if !self.is_begun {
            return;
        }
        let now = self.now();
        if let Some(session) = self.sessions.get(id) {
            self.bus.send(SessionEvent::SessionCreated(Box::new(session.tracker.info(now))));
            self.bus.send(SessionEvent::SessionsChanged { source: SOURCE });
        }
    }

    /// A transcript is not where it was: it moved with its session, or it is gone for good.
    fn gone(&mut self, id: &SessionId, path: &Arc<Path>, now: Timestamp) {
        let Some(session) = self.sessions.get_mut(id) else {
            self.tell_removed(id);
            return;
        };
        if session.file.as_ref() != Some(path) {
            return;
        }
        if let Some(moved) = self.files.find(path.file_name().unwrap_or_default()) {
            let moved: Arc<Path> = moved.into();
            let news = session.read_on(&moved, now);
            session.file = Some(Arc::clone(&moved));
            // So that it is known there, and not taken for a new one.
            self.files.look(&moved);
            self.publish(id, news, false);
            return;
        }
        session.lose_file();
        self.source.unwatch(&path.with_extension(""));
        if session.tracker.is_alive() {
            self.touched.insert(id.clone());
        } else {
            self.tell_removed(id);
        }
    }

    fn tell_removed(&mut self, id: &SessionId) {
        let (key, session_id) = (SessionInfo::key(id), id.clone());
        self.bus.send(SessionEvent::SessionRemoved { key, session_id });
        self.bus.send(SessionEvent::SessionsChanged { source: SOURCE });
    }

    fn agent(&mut self, session: &SessionId, file: &SubagentFile, now: Timestamp) {
        if !is_recent(&file.stamp, now) {
            return;
        }
        let Some(watched) = self.sessions.get_mut(session) else { return };
        self.records += watched.read_agent(file, now);
        self.touched.insert(session.clone());
    }

    /// Looks into the side folders of the sessions that are watched.
    fn look_at_agents(&mut self, now: Timestamp) {
        let ids: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for id in ids {
            self.watch_side_folders(&id);
            self.look_at_agents_of(&id, now);
        }
    }

    fn look_at_agents_of(&mut self, id: &SessionId, now: Timestamp) {
        let Some(path) = self.sessions.get(id).and_then(|session| session.file.clone()) else { return };
        for file in subagents_of(&path) {
            if let Some(change) = self.files.look(&file.path) {
                self.changed(change, now);
            } else if !self.is_begun {
                self.agent(id, &file, now);
            }
        }
    }

    fn hear(&mut self, told: Vec<Told>, now: Timestamp) {
        for (id, process) in told {
            let is_alive = matches!(process, Process::Alive(_));
            let is_known = self.sessions.contains_key(&id);
            if !is_known && !is_alive {
                continue;
            }
            if is_known && !is_alive {
                // What was written before the end is read before it.
                self.read_rest(&id, now);
            }
            let timers = self.settings.timers;
            let session = self.sessions.entry(id.clone()).or_insert_with(|| Session::new(id.clone(), timers));
            session.tracker.registry(process, now);
            if !is_known {
                self.take_up_held(&id, now);
                self.created(&id);
            }
            let is_empty = self.sessions.get(&id).is_some_and(|session| session.file.is_none());
            if !is_alive && is_empty && self.is_begun {
                // It was opened and left without a word: there never was a transcript.
                self.tell(now);
                self.sessions.remove(&id);
                self.tell_removed(&id);
            }
            self.touched.insert(id);
        }
    }

    fn read_rest(&mut self, id: &SessionId, now: Timestamp) {
        let known = self.sessions.get(id).and_then(|session| session.file.clone());
        let path = known.map(|path| path.to_path_buf());
        let path = path.or_else(|| self.files.find(OsStr::new(&format!("{id}.jsonl"))));
        if let Some(change) = path.and_then(|path| self.files.look(&path)) {
            self.changed(change, now);
            self.tell(now);
        }
    }

    /// A process holds a session that has been silent for long: its state is in the end of its file.
    fn take_up_held(&mut self, id: &SessionId, now: Timestamp) {
        let Some(path) = self.files.find(OsStr::new(&format!("{id}.jsonl"))) else { return };
        let written = modified(&path).unwrap_or(now).min(now);
        self.files.look(&path);
        if let Some(session) = self.sessions.get_mut(id) {
            let news = session.take_up(&path.into(), u64::MAX, written, now);
            self.publish(id, news, false);
        }
        self.watch_side_folders(id);
    }

    fn read_hooks(&mut self, now: Timestamp) {
        let told = self.inbox.as_mut().map(Inbox::read).unwrap_or_default();
        for hook in told {
            // The file keeps more than is of use to one who starts now.
            if now.duration_since(hook.at) > HOT {
                continue;
            }
            let timers = self.settings.timers;
            let is_opened = matches!(hook.told, hooks::Told::Started | hooks::Told::Prompt);
            if !self.sessions.contains_key(&hook.session) {
                if !is_opened || !self.is_begun {
                    continue;
                }
                self.sessions.insert(hook.session.clone(), Session::new(hook.session.clone(), timers));
                self.take_up_held(&hook.session, now);
                self.created(&hook.session);
            }
            if let Some(session) = self.sessions.get_mut(&hook.session) {
                session.tracker.hook(&hook);
                self.touched.insert(hook.session);
            }
        }
    }

    /// Of releases that register themselves, a session without a record has no process.
    fn settle_absent(&mut self, now: Timestamp) {
        for (id, session) in &mut self.sessions {
            let may_live = session.tracker.knows_process() || self.registry.is_foreign(id);
            if session.tracker.registers() && !may_live {
                session.tracker.registry(Process::Absent, now);
            }
        }
    }

    /// Forgets those that have been silent for long.
    fn cool(&mut self, now: Timestamp) {
        let is_cold = |session: &Session| {
            !session.tracker.is_alive()
                && session.tracker.heard().is_none_or(|heard| now.duration_since(heard) > HOT)
        };
        let cold: Vec<SessionId> =
            self.sessions.iter().filter(|(_, session)| is_cold(session)).map(|(id, _)| id.clone()).collect();
        for id in cold {
            if let Some(file) = self.sessions.remove(&id).and_then(|session| session.file) {
                self.source.unwatch(&file.with_extension(""));
                self.source.unwatch(&file.with_extension("").join("subagents"));
            }
        }
    }

    fn watch_folders(&mut self) {
        let registries = self.registry.folders().iter().cloned();
        let inbox = self.inbox.iter().map(|inbox| inbox.folder().to_owned());
        let folders: Vec<PathBuf> = registries.chain(inbox).chain(self.files.folders()).collect();
        for folder in folders {
            if !self.source.watch(&folder) && !self.source.watches(&folder) {
                // It is not there yet: who makes it does so in the folder above.
                if let Some(above) = folder.parent() {
                    self.source.watch(above);
                }
            }
        }
    }

    /// Sub-agents' files lie below a folder of their session's own, which is there once there is one.
    fn watch_side_folders(&mut self, id: &SessionId) {
        let Some(file) = self.sessions.get(id).and_then(|session| session.file.clone()) else { return };
        let side = file.with_extension("");
        self.source.watch(&side);
        self.source.watch(&side.join("subagents"));
    }

    /// Tells what has happened to the sessions that something happened to, and to those whose time has come.
    fn tell(&mut self, now: Timestamp) {
        let touched = std::mem::take(&mut self.touched);
        for (id, session) in &mut self.sessions {
            if touched.contains(id) || session.tracker.is_due(now) {
                for event in session.tracker.tick(now) {
                    self.bus.send(event);
                }
            }
        }
    }

    fn tell_watching(&mut self) {
        let watching = Watching { events: self.source.works(), reason: self.source.trouble() };
        if self.told_watching.as_ref() != Some(&watching) {
            self.told_watching = Some(watching.clone());
            self.bus.send(SessionEvent::Watching(watching));
        }
    }
}

fn is_recent(stamp: &FileStamp, now: Timestamp) -> bool {
    stamp.modified().is_some_and(|at| now.duration_since(at) <= HOT)
}

fn modified(path: &Path) -> Option<Timestamp> {
    FileStamp::of(&fs::symlink_metadata(path).ok()?).modified()
}
