//! The table of workers: what each is to do, in what state it is, and who has which directory and which session.
//!
//! The table itself sees to it, over all processes: of one directory at most one worker runs and one waits, and no
//! session has two workers. Every change is one transaction.

use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use jiff::Timestamp;
use model::{AgentId, SessionId};

use crate::{Life, WorkerId, WorkerSpec, WorkerState};

mod labels;
mod telling;

/// The table's file in Backstory's own folder.
pub const FILE: &str = "workers.sqlite";

const STEPS: [&str; 3] = [WORKERS, labels::STEP, telling::STEP];
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
const COLUMNS: &str = "id, session_id, state, place, slot, working_dir, task, spec, message, pending, agent_id, \
    asked, model, version, host, process, created_at, started_at, changed_at, stopped_at, cost_usd, turns, budget_usd";

/// The table could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the table of workers {}", path.display())]
pub struct TableError {
    /// Its file.
    path: PathBuf,
    /// Why not.
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The open table.
#[derive(Debug)]
pub struct Table {
    connection: Connection,
    path: PathBuf,
}

/// What a worker has of its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// It works there.
    Running,
    /// It is the next.
    Queued,
    /// It has its session still, and the directory no more.
    Idle,
}

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
    pub place: Option<Place>,
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
    pub pending: Option<(String, String)>,
    /// The follow-up that the model was given last: its id and its text.
    pub asked: Option<(String, String)>,
    /// The agent it works for.
    pub agent: Option<AgentId>,
    /// The model that answers.
    pub model: Option<String>,
    /// The release of Claude Code.
    pub version: Option<String>,
    /// The Backstory that runs it, or waits with it.
    pub host: Life,
    /// Its process.
    pub process: Option<Life>,
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

/// A worker that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted<'a> {
    /// What it is to do.
    pub spec: &'a WorkerSpec,
    /// Its session.
    pub session: &'a SessionId,
    /// The directory of which one worker has the use.
    pub slot: &'a Path,
    /// The id of its first message.
    pub message: &'a str,
    /// The Backstory that asks.
    pub host: &'a Life,
}

/// What came of asking for a worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Added {
    /// It can begin.
    Begins(WorkerId),
    /// It waits for the other one.
    Waits(WorkerId, WorkerId),
    /// One works there and another waits already.
    Full {
        /// Who works.
        running: WorkerId,
        /// Who waits.
        queued: WorkerId,
    },
    /// This worker has the session, or another session that goes by the same label.
    Held(WorkerId),
}

/// What one who waits finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The directory is theirs.
    Begins,
    /// This worker has the directory.
    Behind(WorkerId),
    /// They do not wait any more: somebody ended it.
    Over,
}

