//! The errors of vectors, models and endpoints. The content of a text never causes one.

use std::io;
use std::path::{Path, PathBuf};

/// Something cannot be embedded, kept or found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing failed.
    #[error("cannot {attempt} {}", path.display())]
    Io {
        /// What was attempted, such as `read`.
        attempt: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The file has vectors of another model, another length or another version of the format.
    #[error("{} holds vectors of another model; they have to be rebuilt", path.display())]
    OtherModel {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is shorter than what was committed to it.
    #[error("{} has lost vectors; they have to be rebuilt", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
    },
    /// A file of a model is not what a model needs.
    #[error("cannot use {}: {reason}", path.display())]
    Unusable {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason why it cannot be used.
        reason: String,
    },
    /// A model of the hub is not in the hub's cache.
    #[error("the model {name} is not in {}; fetch it once with `hf download {name}`", cache.display())]
    NotFetched {
        /// Its name on the hub.
        name: String,
        /// The folder of the cache that was searched.
        cache: PathBuf,
    },
    /// An endpoint gave no vectors.
    #[error("the embedding endpoint {url} failed: {reason}")]
    Endpoint {
        /// The URL of the endpoint.
        url: String,
        /// The reason why the request failed.
        reason: String,
    },
}

/// Creates the error for an unusable file of a model.
pub(crate) fn unusable(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Unusable { path: path.to_owned(), reason: reason.to_string() }
}

/// Wraps a failure of reading or writing.
pub(crate) fn io_failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { attempt, path, source }
}
