//! Assigns directories to workers and queues those that have to wait.
//!
//! Unique indexes guarantee, across processes, at most one running and one queued worker per directory and
//! one worker per session.

use std::path::Path;

use database::rusqlite::{self, Connection, OptionalExtension as _, params};
use jiff::Timestamp;
use model::{AgentId, SessionId};

use super::row::{by_message, bytes, holder};
use super::{WorkerStore, WorkerStoreError, labels};
use crate::{ProcessIdentity, WorkerId, WorkerSpec, WorkerState};

/// A request to add a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWorker<'a> {
    /// Specification of the worker.
    pub spec: &'a WorkerSpec,
    /// Id of the session.
    pub session: &'a SessionId,
    /// The directory that one worker at a time may use.
    pub slot: &'a Path,
    /// Id of the first message.
    pub message: &'a str,
    /// The calling process.
    pub host: &'a ProcessIdentity,
}

/// The result of adding a worker.
#[derive(Debug, Clone, PartialEq)]
pub enum AddOutcome {
    /// The worker can start.
    Ready(WorkerId),
    /// The worker waits for the second one.
    Queued(WorkerId, WorkerId),
    /// One worker runs in the directory and another waits already.
    Full {
        /// The running worker.
        running: WorkerId,
        /// The waiting worker.
        queued: WorkerId,
    },
    /// This worker holds the session, or another session with the same label.
    InUse(WorkerId),
}

/// The result of a queued worker's claim on its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotClaim {
    /// The directory is granted.
    Granted,
    /// This worker has the directory.
    Behind(WorkerId),
    /// The worker no longer waits, because it was cancelled.
    Over,
}

impl WorkerStore {
    /// Adds a worker, or returns the existing one with the same first message.
    pub fn add(&mut self, wanted: &NewWorker<'_>, now: Timestamp) -> Result<AddOutcome, WorkerStoreError> {
        let spec = self.json(wanted.spec)?;
        let state = self.json(&WorkerState::Queued)?;
        let host = self.json(wanted.host)?;
        self.change(|table| {
            if let Some(id) = by_message(table, wanted.message)? {
                return Ok(AddOutcome::Ready(id));
            }
            if let Some(holder) = holder(table, wanted.session)? {
                return Ok(AddOutcome::InUse(holder));
            }
            let slot = bytes(wanted.slot);
            if let Some(holder) = labels::beginner(table, &slot, wanted.spec)? {
                return Ok(AddOutcome::InUse(holder));
            }
            let running = match (in_place(table, &slot, "running")?, in_place(table, &slot, "queued")?) {
                (Some(running), Some(queued)) => return Ok(AddOutcome::Full { running, queued }),
                // The directory has just become free; the queued worker goes first.
                (None, Some(queued)) => {
                    table.execute("UPDATE worker SET place = 'running' WHERE id = ?1", [queued])?;
                    Some(queued)
                }
                (running, None) => running,
            };
            table.execute(
                "INSERT INTO worker (session_id, status, state, place, slot, working_dir, task, spec, message, \
                 agent_id, model, host, created_at, changed_at, budget_usd) \
                 VALUES (?1, 'queued', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13)",
                params![
                    wanted.session.as_str(),
                    state,
                    if running.is_some() { "queued" } else { "running" },
                    slot,
                    bytes(&wanted.spec.directory),
                    wanted.spec.task,
                    spec,
                    wanted.message,
                    wanted.spec.agent.as_ref().map(AgentId::as_str),
                    wanted.spec.options.model,
                    host,
                    now.to_string(),
                    wanted.spec.options.budget_usd,
                ],
            )?;
            let id = table.last_insert_rowid();
            labels::give(table, &slot, wanted.spec, wanted.session)?;
            Ok(match running {
                Some(other) => AddOutcome::Queued(id, other),
                None => AddOutcome::Ready(id),
            })
        })
    }

    /// Claims the directory for a queued worker if it is free.
    pub fn claim_slot(&mut self, id: WorkerId, now: Timestamp) -> Result<SlotClaim, WorkerStoreError> {
        self.change(|table| {
            let sql = "SELECT slot, place FROM worker WHERE id = ?1 AND place IS NOT NULL";
            let mine: Option<(String, String)> =
                table.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((slot, place)) = mine else { return Ok(SlotClaim::Over) };
            if place == "running" {
                return Ok(SlotClaim::Granted);
            }
            if let Some(other) = in_place(table, &slot, "running")? {
                return Ok(SlotClaim::Behind(other));
            }
            // One that begins again while another one waits already comes after that.
            if place == "idle"
                && let Some(other) = in_place(table, &slot, "queued")?
            {
                return Ok(SlotClaim::Behind(other));
            }
            let sql = "UPDATE worker SET place = 'running', changed_at = ?2 WHERE id = ?1";
            table.execute(sql, params![id, now.to_string()])?;
            Ok(SlotClaim::Granted)
        })
    }

    /// Releases the directory of a worker that keeps its session.
    pub fn release_slot(&mut self, id: WorkerId) -> Result<(), WorkerStoreError> {
        self.change(|table| {
            table
                .execute("UPDATE worker SET place = 'idle' WHERE id = ?1 AND place = 'running'", [id])
                .map(drop)
        })
    }

    /// Claims the directory again for an idle worker; returns the worker that has or waits for it if it is
    /// taken.
    pub fn reclaim_slot(&mut self, id: WorkerId) -> Result<Option<WorkerId>, WorkerStoreError> {
        self.change(|table| {
            let slot: Option<String> = table
                .query_row("SELECT slot FROM worker WHERE id = ?1 AND place = 'idle'", [id], |row| row.get(0))
                .optional()?;
            let Some(slot) = slot else { return Ok(None) };
            if let Some(other) = in_place(table, &slot, "running")?.or(in_place(table, &slot, "queued")?) {
                return Ok(Some(other));
            }
            table.execute("UPDATE worker SET place = 'running' WHERE id = ?1", [id])?;
            Ok(None)
        })
    }

    /// Cancels a queued worker; returns false if it is no longer queued.
    pub fn cancel(&mut self, id: WorkerId, now: Timestamp) -> Result<bool, WorkerStoreError> {
        let state = self.json(&WorkerState::Stopped)?;
        self.change(|table| {
            let sql = "UPDATE worker SET status = 'stopped', state = ?2, place = NULL, changed_at = ?3, \
                stopped_at = ?3 WHERE id = ?1 AND place = 'queued'";
            table.execute(sql, params![id, state, now.to_string()]).map(|rows| rows == 1)
        })
    }
}

fn in_place(table: &Connection, slot: &str, place: &str) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE slot = ?1 AND place = ?2";
    table.query_row(sql, [slot, place], |row| row.get(0)).optional()
}
