//! Reports from Backstory's own workers about the sessions they run: the best evidence there is.

use jiff::Timestamp;

/// A worker's report about its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerReport {
    /// Id of the worker's process, once started.
    pub pid: Option<u32>,
    /// When this activity began.
    pub since: Timestamp,
    /// What the session is doing.
    pub activity: WorkerActivity,
}

/// What a worker's session is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerActivity {
    /// A turn is running and nobody is asked.
    Working,
    /// The user is asked for a permission or an answer.
    Asking {
        /// Name of the tool.
        tool: String,
        /// Description of the call, safe to display.
        detail: Option<String>,
        /// Whether it is a question.
        question: bool,
    },
    /// The turn is over, and the process waits for a message.
    Idle,
    /// The process closed the session in an orderly way.
    Ended,
    /// The process ended during a turn.
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
