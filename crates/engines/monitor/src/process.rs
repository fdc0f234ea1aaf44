//! What is known about the process that has a session open.

use std::path::PathBuf;

use jiff::Timestamp;
use model::Evidence;
use transcript::{LiveStatus, RegisteredProcess};

/// The process that has a session open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// Nothing is known: the release does not register processes, or it runs in another container.
    Unknown,
    /// The process is alive.
    Alive(LiveProcess),
    /// The process closed the session in an orderly way.
    Ended {
        /// The time of its end.
        at: Timestamp,
        /// The source of this information.
        evidence: Evidence,
    },
    /// The process is gone but its registry record is still there.
    Lost {
        /// When that was noticed.
        at: Timestamp,
        /// The source of this information.
        evidence: Evidence,
    },
    /// There is no process; the release would have registered one.
    Absent,
}

/// A live process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    /// Process id.
    pub pid: u32,
    /// When the process was found to have this session open.
    pub found: Timestamp,
    /// Working directory of the process.
    pub cwd: Option<PathBuf>,
    /// The status it reports, if its release does.
    pub status: Option<ProcessStatus>,
}

/// The status a live process reports in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus {
    /// Busy, idle or waiting.
    pub activity: LiveStatus,
    /// What it waits for.
    pub waiting_for: Option<String>,
    /// When this status began.
    pub since: Timestamp,
}

impl LiveProcess {
    /// The process in a registry record read at `at`.
    pub fn from_record(live: &RegisteredProcess, at: Timestamp) -> Self {
        let status = live.status.map(|activity| ProcessStatus {
            activity,
            waiting_for: live.waiting_for.clone(),
            since: live.status_since.unwrap_or(at),
        });
        Self { pid: live.pid, found: at, cwd: live.cwd.clone(), status }
    }
}
