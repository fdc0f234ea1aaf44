//! A worker as the table knows it, and the questions that find one.

use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, OptionalExtension as _, Row, params};
use jiff::Timestamp;
use model::{AgentId, SessionId};

use super::{WorkerStore, WorkerStoreError};
use crate::{ProcessIdentity, WorkerId, WorkerSpec, WorkerState};

const COLUMNS: &str = "id, session_id, state, place, slot, working_dir, task, spec, message, pending, agent_id, \
    asked, model, version, host, process, created_at, started_at, changed_at, stopped_at, cost_usd, turns, budget_usd";

/// A worker as the table knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// Its number.
    pub id: WorkerId,
    /// Its session.
    pub session: SessionId,
    /// Its state.
    pub state: WorkerState,
    /// What it has of its directory.
    pub slot_state: Option<SlotState>,
    /// The directory of which one worker has the use: the root of the work tree.
    pub slot: PathBuf,
    /// The directory it works in.
    pub directory: PathBuf,
    /// What it is to do, for people.
    pub task: String,
    /// What it is to do, and how.
    pub spec: WorkerSpec,
    /// The id of its first message.
    pub message: String,
    /// A follow-up that the model has not been given: its id and its text.
    pub follow_up: Option<(String, String)>,
    /// The follow-up that the model was given last: its id and its text.
    pub last_follow_up: Option<(String, String)>,
    /// The agent it works for.
    pub agent: Option<AgentId>,
    /// The Backstory that runs it, or waits with it.
    pub host: ProcessIdentity,
    /// Its process.
    pub process: Option<ProcessIdentity>,
    /// What has become of it.
    pub stats: WorkerStats,
}

/// What a worker has of its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// It works there.
    Running,
    /// It is the next.
    Queued,
    /// It has its session still, and the directory no more.
    Idle,
}

/// What has become of a worker so far: who answers, when, how often and for how much.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WorkerStats {
    /// The model that answers.
    pub model: Option<String>,
    /// The release of Claude Code.
    pub version: Option<String>,
    /// When it was asked for.
    pub created: Timestamp,
    /// When its process was started.
    pub started: Option<Timestamp>,
    /// When its state last changed.
    pub changed: Timestamp,
    /// When it ended.
    pub stopped: Option<Timestamp>,
    /// What it has cost, in US dollars.
    pub cost_usd: f64,
    /// How many times the model was called.
    pub turns: u64,
    /// What the session may cost over all its runs, in US dollars.
    pub budget_usd: Option<f64>,
}

impl WorkerStore {
    /// One worker.
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

    /// All workers, newest first, at most `limit`.
    pub fn newest(&self, limit: usize) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("1 ORDER BY id DESC LIMIT ?1", params![i64::try_from(limit).unwrap_or(i64::MAX)])
    }

    /// The workers that have a directory or a session, oldest first.
    pub fn active(&self) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("place IS NOT NULL ORDER BY id", params![])
    }

    /// The workers of a session, newest first.
    pub fn by_session(&self, session: &SessionId) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("session_id = ?1 ORDER BY id DESC", params![session.as_str()])
    }

    /// The workers that have done with a directory and live on.
    pub fn idle_in(&self, slot: &Path) -> Result<Vec<Worker>, WorkerStoreError> {
        self.select("slot = ?1 AND place = 'idle' ORDER BY id", params![bytes(slot)])
    }

    /// What a session has cost over all its workers, in US dollars.
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
            // A row that a later Backstory wrote in a way we do not know is passed over.
            Ok(rows.filter_map(|row| row.ok()?.ok()).collect())
        };
        select().map_err(|error: rusqlite::Error| self.failed(error))
    }
}

pub(super) fn by_message(table: &Connection, message: &str) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE message = ?1 ORDER BY id LIMIT 1";
    table.query_row(sql, [message], |row| row.get(0)).optional()
}

/// The worker that has a session, or waits for it.
pub(super) fn holder(table: &Connection, session: &SessionId) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE session_id = ?1 AND place IS NOT NULL ORDER BY id LIMIT 1";
    table.query_row(sql, [session.as_str()], |row| row.get(0)).optional()
}

/// A path as the table keeps it. One that is no UTF-8 is kept as it is shown: `claude` cannot work in such a
/// directory either.
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
