//! What OpenClaw's registries, live processes and the person's annotations add to the facts in transcripts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use model::{Session, SessionId};
use transcript::{ReadProblem, RegisteredProcess};

use crate::annotations::AnnotationIndex;
use crate::describe::Describer;
use crate::registries::RegistryIndex;
use crate::types::{CatalogEntry, Discovery, Locations};

/// Facts about sessions from OpenClaw's registries, from live processes and from the person.
pub(crate) struct SessionOverlay {
    registries: RegistryIndex,
    /// The sessions that live processes hold.
    held: HashSet<SessionId>,
    annotations: AnnotationIndex,
    /// Directories whose sessions count as hidden.
    left_out: Vec<PathBuf>,
    problems: Vec<ReadProblem>,
}

impl SessionOverlay {
    /// Reads the registries, the live processes and the annotations.
    pub(crate) fn read(places: &Locations) -> Self {
        let live =
            places.config_folders.iter().flat_map(|folder| RegisteredProcess::find(&folder.live_registry()));
        let held = live.map(|live| live.session).collect();
        let mut registries = RegistryIndex::read(places);
        let mut problems = std::mem::take(&mut registries.problems);
        let annotations = places.annotations.as_deref().map_or_else(AnnotationIndex::default, |path| {
            AnnotationIndex::read(path).unwrap_or_else(|error| {
                problems.push(ReadProblem {
                    path: path.to_owned(),
                    what: system::error_chain(&error),
                    is_unreadable: false,
                });
                AnnotationIndex::default()
            })
        });
        Self { registries, held, annotations, left_out: places.left_out.clone(), problems }
    }

    /// Adds these facts to a session.
    pub(crate) fn apply(&self, session: &mut Session) {
        self.registries.apply(session);
        session.is_running |= self.held.contains(&session.id);
        self.annotations.apply(session);
        let is_left_out = |cwd: &Path| self.left_out.iter().any(|folder| cwd.starts_with(folder));
        if session.cwd.as_deref().is_some_and(is_left_out) {
            session.annotations.get_or_insert_default().hidden = true;
        }
    }

    /// The sessions that have no transcript.
    pub(crate) fn registry_only(&self, found: &Discovery, describer: &mut Describer) -> Vec<CatalogEntry> {
        self.registries.registry_only(found, describer).into_iter().map(CatalogEntry::new).collect()
    }

    /// The files that could not be read.
    pub(crate) fn into_problems(self) -> Vec<ReadProblem> {
        self.problems
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
            annotations: AnnotationIndex::default(),
            left_out: Vec::new(),
            problems: Vec::new(),
        };
        let is_running = ["s", "t"].map(|id| {
            let mut session = Session::new(id.parse().unwrap());
            overlay.apply(&mut session);
            session.is_running
        });
        assert_eq!(is_running, [true, false]);
    }
}
