//! Decides what to check and when: reported changes immediately, everything else in rotation.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use model::{SessionEvent, SessionId, WatchStatus};
use transcript::ConfigFolder;

use super::MonitorSettings;
use crate::bus::Bus;
use crate::files::{Change, Files};
use crate::hooks::HookReader;
use crate::input::Input;
use crate::jobs::Jobs;
use crate::registry::Registry;
use crate::session::Session;
use crate::source::Source;
use crate::{MonitorSnapshot, WorkerSource, WorkerUpdates};

/// Number of silent files checked per poll if the system reports changes, and if it does not.
const SWEEP: usize = 300;
const SWEEP_ALONE: usize = 1500;
/// Maximum number of inputs handled before events are sent.
const BATCH: usize = 4096;
/// The system should have reported a change that is older than this.
const EXPECTED_WITHIN: SignedDuration = SignedDuration::from_secs(2);
/// Number of polls between unprompted checks of sub-agents' folders.
const AGENTS_EVERY: u32 = 2;

/// The state of the thread.
pub(super) struct Owner {
    pub(super) settings: MonitorSettings,
    pub(super) sessions: HashMap<SessionId, Session>,
    pub(super) files: Files,
    pub(super) registry: Registry,
    pub(super) jobs: Jobs,
    pub(super) inbox: Option<HookReader>,
    pub(super) source: Source,
    pub(super) bus: Bus,
    /// Taken while it is polled, because a report may create a session, which polls it.
    workers: Option<WorkerSource>,
    workers_due: Instant,
    pub(super) dirty: BTreeSet<PathBuf>,
    pub(super) touched: BTreeSet<SessionId>,
    pub(super) reported_watching: Option<WatchStatus>,
    pub(super) records: u64,
    pub(super) polls: u32,
    /// Whether events were lost and a full check is pending.
    pub(super) has_lost: bool,
    pub(super) is_begun: bool,
    /// Time of the last full check.
    pub(super) looked: Timestamp,
}

