//! What OpenClaw's registries and live processes add to the facts in transcripts.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::{ReadProblem, RegisteredProcess};

use crate::describe::Describer;
use crate::registries::RegistryIndex;
use crate::types::{CatalogEntry, Discovery, Locations};

/// Facts about sessions from OpenClaw's registries and from live processes.
pub(crate) struct SessionOverlay {
    registries: RegistryIndex,
    /// The sessions that live processes hold.
    held: HashSet<SessionId>,
}

impl SessionOverlay {
    /// Reads the registries and the live processes.
    pub(crate) fn read(places: &Locations) -> Self {
        let live =
            places.config_folders.iter().flat_map(|folder| RegisteredProcess::find(&folder.live_registry()));
        Self { registries: RegistryIndex::read(places), held: live.map(|live| live.session).collect() }
    }

    /// Adds these facts to a session.
    pub(crate) fn apply(&self, session: &mut Session) {
        self.registries.apply(session);
        session.is_running |= self.held.contains(&session.id);
    }

    /// The sessions that have no transcript.
    pub(crate) fn registry_only(&self, found: &Discovery, describer: &mut Describer) -> Vec<CatalogEntry> {
        self.registries.registry_only(found, describer).into_iter().map(CatalogEntry::new).collect()
    }

    /// The registries that could not be read.
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
