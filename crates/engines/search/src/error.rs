//! Errors of the index itself; the content of transcripts never causes one.

use std::io;
use std::path::{Path, PathBuf};

/// The index could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text index failed.
    #[error("cannot {attempt} the index in {}", folder.display())]
    Index {
        /// The attempted action, as it reads after "cannot".
        attempt: &'static str,
        /// The folder of the index.
        folder: PathBuf,
        /// The error of the text index.
        #[source]
        source: tantivy::TantivyError,
    },
    /// The list of indexed files failed.
    #[error("cannot {attempt} the list of indexed files")]
    Files {
        /// The attempted action, as it reads after "cannot".
        attempt: &'static str,
        /// The error of SQLite.
        #[source]
        source: rusqlite::Error,
    },
    /// The list of indexed files could not be opened.
    #[error("cannot open the list of indexed files")]
    Database(#[from] database::Error),
    /// The vectors of the indexed text failed.
    #[error("the vectors of the index failed")]
    Vectors(#[from] embedding::Error),
    /// A model gave vectors of two lengths.
    #[error("{model} gives vectors of another length than before")]
    Lengths {
        /// The model's name.
        model: String,
    },
    /// The text index does not hold what its reader expects anywhere in it.
    #[error("the index in {} is damaged", folder.display())]
    Damaged {
        /// The folder of the index.
        folder: PathBuf,
    },
    /// A folder or file of the index failed.
    #[error("cannot {attempt} {}", path.display())]
    Io {
        /// The attempted action, as it reads after "cannot".
        attempt: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// What a person can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Rebuild the index.
    Rebuild,
    /// Free space on the disk.
    Room,
    /// The right to write is missing.
    Permission,
    /// Another process has it; it has to be waited for.
    Wait,
}

impl Error {
    /// The remedy for an error, by its deepest cause.
    pub fn remedy(&self) -> Remedy {
        if let Self::Database(error) = self
            && error.is_busy()
        {
            return Remedy::Wait;
        }
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            let known = error.downcast_ref().and_then(of_io);
            if let Some(remedy) = known.or_else(|| error.downcast_ref().and_then(of_sqlite)) {
                return remedy;
            }
            cause = error.source();
        }
        // The text index reports some causes only as text.
        let message = system::error_chain(self);
        if message.contains("No space left on device") {
            return Remedy::Room;
        }
        if message.contains("Permission denied") || message.contains("Read-only file system") {
            return Remedy::Permission;
        }
        Remedy::Rebuild
    }
}

fn of_io(error: &io::Error) -> Option<Remedy> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(Remedy::Room),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(Remedy::Permission),
        io::ErrorKind::WouldBlock => Some(Remedy::Wait),
        _ => None,
    }
}

fn of_sqlite(error: &rusqlite::Error) -> Option<Remedy> {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code()? {
        ErrorCode::DiskFull => Some(Remedy::Room),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => Some(Remedy::Permission),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(Remedy::Wait),
        _ => None,
    }
}

pub(crate) fn index_failed(
    attempt: &'static str,
    folder: &Path,
) -> impl FnOnce(tantivy::TantivyError) -> Error {
    let folder = folder.to_owned();
    move |source| Error::Index { attempt, folder, source }
}

pub(crate) fn files_failed(attempt: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    move |source| Error::Files { attempt, source }
}

pub(crate) fn io_failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { attempt, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_answered_with_what_helps() {
        let io = |kind: io::ErrorKind| io_failed("write", Path::new("/x"))(kind.into()).remedy();
        assert_eq!(io(io::ErrorKind::StorageFull), Remedy::Room);
        assert_eq!(io(io::ErrorKind::PermissionDenied), Remedy::Permission);
        assert_eq!(io(io::ErrorKind::ReadOnlyFilesystem), Remedy::Permission);
        assert_eq!(io(io::ErrorKind::WouldBlock), Remedy::Wait);
        assert_eq!(io(io::ErrorKind::InvalidData), Remedy::Rebuild);
        let text = |words: &str| {
            index_failed("open", Path::new("/x"))(tantivy::TantivyError::SystemError(words.to_owned()))
                .remedy()
        };
        assert_eq!(text("Failed to acquire Lockfile: Permission denied (os error 13)"), Remedy::Permission);
        assert_eq!(text("No space left on device (os error 28)"), Remedy::Room);
        assert_eq!(text("the footer is damaged"), Remedy::Rebuild);
        let sqlite = |code: i32| {
            files_failed("write")(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None))
                .remedy()
        };
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_FULL), Remedy::Room);
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_BUSY), Remedy::Wait);
        assert_eq!(sqlite(rusqlite::ffi::SQLITE_CORRUPT), Remedy::Rebuild);
    }
}
