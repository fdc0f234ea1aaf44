//! Reads Claude Code's registry of live processes and detects changes; `records` interprets them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::SessionId;
use system::FileStamp;
use transcript::{RegisteredProcess, live_records};

use crate::Timers;
use crate::records::{RegistryRecords, RegistryUpdate};

/// The registry folders as last seen.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    folders: Vec<PathBuf>,
    stamps: HashMap<PathBuf, FileStamp>,
    records: RegistryRecords,
}

impl Registry {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// The folders to watch.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// For how long a session that is not registered has to be silent before whoever looks for the first time concludes
    /// that it has no process. Where there is no registry at all, as in a folder of another machine, that is not known at
    /// once.
    pub(crate) fn quiet_before_absence(&self, timers: Timers) -> SignedDuration {
        let is_there = self.folders.iter().any(|folder| folder.is_dir());
        if is_there { SignedDuration::MIN } else { timers.unregistered }
    }

    /// Whether a live process has the session open.
    pub(crate) fn holds(&self, session: &SessionId) -> bool {
        self.records.holds(session)
    }

    /// Whether a record of the session exists that says nothing about its process.
    pub(crate) fn is_foreign(&self, session: &SessionId) -> bool {
        self.records.is_foreign(session)
    }

    /// The live process that runs a background job.
    pub(crate) fn of_job(&self, job: &str) -> Option<&RegisteredProcess> {
        self.records.of_job(job)
    }

    /// Checks all changed records and all processes.
    pub(crate) fn look(&mut self, at: Timestamp) -> Vec<RegistryUpdate> {
        let mut updates = Vec::new();
        let paths: Vec<PathBuf> = self.folders.iter().flat_map(|folder| live_records(folder)).collect();
        let gone: Vec<PathBuf> = self.stamps.keys().filter(|path| !paths.contains(path)).cloned().collect();
        for path in gone {
            self.forget(&path, at, &mut updates);
        }
        for path in paths {
            let changed = |known: &FileStamp| {
                fs::symlink_metadata(&path).is_ok_and(|now| FileStamp::from_metadata(&now) != *known)
            };
            if self.stamps.get(&path).is_none_or(changed) {
                self.look_again(&path, at, &mut updates);
            }
        }
        self.records.mark_dead(RegisteredProcess::is_alive, at, &mut updates);
        updates
    }

    /// Checks one record that the system reported as changed.
    pub(crate) fn look_at(&mut self, path: &Path, at: Timestamp) -> Vec<RegistryUpdate> {
        let mut updates = Vec::new();
        if path.extension().is_some_and(|extension| extension == "json") {
            self.look_again(path, at, &mut updates);
        }
        updates
    }

    fn look_again(&mut self, path: &Path, at: Timestamp, updates: &mut Vec<RegistryUpdate>) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return self.forget(path, at, updates) };
        if self.records.observe(path, RegisteredProcess::registry_status(path), at, updates) {
            self.stamps.insert(path.to_owned(), FileStamp::from_metadata(&metadata));
        }
    }

    fn forget(&mut self, path: &Path, at: Timestamp, updates: &mut Vec<RegistryUpdate>) {
        self.stamps.remove(path);
        self.records.forget(path, at, updates);
    }
}
