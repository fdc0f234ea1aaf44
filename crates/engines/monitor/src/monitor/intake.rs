//! Applies observations to sessions: discovers, updates, moves, ends and forgets them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::{SOURCE, SessionEvent, SessionId, SessionInfo};
use system::FileStamp;
use transcript::{FileRole, SubagentFile, subagents_of};

use super::owner::Owner;
use crate::files::Change;
use crate::hooks::{self, HookReader};
use crate::process::ProcessState;
use crate::records::RegistryUpdate;
use crate::session::{News, RECENT, Session, born};
use crate::worker_report::WorkerReport;

/// Upper bound of the difference between file times and the clock.
const BLUR: SignedDuration = SignedDuration::from_secs(2);

impl Owner {
    pub(super) fn changed(&mut self, change: Change, now: Timestamp) {
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
        let is_new = before.is_none() && self.is_begun && self.is_made_now(path);
        if before.is_none() && self.is_begun && !is_new {
            // It was put here from elsewhere: who lists sessions may want to know.
            self.bus.send(SessionEvent::SessionsChanged { source: SOURCE });
        }
        let is_known = self.is_known(id, now);
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
        let from = match before {
            Some(before) if self.is_begun => Some(before).filter(is_longer).map_or(0, |before| before.size),
            _ => u64::MAX,
        };
        let news = if is_known && session.file.is_some() {
            session.read_on(path, now)
        } else if is_new {
            session.take_new(path, now)
        } else {
            session.take_up(path, from, written, now)
        };
        // A file that was touched, or put back, is as old as its last record.
        if !is_known && !is_new && !self.registry.holds(id) && is_cold(session, now) {
            self.sessions.remove(id);
            return;
        }
        self.publish(id, news, is_new && !is_known);
        self.watch_side_folders(id);
    }

    /// Whether a session is watched. A worker stores its report before it starts its process, so reports are applied
    /// before a session is found by other signs: its first event already has the worker's directory and task.
    fn is_known(&mut self, id: &SessionId, now: Timestamp) -> bool {
        if self.is_begun && !self.sessions.contains_key(id) {
            self.poll_workers(now);
        }
        self.sessions.contains_key(id)
    }

