//! Tracks which agents' workers have ended without OpenClaw's registry having been updated.

use database::rusqlite::params;

use super::{Worker, WorkerStore, WorkerStoreError};
use crate::WorkerId;

/// Migration; workers that had ended before count as reported.
pub(super) const STEP: &str = "
    ALTER TABLE worker ADD COLUMN asked TEXT;
    ALTER TABLE worker ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
    UPDATE worker SET told = 1 WHERE stopped_at IS NOT NULL;
";

impl WorkerStore {
    /// Agents' workers whose end is not recorded in OpenClaw's registry.
    pub fn unreported(&self) -> Result<Vec<Worker>, WorkerStoreError> {
        let ended = "agent_id IS NOT NULL AND started_at IS NOT NULL AND stopped_at IS NOT NULL AND told = 0";
        self.select(&format!("{ended} ORDER BY id"), params![])
    }

    /// Records that OpenClaw's registry has a worker's end.
    pub fn mark_reported(&mut self, id: WorkerId) -> Result<(), WorkerStoreError> {
        self.change(|table| table.execute("UPDATE worker SET told = 1 WHERE id = ?1", [id]).map(drop))
    }
}
