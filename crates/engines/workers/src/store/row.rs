//! Rows of the worker table and queries for them.

use schemars::JsonSchema;
use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, OptionalExtension as _, Row, params};
use jiff::Timestamp;
use model::{AgentId, SessionId};

use super::{WorkerStore, WorkerStoreError};
use crate::{ProcessIdentity, WorkerId, WorkerSpec, WorkerState};

const COLUMNS: &str = "id, session_id, state, place, slot, working_dir, task, spec, message, pending, agent_id, \
    asked, model, version, host, process, created_at, started_at, changed_at, stopped_at, cost_usd, turns, budget_usd, \
    granted";

/// A worker as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// Numeric id of the worker.
    pub id: WorkerId,
    /// Id of the session.
    pub session: SessionId,
    /// State of the worker.
    pub state: WorkerState,
    /// The worker's claim on its directory; `None` once it has ended.
    pub slot_state: Option<SlotState>,
    /// The directory that one worker at a time may use: the root of the work tree.
    pub slot: PathBuf,
    /// Working directory.
    pub directory: PathBuf,
    /// The task, for display.
    pub task: String,
    /// Specification of the worker.
    pub spec: WorkerSpec,
    /// Id of the first message.
    pub message: String,
    /// A follow-up not yet given to the model: id and text.
    pub follow_up: Option<(String, String)>,
    /// The follow-up last given to the model: id and text.
    pub last_follow_up: Option<(String, String)>,
    /// The agent on whose behalf it works.
    pub agent: Option<AgentId>,
    /// What was allowed from now on by answers to its requests, in words.
    pub granted: Vec<String>,
    /// The Backstory process that hosts the worker.
    pub host: ProcessIdentity,
    /// The worker's own process.
    pub process: Option<ProcessIdentity>,
    /// Model, times and cost.
    pub stats: WorkerStats,
}

/// A worker's claim on its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// The worker uses the directory.
    Running,
    /// The worker is next.
    Queued,
    /// The worker keeps its session but has released the directory.
    Idle,
}

/// Model, times and cost of a worker.
#[derive(Debug, Clone, PartialEq, serde::Serialize, JsonSchema)]
pub struct WorkerStats {
    /// The model.
    pub model: Option<String>,
    /// Release of Claude Code.
    pub version: Option<String>,
    /// When the worker was requested.
    #[serde(serialize_with = "model::time")]
    pub created: Timestamp,
    /// When its process was started.
    #[serde(serialize_with = "model::optional_time")]
    pub started: Option<Timestamp>,
    /// When its state last changed.
    #[serde(serialize_with = "model::time")]
    pub changed: Timestamp,
    /// When it ended.
    #[serde(serialize_with = "model::optional_time")]
    pub stopped: Option<Timestamp>,
    /// Cost in US dollars.
    pub cost_usd: f64,
    /// Number of calls of the model.
    pub turns: u64,
    /// Maximum cost of the session over all its runs, in US dollars.
    pub budget_usd: Option<f64>,
}

impl WorkerStore {
    /// The worker with this id.
    pub fn get(&self, id: WorkerId) -> Result<Option<Worker>, WorkerStoreError> {
        let sql = format!("SELECT {COLUMNS} FROM worker WHERE id = ?1");
        let found = self.connection.query_row(&sql, [id], |row| Ok(worker(row))).optional();
        found.map_err(|error| self.failed(error))?.transpose().map_err(|error| self.failed(error))
    }

    /// The worker whose first message has this id.
    pub fn by_first_message(&self, message: &str) -> Result<Option<Worker>, WorkerStoreError> {
        let id = by_message(&self.connection, message).map_err(|error| self.failed(error))?;
        id.map_or(Ok(None), |id| self.get(id))
    }

