//! What Backstory's own worker says of the session whose process it runs and speaks with: the best sign there is.

use jiff::Timestamp;

/// A worker's word for what its session does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerReport {
    /// The process that it speaks with, once there is one.
    pub pid: Option<u32>,
    /// Since when that is so.
    pub since: Timestamp,
    /// What the session does.
    pub activity: WorkerActivity,
}

/// What a worker's session does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerActivity {
    /// A turn runs and nobody is asked.
    Working,
    /// Something is asked.
    Asking {
        /// The tool.
        tool: String,
        /// What it does, safe to show.
        detail: Option<String>,
        /// Whether it is a question.
        question: bool,
    },
    /// The turn is over, and the process waits for a message.
    Idle,
    /// The process has left the session in good order.
    Ended,
    /// The process is gone in the middle of a turn.
    Lost,
}

impl WorkerReport {
    /// Whether the worker still holds the session.
    pub(crate) fn is_holding(&self) -> bool {
        match self.activity {
            WorkerActivity::Working | WorkerActivity::Asking { .. } | WorkerActivity::Idle => true,
            WorkerActivity::Ended | WorkerActivity::Lost => false,
        }
    }
}