    /// Whether an unknown file was created since the last full check, rather than moved here.
    fn is_made_now(&self, path: &Path) -> bool {
        let is_younger = |born: Timestamp| self.looked.duration_since(born) < BLUR;
        born(path).is_none_or(is_younger)
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

    /// Handles a transcript that is gone: the session was moved, or the file removed.
    fn gone(&mut self, id: &SessionId, path: &Arc<Path>, now: Timestamp) {
        let Some(session) = self.sessions.get_mut(id) else {
            self.emit_removed(id);
            return;
        };
        if session.file.as_ref() != Some(path) {
            return;
        }
        if let Some(moved) = self.files.find(path.file_name().unwrap_or_default()) {
            let moved: Arc<Path> = moved.into();
            // So that it is known there, and not taken for a new one. Before it is read: what is added after that is
            // then seen to be new.
            self.files.look(&moved);
            let news = session.read_on(&moved, now);
            session.file = Some(Arc::clone(&moved));
            self.publish(id, news, false);
            return;
        }
        session.lose_file();
        self.source.unwatch(&path.with_extension(""));
        if session.tracker.is_alive() {
            self.touched.insert(id.clone());
        } else {
            self.emit_removed(id);
        }
    }

    fn emit_removed(&mut self, id: &SessionId) {
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

    /// Checks the sub-agents' folders of watched sessions.
    pub(super) fn look_at_agents(&mut self, now: Timestamp) {
        let ids: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for id in ids {
            self.watch_side_folders(&id);
            self.look_at_agents_of(&id, now);
        }
    }

    pub(super) fn look_at_agents_of(&mut self, id: &SessionId, now: Timestamp) {
        let Some(path) = self.sessions.get(id).and_then(|session| session.file.clone()) else { return };
        for file in subagents_of(&path) {
            if let Some(change) = self.files.look(&file.path) {
                self.changed(change, now);
            } else if !self.is_begun {
                self.agent(id, &file, now);
            }
        }
    }

    pub(super) fn apply_registry(&mut self, updates: Vec<RegistryUpdate>, now: Timestamp) {
        for (id, process) in updates {
            let is_alive = matches!(process, ProcessState::Alive(_));
            let is_known = self.is_known(&id, now);
            if !is_known && !is_alive {
                continue;
            }
            if is_known && !is_alive {
                // Read what was written before the end first.
                self.read_rest(&id, now);
            }
            let timers = self.settings.timers;
            let session = self.sessions.entry(id.clone()).or_insert_with(|| Session::new(id.clone(), timers));
            session.tracker.registry(process, now);
            if !is_known {
                self.take_up_held(&id, now);
                self.created(&id);
            }
            self.touched.insert(id.clone());
            if !is_alive {
                self.left(&id, now);
            }
        }
    }

    /// Checks Claude Code's background jobs; all sessions are looked at after a poll anyway.
    pub(super) fn look_at_jobs(&mut self, now: Timestamp) {
        self.jobs.look(&self.registry, now);
        for (id, session) in &mut self.sessions {
            session.tracker.background_job(self.jobs.get(id));
        }
    }

    pub(super) fn apply_worker_report(
        &mut self,
        id: SessionId,
        report: Option<WorkerReport>,
        now: Timestamp,
    ) {
        let holds = report.as_ref().is_some_and(WorkerReport::is_holding);
        let is_known = self.sessions.contains_key(&id);
        if !is_known && !holds {
            return;
        }
        if is_known {
            // Read what was written before the report first.
            self.read_rest(&id, now);
        }
        let timers = self.settings.timers;
        let session = self.sessions.entry(id.clone()).or_insert_with(|| Session::new(id.clone(), timers));
        session.tracker.worker_report(report, now);
        if !is_known {
            self.take_up_held(&id, now);
            self.created(&id);
        }
        self.touched.insert(id);
    }

    /// Reports that a session was left before anything else its process does.
    fn left(&mut self, id: &SessionId, now: Timestamp) {
        self.emit(now);
        let is_empty = self.sessions.get(id).is_some_and(|session| session.file.is_none());
        if is_empty && self.is_begun {
            // It was opened and left without a word: there never was a transcript.
            self.sessions.remove(id);
            self.emit_removed(id);
        }
    }

    fn read_rest(&mut self, id: &SessionId, now: Timestamp) {
        let known = self.sessions.get(id).and_then(|session| session.file.clone());
        let path = known.map(|path| path.to_path_buf());
        let path = path.or_else(|| self.files.find(OsStr::new(&format!("{id}.jsonl"))));
        if let Some(change) = path.and_then(|path| self.files.look(&path)) {
            self.changed(change, now);
            self.emit(now);
        }
    }

    /// Reads the end of a long-silent session's file because a process has opened it.
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

    pub(super) fn read_hooks(&mut self, now: Timestamp) {
        let events = self.inbox.as_mut().map(HookReader::read).unwrap_or_default();
        for hook in events {
            // The file keeps more than is of use to one who starts now.
            if now.duration_since(hook.at) > RECENT {
                continue;
            }
            let timers = self.settings.timers;
            let is_opened =
                matches!(hook.signal, hooks::HookSignal::SessionOpened | hooks::HookSignal::PromptSubmitted);
            if !self.is_known(&hook.session, now) {
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

    /// Marks the sessions that have no process, as [`Tracker::settle_absent`](crate::Tracker::settle_absent) says.
    pub(super) fn settle_absent(&mut self, now: Timestamp, quiet: SignedDuration) {
        for (id, session) in &mut self.sessions {
            session.tracker.settle_absent(self.registry.is_foreign(id), quiet, now);
        }
    }

    /// Forgets sessions that have been silent for long.
    pub(super) fn forget_silent(&mut self, now: Timestamp) {
        let is_cold = |(_, session): &(&SessionId, &Session)| is_cold(session, now);
        let cold: Vec<SessionId> = self.sessions.iter().filter(is_cold).map(|(id, _)| id.clone()).collect();
        for id in cold {
            if let Some(file) = self.sessions.remove(&id).and_then(|session| session.file) {
                self.source.unwatch(&file.with_extension(""));
                self.source.unwatch(&file.with_extension("").join("subagents"));
            }
        }
    }

    /// The watched session whose sub-agents' folder is, or contains, a path.
    pub(super) fn owner_of(&self, path: &Path) -> Option<SessionId> {
        let names = path.iter().rev().take(3).filter_map(|name| name.to_str()?.parse::<SessionId>().ok());
        names.into_iter().find(|id| self.sessions.contains_key(id))
    }

    /// Watches the folders of a session's sub-agents, which are created on first use.
    pub(super) fn watch_side_folders(&mut self, id: &SessionId) {
        let Some(file) = self.sessions.get(id).and_then(|session| session.file.clone()) else { return };
        let side = file.with_extension("");
        self.source.watch(&side);
        self.source.watch(&side.join("subagents"));
    }
}

/// Whether a session has no process and has been silent for long.
fn is_cold(session: &Session, now: Timestamp) -> bool {
    let last_active = session.tracker.last_active();
    !session.tracker.is_alive() && last_active.is_none_or(|at| now.duration_since(at) > RECENT)
}

fn is_recent(stamp: &FileStamp, now: Timestamp) -> bool {
    stamp.modified().is_some_and(|at| now.duration_since(at) <= RECENT)
}

fn modified(path: &Path) -> Option<Timestamp> {
    FileStamp::from_metadata(&fs::symlink_metadata(path).ok()?).modified()
}
