//! What persons allowed a worker from now on with their answers.

use database::rusqlite::params;

use super::{WorkerStore, WorkerStoreError};
use crate::WorkerId;

/// Migration; nothing is known of what earlier workers were allowed.
pub(super) const STEP: &str = "ALTER TABLE worker ADD COLUMN granted TEXT;";

impl WorkerStore {
    /// Records what an answer allowed from now on, in words.
    pub fn add_granted(&mut self, id: WorkerId, granted: &[String]) -> Result<(), WorkerStoreError> {
        let Some(worker) = self.get(id)? else { return Ok(()) };
        let mut all = worker.granted;
        for words in granted {
            if !all.contains(words) {
                all.push(words.clone());
            }
        }
        let all = self.json(&all)?;
        self.change(|table| {
            table.execute("UPDATE worker SET granted = ?2 WHERE id = ?1", params![id, all]).map(drop)
        })
    }
}
