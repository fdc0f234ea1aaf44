//! Takes over workers whose host process is gone; of several processes that try, only one succeeds.

use database::rusqlite::params;
use jiff::Timestamp;
use model::SessionId;

use super::{Worker, WorkerStore, WorkerStoreError};
use crate::{ProcessIdentity, SessionStart, WorkerId, WorkerSpec, WorkerState};

impl WorkerStore {
    /// Changes the host of a worker; returns false if another process has changed it first.
    pub fn hand_over(
        &mut self,
        id: WorkerId,
        from: &ProcessIdentity,
        to: &ProcessIdentity,
    ) -> Result<bool, WorkerStoreError> {
        let (from, to) = (self.json(from)?, self.json(to)?);
        self.change(|table| {
            let sql = "UPDATE worker SET host = ?3 WHERE id = ?1 AND host = ?2 AND place IS NOT NULL";
            table.execute(sql, params![id, from, to]).map(|rows| rows == 1)
        })
    }

    /// Queues a lost worker whose first message never arrived. An idle one claims its directory again or
    /// waits for it.
    ///
    /// Returns false if another process has taken it over from `host`.
    pub fn requeue(
        &mut self,
        id: WorkerId,
        host: &ProcessIdentity,
        now: Timestamp,
    ) -> Result<bool, WorkerStoreError> {
        let (state, host) = (self.json(&WorkerState::Queued)?, self.json(host)?);
        self.change(|table| {
            let sql = "UPDATE worker SET status = 'queued', state = ?2, process = NULL, pid = NULL, \
                started_at = NULL, changed_at = ?3, \
                place = CASE WHEN place <> 'idle' THEN place \
                    WHEN slot NOT IN (SELECT slot FROM worker WHERE place = 'running') THEN 'running' \
                    WHEN slot NOT IN (SELECT slot FROM worker WHERE place = 'queued') THEN 'queued' \
                    ELSE place END \
                WHERE id = ?1 AND host = ?4 AND place IS NOT NULL";
            table.execute(sql, params![id, state, now.to_string(), host]).map(|rows| rows == 1)
        })
    }

    /// Gives a worker whose first message never arrived another new session, which its start names; its label goes with
    /// it.
    ///
    /// Returns false if another process has taken the worker over from `host`.
    pub fn replace_session(
        &mut self,
        worker: &Worker,
        start: SessionStart,
        session: &SessionId,
    ) -> Result<bool, WorkerStoreError> {
        let spec = self.json(&WorkerSpec { start, ..worker.spec.clone() })?;
        let host = self.json(&worker.host)?;
        self.change(|table| {
            let sql = "UPDATE worker SET session_id = ?2, spec = ?3 WHERE id = ?1 AND host = ?4 AND place IS NOT NULL";
            let rows = table.execute(sql, params![worker.id, session.as_str(), spec, host])?;
            let sql = "UPDATE label SET session_id = ?2 WHERE session_id = ?1 AND ?3";
            table.execute(sql, params![worker.session.as_str(), session.as_str(), rows == 1])?;
            Ok(rows == 1)
        })
    }

    /// Swaps a queued worker with the requeued worker ahead of it, which no process runs.
    ///
    /// Returns false if another process has taken that worker over from `host`.
    pub fn overtake(
        &mut self,
        id: WorkerId,
        other: WorkerId,
        host: &ProcessIdentity,
    ) -> Result<bool, WorkerStoreError> {
        let host = self.json(host)?;
        self.change(|table| {
            let sql = "UPDATE worker SET place = NULL WHERE id = ?1 AND host = ?2 AND place = 'running' \
                AND status = 'queued' AND slot = (SELECT slot FROM worker WHERE id = ?3 AND place = 'queued')";
            if table.execute(sql, params![other, host, id])? == 0 {
                return Ok(false);
            }
            table.execute("UPDATE worker SET place = 'running' WHERE id = ?1", [id])?;
            table.execute("UPDATE worker SET place = 'queued' WHERE id = ?1", [other])?;
            Ok(true)
        })
    }

    /// Marks a worker as lost. If its own `process` is still alive, the worker keeps its directory.
    ///
    /// Returns false if another process has taken it over from `host`.
    pub fn mark_lost(
        &mut self,
        id: WorkerId,
        host: &ProcessIdentity,
        process: Option<&ProcessIdentity>,
        now: Timestamp,
    ) -> Result<bool, WorkerStoreError> {
        let state = self.json(&WorkerState::Lost { is_living: process.is_some() })?;
        let (host, life) = (self.json(host)?, process.map(|process| self.json(process)).transpose()?);
        self.change(|table| {
            let sql = "UPDATE worker SET status = 'lost', state = ?3, changed_at = ?4, \
                place = CASE WHEN ?5 IS NULL THEN NULL ELSE place END, \
                stopped_at = CASE WHEN ?5 IS NULL THEN ?4 ELSE stopped_at END, \
                started_at = CASE WHEN ?5 IS NULL THEN started_at ELSE coalesce(started_at, ?4) END, \
                process = coalesce(?5, process), pid = coalesce(?6, pid) \
                WHERE id = ?1 AND host = ?2 AND place IS NOT NULL";
            let pid = process.map(|process| process.pid);
            let rows = table.execute(sql, params![id, host, state, now.to_string(), life, pid])?;
            Ok(rows == 1)
        })
    }
}
