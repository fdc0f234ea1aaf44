//! What is known of the process that holds a session.

use std::path::PathBuf;

use jiff::Timestamp;
use model::Evidence;
use transcript::{Live, LiveStatus};

/// The process that holds a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// Nothing is known: the release registers nothing, or it runs in another container.
    Unknown,
    /// It lives.
    Alive(LiveProcess),
    /// It left the session in good order.
    Ended {
        /// When.
        at: Timestamp,
        /// Who said so.
        evidence: Evidence,
    },
    /// It is gone and did not say so: its record is still there.
    Lost {
        /// When that was noticed.
        at: Timestamp,
        /// Who noticed it.
        evidence: Evidence,
    },
    /// There is none: the release would have registered it.
    Absent,
}

/// A live process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    /// The process.
    pub pid: u32,
    /// When it was found to hold this session.
    pub found: Timestamp,
    /// The directory it runs in.
    pub cwd: Option<PathBuf>,
    /// What it says of itself, where its release does.
    pub status: Option<ProcessStatus>,
}

/// A live process's word for what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus {
    /// Busy, idle or waiting.
    pub activity: LiveStatus,
    /// What it waits for.
    pub waiting_for: Option<String>,
    /// Since when.
    pub since: Timestamp,
}

impl LiveProcess {
    /// What a registry record says that was read at `at`.
    pub fn from_record(live: &Live, at: Timestamp) -> Self {
        let status = live.status.map(|activity| ProcessStatus {
            activity,
            waiting_for: live.waiting_for.clone(),
            since: live.status_since.unwrap_or(at),
        });
        Self { pid: live.pid, found: at, cwd: live.cwd.clone(), status }
    }
}
