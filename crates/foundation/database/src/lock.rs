//! A lock that allows one writer at a time across processes: an advisory lock on a file that is never deleted.
//!
//! The operating system releases the lock when its process ends, so a crash leaves nothing to clean up.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Error;
use crate::files::{failed, is_new, private_file, with_suffix};

/// How long to wait for a lock. A process that keeps it longer is stopped, or waits for a disk that is gone.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The interval between attempts: the system can wait for a lock, but not with a timeout.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The exclusive right to write, released when dropped.
#[derive(Debug)]
#[must_use = "the lock is given back when this is dropped"]
pub struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Acquires the lock, or returns `None` if another process has it.
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
        wait_for(path, File::try_lock)
    }

    /// Waits until a database may be opened, and keeps it where it is: for one that is put away meanwhile, SQLite would
    /// find the log of the new file by its name and join it to the old one.
    ///
    /// A new database is opened alone, since SQLite does not wait where it begins to keep a log.
    pub(crate) fn wait_to_open(database: &Path) -> Result<Self, Error> {
        let turn = Self::path(database);
        if is_new(database) { Self::wait(&turn) } else { Self::wait_with_others(&turn) }
    }

    /// The path of a database's lock file.
    pub(crate) fn path(database: &Path) -> PathBuf {
        with_suffix(database, ".lock")
    }

    /// Waits until no process has the lock exclusively, and prevents others from taking it exclusively.
    fn wait_with_others(path: &Path) -> Result<Self, Error> {
        wait_for(path, File::try_lock_shared)
    }
}

fn wait_for(path: &Path, take: fn(&File) -> Result<(), TryLockError>) -> Result<WriterLock, Error> {
    let file = private_file(path)?;
    let began = Instant::now();
    loop {
        match take(&file) {
            Ok(()) => return Ok(WriterLock { _file: file }),
            Err(TryLockError::WouldBlock) if began.elapsed() < TIMEOUT => pause(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Held { path: path.to_owned(), seconds: TIMEOUT.as_secs() });
            }
            Err(TryLockError::Error(source)) => return Err(failed("lock", path, source)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a lock that is given back tells nobody")]
fn pause() {
    std::thread::sleep(RETRY_INTERVAL);
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
