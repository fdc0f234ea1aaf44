//! The monitor's knowledge at one time.

use model::{SessionInfo, WatchStatus};

/// The monitor's knowledge at one time.
#[derive(Debug, Clone, Default)]
pub struct MonitorSnapshot {
    /// Closely watched sessions: live ones and those active in the last hour.
    pub sessions: Vec<SessionInfo>,
    /// How files are watched.
    pub watching: Option<WatchStatus>,
    /// Number of known transcripts.
    pub files: usize,
    /// Number of records read while watching.
    pub records: u64,
}
