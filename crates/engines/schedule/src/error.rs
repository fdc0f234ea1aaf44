//! Errors of the job store and of job definitions.

use std::path::PathBuf;

/// The job store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the schedule {}", path.display())]
pub struct JobStoreError {
    /// Path of the database file.
    pub(crate) path: PathBuf,
    /// The underlying error.
    pub(crate) source: Box<dyn std::error::Error + Send + Sync>,
}

/// A job definition is invalid; holds a message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJob(pub String);
