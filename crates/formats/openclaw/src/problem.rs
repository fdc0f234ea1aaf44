//! A file of OpenClaw's that could not be read, as data for `doctor`.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder of OpenClaw's that could not be read, and what a person can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {what}", path.display())]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it, as a sentence.
    pub what: String,
    /// What to do about it, as a sentence.
    pub next_step: String,
}

impl Problem {
    pub(crate) fn new(path: &Path, what: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { path: path.to_owned(), what: what.into(), next_step: next_step.into() }
    }
}

/// Where a file is written from another one, that other one may be the reason why it is not.
impl From<Problem> for io::Error {
    fn from(problem: Problem) -> Self {
        Self::other(problem)
    }
}
