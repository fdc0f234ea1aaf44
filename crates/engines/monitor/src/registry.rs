//! Claude Code's registry of live processes, kept up by looking at its files; what they say is for `records`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use transcript::{FileStamp, Live, live_records};

use crate::records::{Records, Told};

/// The registry folders, as they were when they were last looked at.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    folders: Vec<PathBuf>,
    stamps: HashMap<PathBuf, FileStamp>,
    records: Records,
}

impl Registry {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// The folders that are to be watched.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether there is a registry at all.
    pub(crate) fn is_there(&self) -> bool {
        self.folders.iter().any(|folder| folder.is_dir())
    }

    /// Whether a live process holds the session.
    pub(crate) fn holds(&self, session: &SessionId) -> bool {
        self.records.holds(session)
    }

    /// Whether a record of the session stands there that says nothing of its process.
    pub(crate) fn is_foreign(&self, session: &SessionId) -> bool {
        self.records.is_foreign(session)
    }

    /// Looks at every record whose stamp has changed, and at every process.
    pub(crate) fn look(&mut self, at: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        let paths: Vec<PathBuf> = self.folders.iter().flat_map(|folder| live_records(folder)).collect();
        let gone: Vec<PathBuf> = self.stamps.keys().filter(|path| !paths.contains(path)).cloned().collect();
        for path in gone {
            self.forget(&path, at, &mut told);
        }
        for path in paths {
            let changed = |known: &FileStamp| {
                fs::symlink_metadata(&path).is_ok_and(|now| FileStamp::of(&now) != *known)
            };
            if self.stamps.get(&path).is_none_or(changed) {
                self.look_again(&path, at, &mut told);
            }
        }
        self.records.bury(Live::is_alive, at, &mut told);
        told
    }

    /// Looks at one record that the system says has changed.
    pub(crate) fn look_at(&mut self, path: &Path, at: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        if path.extension().is_some_and(|extension| extension == "json") {
            self.look_again(path, at, &mut told);
        }
        told
    }

    fn look_again(&mut self, path: &Path, at: Timestamp, told: &mut Vec<Told>) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return self.forget(path, at, told) };
        if self.records.take(path, Live::standing(path), at, told) {
            self.stamps.insert(path.to_owned(), FileStamp::of(&metadata));
        }
    }

    fn forget(&mut self, path: &Path, at: Timestamp, told: &mut Vec<Told>) {
        self.stamps.remove(path);
        self.records.forget(path, at, told);
    }
}
