//! A run of a job: why it began, and what became of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::JobId;

/// A run's number; it is never given twice.
pub type RunId = i64;

/// One run, or one moment at which none was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// Its job's number.
    pub job_id: JobId,
    /// Why it began.
    pub trigger: Trigger,
    /// The moment it was due at; absent where a person asked for it.
    pub scheduled: Option<Timestamp>,
    /// How many moments before that one were missed and are not made up for; counted up to 1000.
    pub missed: u32,
    /// When it was taken up.
    pub claimed: Timestamp,
    /// Who starts it: a text that tells one process from all others.
    #[serde(skip)]
    pub starter: String,
    /// What its worker is known by: however often a start is tried, of one key there is one worker.
    #[serde(skip)]
    pub key: String,
    /// What became of it.
    #[serde(flatten)]
    pub state: RunState,
}

/// Why a run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Its moment came.
    Schedule,
    /// Its moment had passed while nobody looked.
    CatchUp,
    /// Somebody asked for it.
    Manual,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RunState {
    /// It cannot begin yet.
    Waiting {
        /// Why it has to wait, in words.
        #[serde(rename = "why")]
        reason: String,
        /// It is not tried again before this time.
        #[serde(rename = "again")]
        retry_at: Timestamp,
    },
    /// It is being started.
    Starting,
    /// Its worker works.
    Running {
        /// The worker's number.
        worker: i64,
        /// Its session.
        session_id: Option<String>,
        /// Since when.
        since: Timestamp,
    },
    /// It is over.
    Over {
        /// How it ended.
        outcome: RunOutcome,
        /// More in words, where there is something to say.
        message: Option<String>,
        /// The worker's number, where one was started.
        worker: Option<i64>,
        /// Its session.
        session_id: Option<String>,
        /// What it cost, in US dollars.
        cost_usd: Option<f64>,
        /// When it ended.
        ended: Timestamp,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Its task is done.
    Finished,
    /// It was started and its task is not done, or it could not be started.
    Failed,
    /// It was ended because it took too long.
    TimedOut,
    /// It was not made.
    Skipped,
}

impl RunState {
    /// That a run cannot begin yet, why, and when it is tried again.
    pub fn waiting(reason: &str, retry_at: Timestamp) -> Self {
        Self::Waiting { reason: reason.to_owned(), retry_at }
    }

    /// That a run was not made, and why.
    pub fn skipped(why: &str, now: Timestamp) -> Self {
        Self::ended(RunOutcome::Skipped, Some(why.to_owned()), now)
    }

    /// That a run ended before a worker was known.
    pub fn ended(outcome: RunOutcome, message: Option<String>, now: Timestamp) -> Self {
        Self::Over { outcome, message, worker: None, session_id: None, cost_usd: None, ended: now }
    }

    /// Its worker, where one was started.
    pub fn worker(&self) -> Option<i64> {
        match self {
            Self::Waiting { .. } | Self::Starting => None,
            Self::Running { worker, .. } => Some(*worker),
            Self::Over { worker, .. } => *worker,
        }
    }
}
