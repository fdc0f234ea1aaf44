//! Runs of a job: why each started and what became of it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JobId;

/// Numeric id of a run, never reused.
pub type RunId = i64;

/// One run, including runs that were skipped.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// Numeric id of the run.
    pub id: RunId,
    /// Numeric id of the job.
    pub job_id: JobId,
    /// Why the run started.
    pub trigger: Trigger,
    /// The time the run was scheduled for; `None` if a person started it.
    #[serde(serialize_with = "model::optional_time")]
    pub scheduled: Option<Timestamp>,
    /// Number of earlier scheduled times that were missed and skipped; counted up to 1000.
    pub missed: u32,
    /// When a daemon or person took on the run.
    #[serde(serialize_with = "model::time")]
    pub claimed: Timestamp,
    /// Text that identifies the process that starts the run.
    #[serde(skip)]
    pub starter: String,
    /// Key of the run's worker: however often a start is retried, only one worker is created per key.
    #[serde(skip)]
    pub key: String,
    /// The current state of the run.
    #[serde(flatten)]
    pub state: RunState,
}

/// Why a run started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Its scheduled time came.
    Schedule,
    /// Its scheduled time had been missed.
    CatchUp,
    /// A person started it.
    Manual,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RunState {
    /// The run cannot start yet.
    Waiting {
        /// Why the run waits, for display.
        #[serde(rename = "why")]
        reason: String,
        /// Earliest time of the next attempt to start the run.
        #[serde(rename = "again", serialize_with = "model::time")]
        retry_at: Timestamp,
    },
    /// The worker is being started.
    Starting,
    /// The worker is running.
    Running {
        /// Numeric id of the worker.
        worker: i64,
        /// Session of the worker, once known.
        session_id: Option<String>,
        /// When the worker was started.
        #[serde(serialize_with = "model::time")]
        since: Timestamp,
    },
    /// The run has ended.
    Over {
        /// How the run ended.
        outcome: RunOutcome,
        /// Details for display, if any.
        message: Option<String>,
        /// Numeric id of the worker, if one was started.
        worker: Option<i64>,
        /// Session of the worker, if known.
        session_id: Option<String>,
        /// Cost in US dollars, if known.
        cost_usd: Option<f64>,
        /// When the run ended.
        #[serde(serialize_with = "model::time")]
        ended: Timestamp,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The task was completed.
    Finished,
    /// The worker failed, or could not be started.
    Failed,
    /// The run exceeded its time limit and was stopped.
    TimedOut,
    /// The run was skipped.
    Skipped,
}

impl RunState {
    /// A run that cannot start yet, with the reason and the time of the next attempt.
    pub fn waiting(reason: &str, retry_at: Timestamp) -> Self {
        Self::Waiting { reason: reason.to_owned(), retry_at }
    }

    /// A run that was skipped, with the reason.
    pub fn skipped(why: &str, now: Timestamp) -> Self {
        Self::ended(RunOutcome::Skipped, Some(why.to_owned()), now)
    }

    /// A run that ended before its worker was known.
    pub fn ended(outcome: RunOutcome, message: Option<String>, now: Timestamp) -> Self {
        Self::Over { outcome, message, worker: None, session_id: None, cost_usd: None, ended: now }
    }

    /// Numeric id of the worker, if one was started.
    pub fn worker(&self) -> Option<i64> {
        match self {
            Self::Waiting { .. } | Self::Starting => None,
            Self::Running { worker, .. } => Some(*worker),
            Self::Over { worker, .. } => *worker,
        }
    }
}
