//! All that the monitor knows at one moment.

use model::{SessionInfo, Watching};

/// How things stand.
#[derive(Debug, Clone, Default)]
pub struct MonitorSnapshot {
    /// The sessions that are watched closely: live ones, and those of the last hour.
    pub sessions: Vec<SessionInfo>,
    /// How the files are watched.
    pub watching: Option<Watching>,
    /// Transcripts that are known.
    pub files: usize,
    /// Records that were read while watching.
    pub records: u64,
}
