//! Reports from Backstory's own workers about the sessions they run: the best evidence there is.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use model::{AnnouncementEvent, SessionId};

/// A worker's report about its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerReport {
    /// Id of the worker's process, once started.
    pub pid: Option<u32>,
    /// When this activity began.
    pub since: Timestamp,
    /// What the session is doing.
    pub activity: WorkerActivity,
    /// The worker's directory; a new session has no transcript with it yet.
    pub directory: PathBuf,
    /// Its task: what the session is called until it has a title.
    pub task: String,
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
        /// The whole command, the file or the question. It may contain a secret.
        asking: Option<String>,
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

/// What changed among workers since the last poll of their [`WorkerSource`].
#[derive(Debug, Default)]
pub struct WorkerUpdates {
    /// New reports; `None` for a session that no worker holds any more.
    pub reports: Vec<(SessionId, Option<WorkerReport>)>,
    /// What workers' agents announced, oldest first.
    pub announcements: Vec<AnnouncementEvent>,
    /// How soon to poll again.
    pub next_poll: Duration,
}

/// Where the monitor reads workers' reports. Polling has to be cheap: it precedes every new session's first event.
pub struct WorkerSource(Box<dyn FnMut() -> WorkerUpdates + Send>);

impl WorkerSource {
    /// A source that is polled by calling `poll`.
    pub fn new(poll: impl FnMut() -> WorkerUpdates + Send + 'static) -> Self {
        Self(Box::new(poll))
    }

    /// A source without workers.
    pub fn none() -> Self {
        Self::new(|| WorkerUpdates { next_poll: Duration::MAX, ..WorkerUpdates::default() })
    }

    pub(crate) fn poll(&mut self) -> WorkerUpdates {
        (self.0)()
    }
}

impl fmt::Debug for WorkerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerSource").finish_non_exhaustive()
    }
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
