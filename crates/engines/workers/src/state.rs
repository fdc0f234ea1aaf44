//! The states of a worker; each carries exactly the data valid in it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PermissionRequest;

/// Numeric id of a worker, never reused.
pub type WorkerId = i64;

/// The state of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum WorkerState {
    /// Another worker has the directory.
    Queued,
    /// The process was started and has not answered yet.
    Starting,
    /// A turn is running.
    Running,
    /// The worker waits for the user.
    WaitingPermission {
        /// The open requests.
        requests: Vec<PermissionRequest>,
    },
    /// The turn is over, and another message can be sent.
    Idle {
        /// When the turn ended.
        #[serde(serialize_with = "model::time")]
        since: Timestamp,
        /// The beginning of the last answer, or of the error that ended the turn.
        #[serde(default)]
        text: String,
        /// Whether the turn ended with an error.
        #[serde(default)]
        turn_failed: bool,
    },
    /// The worker ended after a successful turn.
    Finished {
        /// The beginning of the last answer.
        text: String,
    },
    /// The worker failed.
    Failed {
        /// Kind of failure.
        #[serde(rename = "why")]
        reason: FailureReason,
        /// Description for display.
        message: String,
    },
    /// The worker was stopped.
    Stopped,
    /// The process that hosted the worker is gone.
    Lost {
        /// Whether the worker's own process was still alive.
        is_living: bool,
    },
}

/// How a worker failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// `claude` could not be started, or refused.
    Start,
    /// It was silent for too long.
    Silent,
    /// Its budget is used up.
    Budget,
    /// The model could not be reached or refused.
    Api,
    /// The turn ended with another error.
    Turn,
    /// The process ended during a turn.
    Exit,
}

impl WorkerState {
    /// The names of all states.
    pub const NAMES: [&'static str; 9] = [
        "queued",
        "starting",
        "running",
        "waiting_permission",
        "idle",
        "finished",
        "failed",
        "stopped",
        "lost",
    ];

    /// Name of the state, as in its JSON.
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

    /// Whether the state is final.
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
