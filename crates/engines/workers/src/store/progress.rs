//! Records the course of a running worker: its process, states, cost and messages.

use database::rusqlite::params;
use jiff::Timestamp;

use super::{WorkerStore, WorkerStoreError};
use crate::{PermissionMode, ProcessIdentity, WorkerId, WorkerState};

impl WorkerStore {
    /// Records the process of a worker.
    pub fn set_process(
        &mut self,
        id: WorkerId,
        process: &ProcessIdentity,
        now: Timestamp,
    ) -> Result<(), WorkerStoreError> {
        let life = self.json(process)?;
        self.change(|table| {
            let sql = "UPDATE worker SET process = ?2, pid = ?3, started_at = ?4 WHERE id = ?1";
            table.execute(sql, params![id, life, process.pid, now.to_string()]).map(drop)
        })
    }

    /// Records a state; a final state frees the worker's directory and session.
    pub fn set_state(
        &mut self,
        id: WorkerId,
        state: &WorkerState,
        now: Timestamp,
    ) -> Result<(), WorkerStoreError> {
        let text = self.json(state)?;
        let keeps_place = !state.is_over() || matches!(state, WorkerState::Lost { is_living: true });
        self.change(|table| {
            let sql = "UPDATE worker SET status = ?2, state = ?3, changed_at = ?4, \
                place = CASE WHEN ?5 THEN place END, stopped_at = CASE WHEN ?5 THEN stopped_at ELSE ?4 END \
                WHERE id = ?1";
            table.execute(sql, params![id, state.as_str(), text, now.to_string(), keeps_place]).map(drop)
        })
    }

    /// Records the cost in US dollars and the number of calls of the model.
    pub fn set_cost(&mut self, id: WorkerId, cost_usd: f64, turns: u64) -> Result<(), WorkerStoreError> {
        let turns = i64::try_from(turns).unwrap_or(i64::MAX);
        self.change(|table| {
            let sql = "UPDATE worker SET cost_usd = ?2, turns = ?3 WHERE id = ?1";
            table.execute(sql, params![id, cost_usd, turns]).map(drop)
        })
    }

    /// Records the model and the release of Claude Code.
    pub fn set_model(
        &mut self,
        id: WorkerId,
        model: Option<&str>,
        version: Option<&str>,
    ) -> Result<(), WorkerStoreError> {
        self.change(|table| {
            let sql = "UPDATE worker SET model = coalesce(?2, model), version = ?3 WHERE id = ?1";
            table.execute(sql, params![id, model, version]).map(drop)
        })
    }

    /// Records the permission mode that the worker is in, with which it is started again after a crash.
    pub fn set_mode(&mut self, id: WorkerId, mode: PermissionMode) -> Result<(), WorkerStoreError> {
        let Some(mut worker) = self.get(id)? else { return Ok(()) };
        if worker.spec.options.permission_mode == mode {
            return Ok(());
        }
        worker.spec.options.permission_mode = mode;
        let spec = self.json(&worker.spec)?;
        self.change(|table| {
            table.execute("UPDATE worker SET spec = ?2 WHERE id = ?1", params![id, spec]).map(drop)
        })
    }

    /// Records a follow-up that the model has not been given yet.
    pub fn queue_follow_up(
        &mut self,
        id: WorkerId,
        message: &str,
        text: &str,
    ) -> Result<(), WorkerStoreError> {
        let pending = self.json(&(message, text))?;
        self.change(|table| {
            table.execute("UPDATE worker SET pending = ?2 WHERE id = ?1", params![id, pending]).map(drop)
        })
    }

    /// Records that the model was given the follow-up, or that another worker has it.
    pub fn mark_follow_up_delivered(&mut self, id: WorkerId) -> Result<(), WorkerStoreError> {
        self.change(|table| {
            let sql = "UPDATE worker SET asked = coalesce(pending, asked), pending = NULL WHERE id = ?1";
            table.execute(sql, [id]).map(drop)
        })
    }
}
