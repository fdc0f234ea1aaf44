//! What can go wrong with the index itself; what transcripts hold never does.

use std::io;
use std::path::{Path, PathBuf};

/// The index could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text index failed.
    #[error("cannot {attempt} the index in {}", folder.display())]
    Index {
        /// What was attempted.
        attempt: &'static str,
        /// On which index.
        folder: PathBuf,
        /// Why it failed.
        #[source]
        source: tantivy::TantivyError,
    },
    /// The list of indexed files failed.
    #[error("cannot {attempt} the list of indexed files")]
    Files {
        /// What was attempted.
        attempt: &'static str,
        /// Why it failed.
        #[source]
        source: rusqlite::Error,
    },
    /// The list of indexed files could not be opened.
    #[error("cannot open the list of indexed files")]
    Database(#[from] database::Error),
    /// The vectors of what was said failed.
    #[error("the vectors of the index failed")]
    Vectors(#[from] embedding::Error),
    /// A model gave vectors of two lengths.
    #[error("{model} gives vectors of another length than before; `backstory index --rebuild` begins anew")]
    Lengths {
        /// Which model.
        model: String,
    },
    /// A folder or file of the index failed.
    #[error("cannot {attempt} {}", path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
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
