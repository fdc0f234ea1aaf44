//! Derives the state of processes from successive registry records. Pure: `registry` reads the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::{Evidence, SessionId};
use transcript::{RegisteredProcess, RegistryStatus};

use crate::process::{LiveProcess, ProcessState};

/// A removed record may reappear within this time.
const ECHO: SignedDuration = SignedDuration::from_secs(2);

/// New information about a session's process.
pub type RegistryUpdate = (SessionId, ProcessState);

/// The records as last seen.
#[derive(Debug, Default)]
pub struct RegistryRecords {
    standing: HashMap<PathBuf, RegistryStatus>,
    /// Removed records, and when they were removed.
    gone: HashMap<PathBuf, Timestamp>,
}

impl RegistryRecords {
    /// Whether a live process has the session open.
    pub fn holds(&self, session: &SessionId) -> bool {
        self.standing
            .values()
            .any(|known| matches!(known, RegistryStatus::Alive(live) if live.session == *session))
    }

    /// Whether a record of the session exists that says nothing about its process.
    pub fn is_foreign(&self, session: &SessionId) -> bool {
        self.standing.values().any(|known| *known == RegistryStatus::Foreign(session.clone()))
    }

    /// The live process that runs a background job.
    pub fn of_job(&self, job: &str) -> Option<&RegisteredProcess> {
        self.standing.values().find_map(|known| match known {
            RegistryStatus::Alive(live) if live.job.as_deref() == Some(job) => Some(live),
            _ => None,
        })
    }

    /// Processes the status of a record, seen at `at`; returns false if it has to be read again.
    pub fn observe(
        &mut self,
        path: &Path,
        standing: RegistryStatus,
        at: Timestamp,
        updates: &mut Vec<RegistryUpdate>,
    ) -> bool {
        if standing == RegistryStatus::Unreadable && self.standing.contains_key(path) {
            // The record is being rewritten; the end of that is reported, or seen at the next check.
            return false;
        }
        if self.is_echo(path, &standing, at) {
            // Checked again next time.
            self.standing.insert(path.to_owned(), RegistryStatus::Unreadable);
            return true;
        }
        let before = self.standing.remove(path);
        match &standing {
            RegistryStatus::Alive(live) => {
                updates.extend(left(before.as_ref(), live, at));
                updates.push((live.session.clone(), ProcessState::Alive(LiveProcess::from_record(live, at))));
            }
            RegistryStatus::Dead(session) if !self.holds(session) => {
                updates.push((session.clone(), ProcessState::Lost { at, evidence: Evidence::Registry }));
            }
            RegistryStatus::Foreign(session) => updates.push((session.clone(), ProcessState::Unknown)),
            RegistryStatus::Dead(_) | RegistryStatus::Unreadable => {}
        }
        self.standing.insert(path.to_owned(), standing);
        true
    }

    /// Processes the removal of a record.
    pub fn forget(&mut self, path: &Path, at: Timestamp, updates: &mut Vec<RegistryUpdate>) {
        let Some(RegistryStatus::Alive(live)) = self.standing.remove(path) else { return };
        self.gone.retain(|_, gone| at.duration_since(*gone) < ECHO);
        self.gone.insert(path.to_owned(), at);
        if !self.holds(&live.session) {
            updates.push((live.session, ProcessState::Ended { at, evidence: Evidence::Registry }));
        }
    }

    /// Marks processes that have ended although their records still exist.
    pub fn mark_dead(
        &mut self,
        is_alive: impl Fn(&RegisteredProcess) -> bool,
        at: Timestamp,
        updates: &mut Vec<RegistryUpdate>,
    ) {
        for known in self.standing.values_mut() {
            if let RegistryStatus::Alive(live) = known
                && !is_alive(live)
            {
                let session = live.session.clone();
                updates.push((session.clone(), ProcessState::Lost { at, evidence: Evidence::Registry }));
                *known = RegistryStatus::Dead(session);
            }
        }
    }

    /// Whether a record is the last write of a process that has already removed it.
    fn is_echo(&self, path: &Path, standing: &RegistryStatus, at: Timestamp) -> bool {
        let RegistryStatus::Alive(live) = standing else { return false };
        let gone = self.gone.get(path).filter(|gone| at.duration_since(**gone) < ECHO);
        gone.is_some_and(|gone| live.status_since.is_none_or(|since| since <= *gone))
    }
}

/// The update for a session that a process left for another one.
fn left(before: Option<&RegistryStatus>, now: &RegisteredProcess, at: Timestamp) -> Option<RegistryUpdate> {
    match before {
        Some(RegistryStatus::Alive(before)) if before.session != now.session => {
            Some((before.session.clone(), ProcessState::Ended { at, evidence: Evidence::Registry }))
        }
        _ => None,
    }
}
