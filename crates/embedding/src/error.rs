//! What can go wrong with files of vectors.

use std::io;
use std::path::{Path, PathBuf};

/// A file of vectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing failed.
    #[error("cannot {attempt} {}", path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The file holds vectors of another model, another length, or was written by another version.
    #[error("{} holds vectors of another model; they have to be made anew", path.display())]
    OtherModel {
        /// Which file.
        path: PathBuf,
    },
    /// The file is shorter than what was committed to it.
    #[error("{} has lost vectors; they have to be made anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
}

/// Wraps a failure of reading or writing.
pub(crate) fn io_failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { attempt, path, source }
}