impl Owner {
    pub(super) fn new(settings: MonitorSettings, workers: WorkerSource, inputs: &Sender<Input>) -> Self {
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
            jobs: Jobs::new(folders.clone()),
            inbox: settings.hooks.clone().map(HookReader::new),
            source: Source::new(inputs, settings.events),
            files: Files::new(folders),
            settings,
            sessions: HashMap::new(),
            bus: Bus::default(),
            workers: Some(workers),
            workers_due: Instant::now(),
            dirty: BTreeSet::new(),
            touched: BTreeSet::new(),
            reported_watching: None,
            records: 0,
            polls: 0,
            has_lost: false,
            is_begun: false,
            looked: Timestamp::MAX,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.settings.clock)()
    }

    /// Reads the initial state. Folders are watched before they are listed, so that no change is missed.
    pub(super) fn begin(&mut self) {
        let now = self.now();
        self.watch_folders();
        let mut changes = self.files.list(now);
        self.watch_folders();
        changes.extend(self.files.list(now));
        for change in changes {
            self.changed(change, now);
        }
        let updates = self.registry.look(now);
        self.apply_registry(updates, now);
        self.poll_workers(now);
        self.look_at_agents(now);
        self.look_at_jobs(now);
        self.read_hooks(now);
        let quiet = self.registry.quiet_before_absence(self.settings.timers);
        self.settle_absent(now, quiet);
        for session in self.sessions.values_mut() {
            session.tracker.discard_events(now);
        }
        self.touched.clear();
        self.emit_watching();
        self.looked = now;
        self.is_begun = true;
    }

    pub(super) fn run(&mut self, inputs: &Receiver<Input>) {
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
            if self.workers_due <= Instant::now() {
                self.poll_workers(now);
            }
            self.look_at_dirty(now);
            if std::mem::take(&mut self.has_lost) {
                self.catch_up(now);
            }
            if polled.elapsed() >= self.settings.poll {
                polled = Instant::now();
                self.poll(now);
            }
            self.emit(now);
        }
    }

    /// How long nothing will happen without input.
    fn patience(&self, polled: Instant) -> Duration {
        let until_poll = self.settings.poll.saturating_sub(polled.elapsed());
        let until_poll = until_poll.min(self.workers_due.saturating_duration_since(Instant::now()));
        let now = self.now();
        let next = self.sessions.values().filter_map(|session| session.tracker.next_deadline(now)).min();
        let until_next = next.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
        // A deadline is reached a moment after its time, not before.
        let until_next = until_next.map(|wait| wait + Duration::from_millis(1));
        until_next.map_or(until_poll, |wait| wait.min(until_poll))
    }

    /// Handles an input; returns false to end the thread.
    fn take(&mut self, input: Input) -> bool {
        match input {
            Input::Changed(paths) => self.dirty.extend(paths),
            Input::Left(paths) => {
                // Were it a folder, what comes in its place is another one.
                for path in &paths {
                    self.source.unwatch(path);
                }
                self.dirty.extend(paths);
            }
            Input::Overflow => {
                self.source.lost();
                self.has_lost = true;
            }
            Input::Broken(why) => {
                self.source.broke(why);
                self.has_lost = true;
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

    fn snapshot(&self) -> MonitorSnapshot {
        let now = self.now();
        MonitorSnapshot {
            sessions: self.sessions.values().map(|session| session.tracker.info(now)).collect(),
            watching: self.reported_watching.clone(),
            files: self.files.len(),
            records: self.records,
        }
    }

    /// Checks every file after events were lost.
    fn catch_up(&mut self, now: Timestamp) {
        let changes = [self.files.list(now), self.files.sweep(self.files.len())].concat();
        for change in changes {
            self.changed(change, now);
        }
        self.poll(now);
        self.look_at_agents(now);
    }

    /// Applies what workers reported since the last poll.
    pub(super) fn poll_workers(&mut self, now: Timestamp) {
        let Some(mut workers) = self.workers.take() else { return };
        let WorkerUpdates { reports, announcements, next_poll } = workers.poll();
        self.workers = Some(workers);
        let next = Instant::now().checked_add(next_poll);
        self.workers_due = next.unwrap_or_else(|| Instant::now() + self.settings.poll);
        for (session, report) in reports {
            self.apply_worker_report(session, report, now);
        }
        for announcement in announcements {
            self.bus.send(SessionEvent::Announcement(announcement));
        }
    }

    fn look_at_dirty(&mut self, now: Timestamp) {
        for path in std::mem::take(&mut self.dirty) {
            self.look_at(&path, now);
        }
    }

    fn look_at(&mut self, path: &Path, now: Timestamp) {
        if self.registry.folders().iter().any(|folder| path.parent() == Some(folder)) {
            let updates = self.registry.look_at(path, now);
            self.apply_registry(updates, now);
        } else if self.inbox.as_ref().is_some_and(|inbox| path.starts_with(inbox.folder())) {
            self.read_hooks(now);
        } else if self.registry.folders().iter().any(|folder| path == folder) || self.files.is_root(path) {
            // The first session ever on this machine makes them.
            self.source.watch(path);
            let updates = self.registry.look(now);
            self.apply_registry(updates, now);
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

    /// Checks everything that is checked regardless of system events.
    fn poll(&mut self, now: Timestamp) {
        self.polls = self.polls.wrapping_add(1);
        self.forget_silent(now);
        self.watch_folders();
        let mut changes = self.files.list(now);
        let hot: Vec<Arc<Path>> = self.sessions.values().filter_map(|session| session.file.clone()).collect();
        changes.extend(hot.iter().filter_map(|path| self.files.look(path)));
        let tells_all = self.source.works() && self.source.trouble().is_none();
        changes.extend(self.files.sweep(if tells_all { SWEEP } else { SWEEP_ALONE }));
        self.source.looked();
        if changes.iter().any(|change| self.is_unreported(change, now)) {
            self.source.lost();
        }
        for change in changes {
            self.changed(change, now);
        }
        let updates = self.registry.look(now);
        self.apply_registry(updates, now);
        self.look_at_jobs(now);
        self.settle_absent(now, self.settings.timers.unregistered);
        if self.polls.is_multiple_of(AGENTS_EVERY) || !self.source.works() {
            self.look_at_agents(now);
            self.source.prune();
        }
        self.read_hooks(now);
        self.touched.extend(self.sessions.keys().cloned());
        self.emit_watching();
        self.looked = now;
    }

    /// Whether the system failed to report a change found by checking.
    fn is_unreported(&self, change: &Change, now: Timestamp) -> bool {
        let Change::Changed { path, before: Some(_), now: stamp, .. } = change else { return false };
        let is_old = stamp.modified().is_some_and(|at| now.duration_since(at) >= EXPECTED_WITHIN);
        is_old && path.parent().is_some_and(|folder| self.source.watches(folder))
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

    /// Sends events of sessions that were touched or whose deadline has passed.
    pub(super) fn emit(&mut self, now: Timestamp) {
        let touched = std::mem::take(&mut self.touched);
        for (id, session) in &mut self.sessions {
            if touched.contains(id) || session.tracker.is_due(now) {
                for event in session.tracker.tick(now) {
                    self.bus.send(event);
                }
            }
        }
    }

    fn emit_watching(&mut self) {
        let watching = WatchStatus { events: self.source.works(), reason: self.source.trouble() };
        if self.reported_watching.as_ref() != Some(&watching) {
            self.reported_watching = Some(watching.clone());
            self.bus.send(SessionEvent::Watching(watching));
        }
    }
}
