//! The store of workers: task and state of each, and which worker has which directory and session.
//!
//! Every change is one transaction. `slots` assigns directories, `progress` records the course of a running
//! worker, `takeover` handles workers whose host process is gone.

use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, TransactionBehavior};
use model::SessionId;

use crate::WorkerId;

mod announcements;
mod granted;
mod labels;
mod progress;
mod row;
mod slots;
mod takeover;
mod unreported;

pub use announcements::StoredAnnouncement;
pub use row::{SlotState, Worker, WorkerStats};
pub use slots::{AddOutcome, NewWorker, SlotClaim};

/// Name of the database file in Backstory's state folder.
pub const FILE: &str = "workers.sqlite";

const STEPS: [&str; 5] = [WORKERS, labels::STEP, unreported::STEP, announcements::STEP, granted::STEP];
const WORKERS: &str = "
    CREATE TABLE worker (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL,
        status TEXT NOT NULL,
        state TEXT NOT NULL,
        place TEXT CHECK (place IN ('running', 'queued', 'idle')),
        slot TEXT NOT NULL,
        working_dir TEXT NOT NULL,
        task TEXT NOT NULL,
        spec TEXT NOT NULL,
        message TEXT NOT NULL,
        pending TEXT,
        agent_id TEXT,
        model TEXT,
        version TEXT,
        host TEXT NOT NULL,
        process TEXT,
        pid INTEGER,
        created_at TEXT NOT NULL,
        started_at TEXT,
        changed_at TEXT NOT NULL,
        stopped_at TEXT,
        cost_usd REAL NOT NULL DEFAULT 0,
        turns INTEGER NOT NULL DEFAULT 0,
        budget_usd REAL
    ) STRICT;
    CREATE UNIQUE INDEX worker_runs ON worker(slot) WHERE place = 'running';
    CREATE UNIQUE INDEX worker_waits ON worker(slot) WHERE place = 'queued';
    CREATE UNIQUE INDEX worker_writes ON worker(session_id) WHERE place IS NOT NULL;
    CREATE INDEX worker_session ON worker(session_id);
";
/// The worker store could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the table of workers {}", path.display())]
pub struct WorkerStoreError {
    /// Path of the database file.
    path: PathBuf,
    /// The underlying error.
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// An open worker store.
#[derive(Debug)]
pub struct WorkerStore {
    connection: Connection,
    path: PathBuf,
}

impl WorkerStore {
    /// Opens the store and creates it if it is missing.
    pub fn open(path: &Path) -> Result<Self, WorkerStoreError> {
        let opened = database::open_precious(path, &STEPS);
        let opened =
            opened.map_err(|error| WorkerStoreError { path: path.to_owned(), source: error.into() })?;
        Ok(Self { connection: opened.connection, path: path.to_owned() })
    }

    /// Returns a number that changes when another process changes the store.
    pub fn data_version(&self) -> Result<i64, WorkerStoreError> {
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0));
        version.map_err(|error| self.failed(error))
    }

    /// Deletes the ended workers of a session with their messages; returns their ids.
    pub fn forget_session(&mut self, session: &SessionId) -> Result<Vec<WorkerId>, WorkerStoreError> {
        let ended: Vec<WorkerId> = self
            .by_session(session)?
            .into_iter()
            .filter(|worker| worker.slot_state.is_none())
            .map(|worker| worker.id)
            .collect();
        self.change(|table| {
            table.execute("DELETE FROM label WHERE session_id = ?1", [session.as_str()])?;
            for id in &ended {
                table.execute("DELETE FROM announcement WHERE worker = ?1", [*id])?;
                table.execute("DELETE FROM worker WHERE id = ?1", [*id])?;
            }
            Ok(())
        })?;
        Ok(ended)
    }

    /// Rewrites the file without what was deleted in it.
    pub fn compact(&mut self) -> Result<(), WorkerStoreError> {
        let compacted = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        compacted.map_err(|error| self.failed(error))
    }

    fn change<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, WorkerStoreError> {
        let path = self.path.clone();
        let change = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        change().map_err(|error: rusqlite::Error| WorkerStoreError { path, source: error.into() })
    }

    fn json(&self, value: &impl serde::Serialize) -> Result<String, WorkerStoreError> {
        serde_json::to_string(value).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> WorkerStoreError {
        WorkerStoreError { path: self.path.clone(), source: error.into() }
    }
}

#[cfg(test)]
mod tests;
