//! What can go wrong with vectors, models and endpoints; what a text holds never does.

use std::io;
use std::path::{Path, PathBuf};

/// Something cannot be embedded, kept or found.
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
    /// A file of a model is not what a model needs.
    #[error("cannot use {}: {reason}", path.display())]
    Unusable {
        /// Which file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A model of the hub is not in the hub's cache.
    #[error("the model {name} is not in {}; fetch it once with `hf download {name}`", cache.display())]
    NotFetched {
        /// Its name on the hub.
        name: String,
        /// Where it was looked for.
        cache: PathBuf,
    },
    /// An endpoint gave no vectors.
    #[error("the embedding endpoint {url} failed: {reason}")]
    Endpoint {
        /// Its address.
        url: String,
        /// What happened.
        reason: String,
    },
}

/// Says what is wrong with a file of a model.
pub(crate) fn unusable(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Unusable { path: path.to_owned(), reason: reason.to_string() }
}

/// Wraps a failure of reading or writing.
pub(crate) fn io_failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { attempt, path, source }
}
