//! One writer at a time, over processes: an advisory lock on a file that is never deleted.
//!
//! The system drops the lock with the process that held it, so a crash leaves nothing to clean up.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::files::{beside, failed, is_new, private_file};

/// The right to write, held until it is dropped.
#[derive(Debug)]
#[must_use = "the lock is given back when this is dropped"]
pub struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock if nobody holds it; `None` when somebody does.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, Error> {
        let file = private_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed("lock", path, source)),
        }
    }

    /// Waits for the lock; only for work that is known to be short.
    pub(crate) fn wait(path: &Path) -> Result<Self, Error> {
        let file = private_file(path)?;
        file.lock().map_err(|source| failed("lock", path, source))?;
        Ok(Self { _file: file })
    }

    /// Waits until a database may be opened, and keeps it where it is: for one that is put away meanwhile, SQLite would
    /// find the log of the new file by its name and join it to the old one.
    ///
    /// A new database is opened alone, since SQLite does not wait where it begins to keep a log.
    pub(crate) fn wait_to_open(database: &Path) -> Result<Self, Error> {
        let turn = Self::path(database);
        if is_new(database) { Self::wait(&turn) } else { Self::wait_with_others(&turn) }
    }

    /// Where the lock of a database is.
    pub(crate) fn path(database: &Path) -> PathBuf {
        beside(database, ".lock")
    }

    /// Waits until nobody has the lock alone, and keeps it from being taken alone.
    fn wait_with_others(path: &Path) -> Result<Self, Error> {
        let file = private_file(path)?;
        file.lock_shared().map_err(|source| failed("lock", path, source))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("new/writer.lock");
        let held = WriterLock::try_acquire(&path).unwrap();
        assert!(held.is_some());
        assert!(WriterLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(WriterLock::try_acquire(&path).unwrap().is_some());
        assert!(path.exists(), "a deleted lock file could be locked twice");
    }
}
