//! What the registry's records say of sessions, one after the other: pure, the files are looked at elsewhere.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::{Evidence, SessionId};
use transcript::{Live, Standing};

use crate::process::{LiveProcess, ProcessState};

/// For so long a record that was taken away may come back for a moment.
const ECHO: SignedDuration = SignedDuration::from_secs(2);

/// Something to be told of a session.
pub type RegistryUpdate = (SessionId, ProcessState);

/// The records as they were seen last.
#[derive(Debug, Default)]
pub struct RegistryRecords {
    standing: HashMap<PathBuf, Standing>,
    /// Those that were taken away, and when.
    gone: HashMap<PathBuf, Timestamp>,
}

impl RegistryRecords {
    /// Whether a live process holds the session.
    pub fn holds(&self, session: &SessionId) -> bool {
        self.standing.values().any(|known| matches!(known, Standing::Alive(live) if live.session == *session))
    }

    /// Whether a record of the session stands there that says nothing of its process.
    pub fn is_foreign(&self, session: &SessionId) -> bool {
        self.standing.values().any(|known| *known == Standing::Foreign(session.clone()))
    }

    /// Takes in what stands behind a record, seen at `at`; false where it has to be looked at again.
    pub fn observe(
        &mut self,
        path: &Path,
        standing: Standing,
        at: Timestamp,
        updates: &mut Vec<RegistryUpdate>,
    ) -> bool {
        if standing == Standing::Unreadable && self.standing.contains_key(path) {
            // Caught while it is rewritten: the end of that is told, or seen at the next look.
            return false;
        }
        if self.is_echo(path, &standing, at) {
            // Looked at again at the next look.
            self.standing.insert(path.to_owned(), Standing::Unreadable);
            return true;
        }
        let before = self.standing.remove(path);
        match &standing {
            Standing::Alive(live) => {
                updates.extend(left(before.as_ref(), live, at));
                updates.push((live.session.clone(), ProcessState::Alive(LiveProcess::from_record(live, at))));
            }
            Standing::Dead(session) if !self.holds(session) => {
                updates.push((session.clone(), ProcessState::Lost { at, evidence: Evidence::Registry }));
            }
            Standing::Foreign(session) => updates.push((session.clone(), ProcessState::Unknown)),
            Standing::Dead(_) | Standing::Unreadable => {}
        }
        self.standing.insert(path.to_owned(), standing);
        true
    }

    /// Takes in that a record is not there any more.
    pub fn forget(&mut self, path: &Path, at: Timestamp, updates: &mut Vec<RegistryUpdate>) {
        let Some(Standing::Alive(live)) = self.standing.remove(path) else { return };
        self.gone.retain(|_, gone| at.duration_since(*gone) < ECHO);
        self.gone.insert(path.to_owned(), at);
        if !self.holds(&live.session) {
            updates.push((live.session, ProcessState::Ended { at, evidence: Evidence::Registry }));
        }
    }

    /// Takes in which processes are not there any more though their records are.
    pub fn mark_dead(
        &mut self,
        is_alive: impl Fn(&Live) -> bool,
        at: Timestamp,
        updates: &mut Vec<RegistryUpdate>,
    ) {
        for known in self.standing.values_mut() {
            if let Standing::Alive(live) = known
                && !is_alive(live)
            {
                let session = live.session.clone();
                updates.push((session.clone(), ProcessState::Lost { at, evidence: Evidence::Registry }));
                *known = Standing::Dead(session);
            }
        }
    }

    /// A process that ends may take its record away and then write once more what it was doing before.
    fn is_echo(&self, path: &Path, standing: &Standing, at: Timestamp) -> bool {
        let Standing::Alive(live) = standing else { return false };
        let gone = self.gone.get(path).filter(|gone| at.duration_since(**gone) < ECHO);
        gone.is_some_and(|gone| live.status_since.is_none_or(|since| since <= *gone))
    }
}

/// A process that goes over to another session has left the one before.
fn left(before: Option<&Standing>, now: &Live, at: Timestamp) -> Option<RegistryUpdate> {
    match before {
        Some(Standing::Alive(before)) if before.session != now.session => {
            Some((before.session.clone(), ProcessState::Ended { at, evidence: Evidence::Registry }))
        }
        _ => None,
    }
}
