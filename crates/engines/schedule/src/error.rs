//! What can go wrong with the book of jobs.

use std::path::PathBuf;

/// The book could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the schedule {}", path.display())]
pub struct JobStoreError {
    /// Its file.
    pub(crate) path: PathBuf,
    /// Why not.
    pub(crate) source: Box<dyn std::error::Error + Send + Sync>,
}

/// What is wrong with a job, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJob(pub String);
