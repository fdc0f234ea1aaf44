//! The file of the tokens, which several processes change: one at a time, and each replaces it as a whole.

use std::fs::File;
use std::path::{Path, PathBuf};

use app::{Error, Kind};
use rustix::fs::{FlockOperation, flock};
use system::FileStamp;

use crate::folder;
use crate::security::tokens::entry::Entry;

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The file, and the one that is locked while it is changed.
#[derive(Debug)]
pub(super) struct TokenFile {
    pub(super) path: PathBuf,
    pub(super) lock: PathBuf,
}

impl TokenFile {
    /// The file in a folder of the server's.
    pub(super) fn new(folder: &Path) -> Self {
        Self { path: folder.join("tokens.json"), lock: folder.join("tokens.lock") }
    }

    /// Changes with every change of the file; `None` where there is none.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        self.path.metadata().ok().map(|metadata| FileStamp::from_metadata(&metadata))
    }

    /// The tokens; none where there is no file yet.
    pub(super) fn read(&self) -> Result<Vec<Entry>, Error> {
        let bytes = match system::read_small(&self.path, LARGEST) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| folder::unusable(&self.path, &error))?,
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            let attempt = format!("cannot read {}", self.path.display());
            Error::caused(Kind::Unavailable, attempt, &error)
                .hint("move the file away to begin without tokens")
        })
    }

    /// Changes the file. Another change at the same time waits for this one.
    pub(super) fn edit<T>(
        &self,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.change(FlockOperation::LockExclusive, change)
    }

    /// Changes the file; an error where another process is changing it.
    pub(super) fn try_edit<T>(
        &self,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.change(FlockOperation::NonBlockingLockExclusive, change)
    }

    fn change<T>(
        &self,
        locking: FlockOperation,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let unusable = |error: &std::io::Error| folder::unusable(&self.path, error);
        let lock: File = system::private_file()
            .create(true)
            .append(true)
            .open(&self.lock)
            .map_err(|error| folder::unusable(&self.lock, &error))?;
        flock(&lock, locking).map_err(|error| unusable(&error.into()))?;
        let mut entries = self.read()?;
        let done = change(&mut entries)?;
        let text = serde_json::to_vec_pretty(&entries).unwrap_or_default();
        system::replace_private_file(&self.path, &text).map_err(|error| unusable(&error))?;
        Ok(done)
    }
}
