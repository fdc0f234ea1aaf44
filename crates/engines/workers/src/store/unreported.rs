//! Which workers of OpenClaw's agents have ended without its registry having been told.

use database::rusqlite::params;

use super::{Worker, WorkerStore, WorkerStoreError};
use crate::WorkerId;

/// Those that had ended before this was kept count of are nobody's to tell.
pub(super) const STEP: &str = "
    ALTER TABLE worker ADD COLUMN asked TEXT;
    ALTER TABLE worker ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
    UPDATE worker SET told = 1 WHERE stopped_at IS NOT NULL;
";

impl WorkerStore {
    /// The agents' workers whose end the registry has not been told.
    pub fn unreported(&self) -> Result<Vec<Worker>, WorkerStoreError> {
        let ended = "agent_id IS NOT NULL AND started_at IS NOT NULL AND stopped_at IS NOT NULL AND told = 0";
        self.select(&format!("{ended} ORDER BY id"), params![])
    }

    /// The registry has been told a worker's end.
    pub fn mark_reported(&mut self, id: WorkerId) -> Result<(), WorkerStoreError> {
        self.change(|table| table.execute("UPDATE worker SET told = 1 WHERE id = ?1", [id]).map(drop))
    }
}
