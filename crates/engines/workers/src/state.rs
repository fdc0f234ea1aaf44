//! What state a worker is in; each carries what is true in it and nothing else.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::PermissionRequest;

/// A worker's number in the table; it is never given twice.
pub type WorkerId = i64;

/// The state of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum WorkerState {
    /// Another worker has the directory.
    Queued,
    /// Its process is started and has not answered yet.
    Starting,
    /// A turn runs.
    Running,
    /// It waits for answers.
    WaitingPermission {
        /// To these.
        requests: Vec<PermissionRequest>,
    },
    /// The turn is over; it can be sent another message.
    Idle {
        /// Since when.
        since: Timestamp,
    },
    /// It ended, and its last turn went well.
    Finished {
        /// The last answer's beginning.
        text: String,
    },
    /// It ended, and not well.
    Failed {
        /// In what way.
        #[serde(rename = "why")]
        reason: FailureReason,
        /// The same in words.
        message: String,
    },
    /// Somebody ended it.
    Stopped,
    /// The Backstory that ran it is gone.
    Lost {
        /// Whether its process lived still when that was found.
        is_living: bool,
    },
}

/// In what way a worker failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// `claude` could not be started, or said no.
    Start,
    /// It said nothing for too long.
    Silent,
    /// It has used its budget.
    Budget,
    /// The model could not be reached or refused.
    Api,
    /// The turn ended with another error.
    Turn,
    /// The process ended in the middle of a turn.
    Exit,
}

impl WorkerState {
    /// The word that its JSON has for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::WaitingPermission { .. } => "waiting_permission",
            Self::Idle { .. } => "idle",
            Self::Finished { .. } => "finished",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
            Self::Lost { .. } => "lost",
        }
    }

    /// Whether it will not change any more.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Finished { .. } | Self::Failed { .. } | Self::Stopped | Self::Lost { .. } => true,
            Self::Queued
            | Self::Starting
            | Self::Running
            | Self::WaitingPermission { .. }
            | Self::Idle { .. } => false,
        }
    }
}