impl Table {
    /// Opens the table, which is made when it is missing.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let opened = database::open_precious(path, &STEPS);
        let opened = opened.map_err(|error| TableError { path: path.to_owned(), source: error.into() })?;
        Ok(Self { connection: opened.connection, path: path.to_owned() })
    }

    /// Asks for a worker. One that was asked for by the same message is it already.
    pub fn add(&mut self, wanted: &Wanted<'_>, now: Timestamp) -> Result<Added, TableError> {
        let spec = self.json(wanted.spec)?;
        let state = self.json(&WorkerState::Queued)?;
        let host = self.json(wanted.host)?;
        self.change(|table| {
            if let Some(id) = by_message(table, wanted.message)? {
                return Ok(Added::Begins(id));
            }
            if let Some(holder) = holder(table, wanted.session)? {
                return Ok(Added::Held(holder));
            }
            let slot = bytes(wanted.slot);
            if let Some(holder) = labels::beginner(table, &slot, wanted.spec)? {
                return Ok(Added::Held(holder));
            }
            let running = match (in_place(table, &slot, "running")?, in_place(table, &slot, "queued")?) {
                (Some(running), Some(queued)) => return Ok(Added::Full { running, queued }),
                // The directory has just become free: it is theirs who wait, not ours who come now.
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
                Some(other) => Added::Waits(id, other),
                None => Added::Begins(id),
            })
        })
    }

    /// Whether the directory is free for one who waits; then it is theirs.
    pub fn take_turn(&mut self, id: WorkerId, now: Timestamp) -> Result<Turn, TableError> {
        self.change(|table| {
            let sql = "SELECT slot, place FROM worker WHERE id = ?1 AND place IS NOT NULL";
            let mine: Option<(String, String)> =
                table.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((slot, place)) = mine else { return Ok(Turn::Over) };
            if place != "queued" {
                return Ok(Turn::Begins);
            }
            if let Some(other) = in_place(table, &slot, "running")? {
                return Ok(Turn::Behind(other));
            }
            let sql = "UPDATE worker SET place = 'running', changed_at = ?2 WHERE id = ?1";
            table.execute(sql, params![id, now.to_string()])?;
            Ok(Turn::Begins)
        })
    }

    /// The worker gives its directory back and keeps its session.
    pub fn rest(&mut self, id: WorkerId) -> Result<(), TableError> {
        self.change(|table| {
            table
                .execute("UPDATE worker SET place = 'idle' WHERE id = ?1 AND place = 'running'", [id])
                .map(drop)
        })
    }

    /// The worker takes its directory again; otherwise who has it or waits for it.
    pub fn wake(&mut self, id: WorkerId) -> Result<Option<WorkerId>, TableError> {
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

    /// Keeps which process a worker has.
    pub fn started(&mut self, id: WorkerId, process: &Life, now: Timestamp) -> Result<(), TableError> {
        let life = self.json(process)?;
        self.change(|table| {
            let sql = "UPDATE worker SET process = ?2, pid = ?3, started_at = ?4 WHERE id = ?1";
            table.execute(sql, params![id, life, process.pid, now.to_string()]).map(drop)
        })
    }

    /// Keeps a state; one that is over gives back what the worker has.
    pub fn enter(&mut self, id: WorkerId, state: &WorkerState, now: Timestamp) -> Result<(), TableError> {
        let text = self.json(state)?;
        let keeps_place = !state.is_over() || matches!(state, WorkerState::Lost { is_living: true });
        self.change(|table| {
            let sql = "UPDATE worker SET status = ?2, state = ?3, changed_at = ?4, \
                place = CASE WHEN ?5 THEN place END, stopped_at = CASE WHEN ?5 THEN stopped_at ELSE ?4 END \
                WHERE id = ?1";
            table.execute(sql, params![id, state.word(), text, now.to_string(), keeps_place]).map(drop)
        })
    }

    /// Keeps what a worker has cost and how many times the model was called.
    pub fn spend(&mut self, id: WorkerId, cost_usd: f64, turns: u64) -> Result<(), TableError> {
        let turns = i64::try_from(turns).unwrap_or(i64::MAX);
        self.change(|table| {
            let sql = "UPDATE worker SET cost_usd = ?2, turns = ?3 WHERE id = ?1";
            table.execute(sql, params![id, cost_usd, turns]).map(drop)
        })
    }

    /// Keeps which model answers, and which release of Claude Code it is.
    pub fn answers(
        &mut self,
        id: WorkerId,
        model: Option<&str>,
        version: Option<&str>,
    ) -> Result<(), TableError> {
        self.change(|table| {
            let sql = "UPDATE worker SET model = coalesce(?2, model), version = ?3 WHERE id = ?1";
            table.execute(sql, params![id, model, version]).map(drop)
        })
    }

    /// Keeps a follow-up that the model has to be given.
    pub fn pend(&mut self, id: WorkerId, message: &str, text: &str) -> Result<(), TableError> {
        let pending = self.json(&(message, text))?;
        self.change(|table| {
            table.execute("UPDATE worker SET pending = ?2 WHERE id = ?1", params![id, pending]).map(drop)
        })
    }

    /// The follow-up waits no more: the model was given it, or another worker has it.
    pub fn accept(&mut self, id: WorkerId) -> Result<(), TableError> {
        self.change(|table| {
            let sql = "UPDATE worker SET asked = coalesce(pending, asked), pending = NULL WHERE id = ?1";
            table.execute(sql, [id]).map(drop)
        })
    }

    /// Another Backstory takes the worker over; false where somebody else has done so.
    pub fn hand_over(&mut self, id: WorkerId, from: &Life, to: &Life) -> Result<bool, TableError> {
        let (from, to) = (self.json(from)?, self.json(to)?);
        self.change(|table| {
            let sql = "UPDATE worker SET host = ?3 WHERE id = ?1 AND host = ?2 AND place IS NOT NULL";
            table.execute(sql, params![id, from, to]).map(|rows| rows == 1)
        })
    }

    /// A lost worker whose first message never arrived can begin again.
    ///
    /// False where somebody else has taken it over from `host`, which is gone.
    pub fn again(&mut self, id: WorkerId, host: &Life, now: Timestamp) -> Result<bool, TableError> {
        let (state, host) = (self.json(&WorkerState::Queued)?, self.json(host)?);
        self.change(|table| {
            let sql = "UPDATE worker SET status = 'queued', state = ?2, process = NULL, pid = NULL, \
                started_at = NULL, changed_at = ?3 WHERE id = ?1 AND host = ?4 AND place IS NOT NULL";
            table.execute(sql, params![id, state, now.to_string(), host]).map(|rows| rows == 1)
        })
    }

    /// A worker is lost whose `host` is gone; its `process`, where one was found, lives on and keeps its place.
    ///
    /// False where somebody else has taken it over from that host.
    pub fn lose(
        &mut self,
        id: WorkerId,
        host: &Life,
        process: Option<&Life>,
        now: Timestamp,
    ) -> Result<bool, TableError> {
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

    /// Ends a worker that waits; false where it does not wait any more.
    pub fn cancel(&mut self, id: WorkerId, now: Timestamp) -> Result<bool, TableError> {
        let state = self.json(&WorkerState::Stopped)?;
        self.change(|table| {
            let sql = "UPDATE worker SET status = 'stopped', state = ?2, place = NULL, changed_at = ?3, \
                stopped_at = ?3 WHERE id = ?1 AND place = 'queued'";
            table.execute(sql, params![id, state, now.to_string()]).map(|rows| rows == 1)
        })
    }

    /// A number that changes with every change that others make.
    pub fn version(&self) -> Result<i64, TableError> {
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0));
        version.map_err(|error| self.failed(error))
    }

    /// One worker.
    pub fn get(&self, id: WorkerId) -> Result<Option<Worker>, TableError> {
        let sql = format!("SELECT {COLUMNS} FROM worker WHERE id = ?1");
        let found = self.connection.query_row(&sql, [id], |row| Ok(worker(row))).optional();
        found.map_err(|error| self.failed(error))?.transpose().map_err(|error| self.failed(error))
    }

    /// The worker whose first message has this id.
    pub fn of_message(&self, message: &str) -> Result<Option<Worker>, TableError> {
        let id = by_message(&self.connection, message).map_err(|error| self.failed(error))?;
        id.map_or(Ok(None), |id| self.get(id))
    }

    /// All workers, newest first, at most `limit`.
    pub fn all(&self, limit: usize) -> Result<Vec<Worker>, TableError> {
        self.select("1 ORDER BY id DESC LIMIT ?1", params![i64::try_from(limit).unwrap_or(i64::MAX)])
    }

    /// The workers that have a directory or a session, oldest first.
    pub fn living(&self) -> Result<Vec<Worker>, TableError> {
        self.select("place IS NOT NULL ORDER BY id", params![])
    }

    /// The workers of a session, newest first.
    pub fn of_session(&self, session: &SessionId) -> Result<Vec<Worker>, TableError> {
        self.select("session_id = ?1 ORDER BY id DESC", params![session.as_str()])
    }

    /// The workers that have done with a directory and live on.
    pub fn idle_in(&self, slot: &Path) -> Result<Vec<Worker>, TableError> {
        self.select("slot = ?1 AND place = 'idle' ORDER BY id", params![bytes(slot)])
    }

    /// What a session has cost over all its workers, in US dollars.
    pub fn spent(&self, session: &SessionId) -> Result<f64, TableError> {
        let sql = "SELECT coalesce(sum(cost_usd), 0) FROM worker WHERE session_id = ?1";
        self.connection
            .query_row(sql, [session.as_str()], |row| row.get(0))
            .map_err(|error| self.failed(error))
    }

    fn select(&self, how: &str, values: impl rusqlite::Params) -> Result<Vec<Worker>, TableError> {
        let select = || {
            let mut statement =
                self.connection.prepare(&format!("SELECT {COLUMNS} FROM worker WHERE {how}"))?;
            let rows = statement.query_map(values, |row| Ok(worker(row)))?;
            // A row that a later Backstory wrote in a way we do not know is passed over.
            Ok(rows.filter_map(|row| row.ok()?.ok()).collect())
        };
        select().map_err(|error: rusqlite::Error| self.failed(error))
    }

    fn change<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, TableError> {
        let path = self.path.clone();
        let change = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        change().map_err(|error: rusqlite::Error| TableError { path, source: error.into() })
    }

    fn json(&self, value: &impl serde::Serialize) -> Result<String, TableError> {
        serde_json::to_string(value).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TableError {
        TableError { path: self.path.clone(), source: error.into() }
    }
}

