//! The errors of opening a database: what was attempted, on which file, and why it failed.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// A database, its folder or its lock that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite refused the file.
    #[error("cannot open the database {}", path.display())]
    Open {
        /// The path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The operating system refused a file or folder.
    #[error("cannot {attempt} {}", path.display())]
    File {
        /// The attempted action, worded to follow "cannot".
        attempt: &'static str,
        /// The file or folder it was tried on.
        path: PathBuf,
        /// The error of the operating system.
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
        /// The path of the lock file.
        path: PathBuf,
        /// The number of seconds waited.
        seconds: u64,
    },
    /// A check of all pages found damage.
    #[error("the database {} is damaged: {what}", path.display())]
    Damaged {
        /// The path of the database.
        path: PathBuf,
        /// What SQLite found first.
        what: String,
    },
    /// A later Backstory has changed the file's tables.
    #[error(
        "{} was written by a newer Backstory (its version is {found}, this one knows {known}): \
         update Backstory, or move the file away to start over",
        path.display()
    )]
    Newer {
        /// The path of the database.
        path: PathBuf,
        /// The file's `user_version`.
        found: usize,
        /// The number of migrations this program has.
        known: usize,
    },
    /// An earlier Backstory wrote the file, and it was opened for reading only.
    #[error(
        "{} was written by an older Backstory (its version is {found}, this one needs {known}): \
         any command that writes brings it up to date",
        path.display()
    )]
    Older {
        /// The path of the database.
        path: PathBuf,
        /// The file's `user_version`.
        found: usize,
        /// The number of migrations this program has.
        known: usize,
    },
    /// A migration failed; the file is as it was before.
    #[error("cannot bring the database {} from version {from} to {}", path.display(), from + 1)]
    Migrate {
        /// The path of the database.
        path: PathBuf,
        /// The version the failing step began at.
        from: usize,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The copy that must exist before a precious file is changed could not be made; nothing was changed.
    #[error("cannot back up the database {} to {}", path.display(), to.display())]
    Backup {
        /// The path of the database.
        path: PathBuf,
        /// The path of the intended copy.
        to: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

impl Error {
    /// Whether another process kept the file locked for longer than the busy timeout, so that a retry may succeed.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Held { .. })
            || matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the file's content, rather than the disk or its permissions, is the cause.
    pub(crate) fn is_content(&self) -> bool {
        match self {
            Self::Newer { .. } | Self::Damaged { .. } => true,
            Self::Open { source, .. } => is_corruption(source),
            Self::Migrate { source, .. } => is_corruption(source) || is_refused_sql(source),
            Self::File { .. } | Self::Older { .. } | Self::Backup { .. } | Self::Held { .. } => false,
        }
    }

    /// Whether the file is damaged, or not a database at all.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Open { source, .. } | Self::Backup { source, .. } => is_corruption(source),
            _ => false,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Open { source, .. } | Self::Migrate { source, .. } | Self::Backup { source, .. } => {
                source.sqlite_error_code()
            }
            Self::File { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Held { .. }
            | Self::Damaged { .. } => None,
        }
    }
}

/// Whether SQLite refused the SQL of a migration, which happens if a file's tables do not match its version.
fn is_refused_sql(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqlInputError { .. })
        || error.sqlite_error_code() == Some(ErrorCode::Unknown)
}

/// Whether SQLite reports that the file is damaged or not a database at all.
///
/// A later query can find damage in a page that was not read before: close a derived file then, move it aside with
/// [`crate::set_aside`] and open it again.
pub fn is_corruption(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
