//! What others than its own transcript know of a session: OpenClaw's registries, and live processes.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::{LiveProcess, ReadProblem};

use crate::describe::Describer;
use crate::registries::RegistryIndex;
use crate::types::{CatalogEntry, Discovery, Locations};

/// What others know of all sessions.
pub(crate) struct SessionOverlay {
    registries: RegistryIndex,
    /// The sessions that live processes hold.
    held: HashSet<SessionId>,
}

impl SessionOverlay {
    /// Reads what they know.
    pub(crate) fn read(places: &Locations) -> Self {
        let live = places.config_folders.iter().flat_map(|folder| LiveProcess::find(&folder.live_registry()));
        Self { registries: RegistryIndex::read(places), held: live.map(|live| live.session).collect() }
    }

    /// Lays it over one of the sessions.
    pub(crate) fn apply(&self, session: &mut Session) {
        self.registries.apply(session);
        session.is_running |= self.held.contains(&session.id);
    }

    /// The sessions of which there is no transcript.
    pub(crate) fn registry_only(&self, found: &Discovery, describer: &mut Describer) -> Vec<CatalogEntry> {
        self.registries.registry_only(found, describer).into_iter().map(CatalogEntry::new).collect()
    }

    /// What could not be read.
    pub(crate) fn into_problems(self) -> Vec<ReadProblem> {
        self.registries.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_process_holds_one_session() {
        let overlay = SessionOverlay {
            registries: RegistryIndex::default(),
            held: HashSet::from(["s".parse().unwrap()]),
        };
        let is_running = ["s", "t"].map(|id| {
            let mut session = Session::blank(id.parse().unwrap());
            overlay.apply(&mut session);
            session.is_running
        });
        assert_eq!(is_running, [true, false]);
    }
}
