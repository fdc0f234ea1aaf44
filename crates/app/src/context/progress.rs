//! Progress of long requests.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Context;

/// How far a long request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// The files, documents or pieces of text that are done.
    pub done: u64,
    /// How many there are in all.
    pub total: u64,
    /// The bytes that are done; 0 where they are not counted.
    pub bytes_done: u64,
    /// How many bytes there are in all; 0 where they are not counted.
    pub bytes: u64,
    /// Whether `done` is a share of 100, because the caller may not see everything that is counted.
    pub is_share: bool,
}

impl Progress {
    /// So much of a total is done.
    pub(crate) fn new(stage: Stage, done: u64, total: u64) -> Self {
        Self { stage, done, total, bytes_done: 0, bytes: 0, is_share: false }
    }

    /// The progress without figures, for a caller who may not see everything that is counted.
    fn without_figures(self) -> Self {
        let (done, total) =
            if self.bytes > 0 { (self.bytes_done, self.bytes) } else { (self.done, self.total) };
        let share = done.saturating_mul(100).checked_div(total).unwrap_or(0).min(100);
        Self { is_share: true, ..Self::new(self.stage, share, 100) }
    }
}

/// What a long request is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It reads transcripts that changed.
    Reading,
    /// It brings the search index up to date.
    Indexing,
    /// A model turns pieces of text into vectors.
    Embedding,
    /// It writes sessions as documents.
    Exporting,
    /// It waits for workers; what is counted are seconds.
    Waiting,
    /// qmd indexes the documents, and reports that on standard error itself.
    IndexingDocuments,
}

/// Receives the progress of a request.
#[derive(Clone, Default)]
pub struct ProgressSink {
    report: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    is_watched: bool,
}

impl ProgressSink {
    /// Calls `report` with every step.
    pub fn new(report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { report: Some(Arc::new(report)), is_watched: false }
    }

    /// The sink for a person who watches: they can cancel, so that the first indexing has no time limit.
    #[must_use]
    pub fn watched(self) -> Self {
        Self { is_watched: true, ..self }
    }

    /// Whether a person watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ProgressSink").field("is_watched", &self.is_watched).finish_non_exhaustive()
    }
}

impl Context {
    /// Reports a step to the caller. Work on the index and the catalog is done for all sessions at once.
    pub(crate) fn report(&self, progress: Progress) {
        let Some(report) = &self.progress.report else { return };
        let counts_all = match progress.stage {
            Stage::Reading
            | Stage::Indexing
            | Stage::Embedding
            | Stage::Exporting
            | Stage::IndexingDocuments => true,
            Stage::Waiting => false,
        };
        report(if counts_all && self.is_limited() { progress.without_figures() } else { progress });
    }
}

impl From<catalog::ReadProgress> for Progress {
    fn from(progress: catalog::ReadProgress) -> Self {
        Self {
            stage: Stage::Reading,
            done: progress.files as u64,
            total: progress.of_files as u64,
            bytes_done: progress.bytes,
            bytes: progress.of_bytes,
            is_share: false,
        }
    }
}

impl From<&search::IndexProgress> for Progress {
    fn from(progress: &search::IndexProgress) -> Self {
        Self {
            stage: Stage::Indexing,
            done: progress.files_done,
            total: progress.files,
            bytes_done: progress.bytes_done,
            bytes: progress.bytes,
            is_share: false,
        }
    }
}

impl From<&search::ExcerptReport> for Progress {
    fn from(report: &search::ExcerptReport) -> Self {
        Self::new(Stage::Embedding, report.done, report.of)
    }
}

impl From<&search::EmbedReport> for Progress {
    fn from(report: &search::EmbedReport) -> Self {
        Self::new(Stage::Embedding, report.done, report.of)
    }
}