    /// Up to `limit` workers, newest first.
    pub fn newest(&self, limit: usize) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("1 ORDER BY id DESC LIMIT ?1", params![i64::try_from(limit).unwrap_or(i64::MAX)])
    }

    /// Workers that hold a directory or session, oldest first.
    pub fn active(&self) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("place IS NOT NULL ORDER BY id", params![])
    }

    /// Workers of a session, newest first.
    pub fn by_session(&self, session: &SessionId) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("session_id = ?1 ORDER BY id DESC", params![session.as_str()])
    }

    /// Idle workers that have released this directory.
    pub fn idle_in(&self, slot: &Path) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("slot = ?1 AND place = 'idle' ORDER BY id", params![bytes(slot)])
    }

    /// Cost of a session over all its workers, in US dollars.
    pub fn session_cost(&self, session: &SessionId) -> Result<f64, WorkerStoreError> {
        let sql = "SELECT coalesce(sum(cost_usd), 0) FROM worker WHERE session_id = ?1";
        self.connection
            .query_row(sql, [session.as_str()], |row| row.get(0))
            .map_err(|error| self.failed(error))
    }

    pub(super) fn select(
        &self,
        how: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<Worker>, WorkerStoreError> {
        let select = || {
            let mut statement =
                self.connection.prepare(&format!("SELECT {COLUMNS} FROM worker WHERE {how}"))?;
            let rows = statement.query_map(values, |row| Ok(worker(row)))?;
            // A row in the format of a newer Backstory is skipped.
            Ok(rows.filter_map(|row| row.ok()?.ok()).collect())
        };
        select().map_err(|error: rusqlite::Error| self.failed(error))
    }
}

pub(super) fn by_message(table: &Connection, message: &str) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE message = ?1 ORDER BY id LIMIT 1";
    table.query_row(sql, [message], |row| row.get(0)).optional()
}

/// The worker that holds a session or waits for it.
pub(super) fn holder(table: &Connection, session: &SessionId) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE session_id = ?1 AND place IS NOT NULL ORDER BY id LIMIT 1";
    table.query_row(sql, [session.as_str()], |row| row.get(0)).optional()
}

/// A path as stored. Invalid UTF-8 is replaced; `claude` cannot work in such a directory anyway.
pub(super) fn bytes(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn worker(row: &Row<'_>) -> Result<Worker, Box<dyn std::error::Error + Send + Sync>> {
    let text = |name: &str| row.get::<_, String>(name);
    let maybe = |name: &str| row.get::<_, Option<String>>(name);
    let time = |name: &str| -> Result<Option<Timestamp>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(maybe(name)?.map(|text| text.parse()).transpose()?)
    };
    Ok(Worker {
        id: row.get("id")?,
        session: text("session_id")?.parse()?,
        state: serde_json::from_str(&text("state")?)?,
        slot_state: match maybe("place")?.as_deref() {
            Some("running") => Some(SlotState::Running),
            Some("queued") => Some(SlotState::Queued),
            Some(_) => Some(SlotState::Idle),
            None => None,
        },
        slot: text("slot")?.into(),
        directory: text("working_dir")?.into(),
        task: text("task")?,
        spec: serde_json::from_str(&text("spec")?)?,
        message: text("message")?,
        follow_up: maybe("pending")?.map(|text| serde_json::from_str(&text)).transpose()?,
        last_follow_up: maybe("asked")?.map(|text| serde_json::from_str(&text)).transpose()?,
        agent: maybe("agent_id")?.map(|text| text.parse()).transpose()?,
        granted: maybe("granted")?.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default(),
        host: serde_json::from_str(&text("host")?)?,
        process: maybe("process")?.map(|text| serde_json::from_str(&text)).transpose()?,
        stats: WorkerStats {
            model: maybe("model")?,
            version: maybe("version")?,
            created: text("created_at")?.parse()?,
            started: time("started_at")?,
            changed: text("changed_at")?.parse()?,
            stopped: time("stopped_at")?,
            cost_usd: row.get("cost_usd")?,
            turns: u64::try_from(row.get::<_, i64>("turns")?).unwrap_or_default(),
            budget_usd: row.get("budget_usd")?,
        },
    })
}
