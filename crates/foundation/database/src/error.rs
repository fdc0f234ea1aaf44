//! What can go wrong while a database is opened: what was attempted, on which file, and why.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// A database, its folder or its lock that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite refused the file.
    #[error("cannot open the database {}", path.display())]
    Open {
        /// The database.
        path: PathBuf,
        /// SQLite's own reason.
        source: rusqlite::Error,
    },
    /// The operating system refused a file or folder.
    #[error("cannot {attempt} {}", path.display())]
    File {
        /// What was tried, as it reads after "cannot".
        attempt: &'static str,
        /// The file or folder it was tried on.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process has kept a lock for longer than it is waited for.
    #[error(
        "another process has held {} for more than {seconds} s, perhaps a Backstory that is suspended: \
         `fuser {}` says which; let it go on (`fg`) or end it",
        path.display(),
        path.display()
    )]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A later Backstory has changed the file's tables.
    #[error(
        "{} was written by a newer Backstory (its version is {found}, this one knows {known}): \
         update Backstory, or move the file away to begin anew",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The file's `user_version`.
        found: usize,
        /// How many migrations this program has.
        known: usize,
    },
    /// An earlier Backstory wrote the file, and it was opened for reading only.
    #[error(
        "{} was written by an older Backstory (its version is {found}, this one needs {known}): \
         any command that writes brings it up to date",
        path.display()
    )]
    Older {
        /// The database.
        path: PathBuf,
        /// The file's `user_version`.
        found: usize,
        /// How many migrations this program has.
        known: usize,
    },
    /// A migration failed; the file is as it was before.
    #[error("cannot bring the database {} from version {from} to {}", path.display(), from + 1)]
    Migrate {
        /// The database.
        path: PathBuf,
        /// The version the failing step began at.
        from: usize,
        /// SQLite's own reason.
        source: rusqlite::Error,
    },
    /// The copy that must exist before a precious file is changed could not be made; nothing was changed.
    #[error("cannot back up the database {} to {}", path.display(), to.display())]
    Backup {
        /// The database.
        path: PathBuf,
        /// Where the copy was to go.
        to: PathBuf,
        /// SQLite's own reason.
        source: rusqlite::Error,
    },
}

impl Error {
    /// Whether another process held the file for longer than the busy timeout; trying again may help.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Held { .. })
            || matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the file's content, rather than the disk or its permissions, is the cause.
    pub(crate) fn is_content(&self) -> bool {
        match self {
            Self::Newer { .. } => true,
            Self::Open { source, .. } => is_corruption(source),
            Self::Migrate { source, .. } => is_corruption(source) || is_refused_sql(source),
            Self::File { .. } | Self::Older { .. } | Self::Backup { .. } | Self::Held { .. } => false,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Open { source, .. } | Self::Migrate { source, .. } | Self::Backup { source, .. } => {
                source.sqlite_error_code()
            }
            Self::File { .. } | Self::Newer { .. } | Self::Older { .. } | Self::Held { .. } => None,
        }
    }
}

/// SQL that works on a new file fails on one that says an old version and has other tables than that had.
fn is_refused_sql(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqlInputError { .. })
        || error.sqlite_error_code() == Some(ErrorCode::Unknown)
}

/// Whether SQLite says that the file's bytes are damaged or not a database at all.
///
/// Damage in a page nobody has read yet is found by a later query: a derived file is then closed, put away
/// with [`crate::set_aside`] and opened anew.
pub fn is_corruption(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