/// The worker that has a session, or waits for it.
fn holder(table: &Connection, session: &SessionId) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE session_id = ?1 AND place IS NOT NULL ORDER BY id LIMIT 1";
    table.query_row(sql, [session.as_str()], |row| row.get(0)).optional()
}

fn by_message(table: &Connection, message: &str) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE message = ?1 ORDER BY id LIMIT 1";
    table.query_row(sql, [message], |row| row.get(0)).optional()
}

fn in_place(table: &Connection, slot: &str, place: &str) -> rusqlite::Result<Option<WorkerId>> {
    let sql = "SELECT id FROM worker WHERE slot = ?1 AND place = ?2";
    table.query_row(sql, [slot, place], |row| row.get(0)).optional()
}

/// A path as the table keeps it. One that is no UTF-8 is kept as it is shown: `claude` cannot work in such a
/// directory either.
fn bytes(path: &Path) -> String {
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
        place: match maybe("place")?.as_deref() {
            Some("running") => Some(Place::Running),
            Some("queued") => Some(Place::Queued),
            Some(_) => Some(Place::Idle),
            None => None,
        },
        slot: text("slot")?.into(),
        directory: text("working_dir")?.into(),
        task: text("task")?,
        spec: serde_json::from_str(&text("spec")?)?,
        message: text("message")?,
        pending: maybe("pending")?.map(|text| serde_json::from_str(&text)).transpose()?,
        asked: maybe("asked")?.map(|text| serde_json::from_str(&text)).transpose()?,
        agent: maybe("agent_id")?.map(|text| text.parse()).transpose()?,
        model: maybe("model")?,
        version: maybe("version")?,
        host: serde_json::from_str(&text("host")?)?,
        process: maybe("process")?.map(|text| serde_json::from_str(&text)).transpose()?,
        created: text("created_at")?.parse()?,
        started: time("started_at")?,
        changed: text("changed_at")?.parse()?,
        stopped: time("stopped_at")?,
        cost_usd: row.get("cost_usd")?,
        turns: u64::try_from(row.get::<_, i64>("turns")?).unwrap_or_default(),
        budget_usd: row.get("budget_usd")?,
    })
}

#[cfg(test)]
mod tests;
