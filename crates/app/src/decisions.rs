//! The decisions that were made, kept for good: what was asked, what was answered, and the factors behind it.

use std::path::PathBuf;

use database::rusqlite::{self, Connection, OptionalExtension as _, params};
use jiff::Timestamp;
use selection::Considered;

use crate::pick::Answer;
use crate::{App, Error, Kind, looked_at};

const STEPS: [&str; 2] = [
    "
    CREATE TABLE decision (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        repo TEXT NOT NULL,
        task TEXT NOT NULL,
        answer TEXT NOT NULL
    ) STRICT;
    CREATE INDEX decision_repo ON decision(repo, id);
    CREATE TABLE considered (
        decision INTEGER PRIMARY KEY,
        sessions TEXT NOT NULL
    ) STRICT;
    ",
    // As text the sessions of one decision took megabytes.
    "
    DROP TABLE considered;
    CREATE TABLE looked_at (
        decision INTEGER PRIMARY KEY,
        sessions BLOB NOT NULL
    ) STRICT;
    ",
];
/// For so many decisions, and for the newest of each repository, every session that was looked at is kept; for the
/// others the best, in the answer.
const WHOLE: i64 = 100;

/// A decision as it was kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// Its number.
    pub(crate) id: i64,
    /// When it was made.
    pub(crate) at: Timestamp,
    /// What was to be done.
    pub(crate) task: String,
    /// The answer, as `pick --json` gave it.
    pub(crate) answer: serde_json::Value,
    /// Every session that was looked at.
    pub(crate) considered: Vec<Considered>,
}

/// Where decisions are kept.
pub(crate) fn file(app: &App) -> PathBuf {
    app.config.state.join("decisions.sqlite")
}

/// The decisions, open for one more.
pub(crate) struct Book<'a> {
    app: &'a App,
    connection: Connection,
}

impl<'a> Book<'a> {
    /// Opens it.
    pub(crate) fn open(app: &'a App) -> Result<Self, Error> {
        Ok(Self { app, connection: open(app)? })
    }

    /// Keeps a decision and every session that was looked at for it; returns its number.
    pub(crate) fn keep(mut self, answer: &Answer, considered: &[Considered]) -> Result<i64, Error> {
        let app = self.app;
        let failed = |error: rusqlite::Error| failed(app, &error);
        let whole = serde_json::to_string(answer).map_err(|error| not_json(&error))?;
        let sessions = looked_at::pack(considered).unwrap_or_default();
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO decision (at, repo, task, answer) VALUES (?1, ?2, ?3, ?4)",
                params![app.now.to_string(), answer.repo_path.to_string_lossy(), answer.task, whole],
            )
            .map_err(failed)?;
        let id = transaction.last_insert_rowid();
        transaction
            .execute("INSERT INTO looked_at (decision, sessions) VALUES (?1, ?2)", params![id, sessions])
            .and_then(|_| {
                transaction.execute(
                    "DELETE FROM looked_at WHERE decision <= ?1
                     AND decision NOT IN (SELECT max(id) FROM decision GROUP BY repo)",
                    [id - WHOLE],
                )
            })
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(id)
    }
}

/// The newest decision of a repository.
pub(crate) fn newest(app: &App, repo: &std::path::Path) -> Result<Option<Kept>, Error> {
    if !file(app).exists() {
        return Ok(None);
    }
    let connection = open(app)?;
    let row = connection
        .query_row(
            "SELECT id, at, task, answer, sessions FROM decision LEFT JOIN looked_at ON decision = id
             WHERE repo = ?1 ORDER BY id DESC LIMIT 1",
            [repo.to_string_lossy()],
            |row| {
                let columns: (i64, String, String, String, Option<Vec<u8>>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
                Ok(columns)
            },
        )
        .optional()
        .map_err(|error| failed(app, &error))?;
    let Some((id, at, task, answer, sessions)) = row else { return Ok(None) };
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|error| not_json(&error))?;
    let considered = sessions.and_then(|bytes| looked_at::unpack(&bytes)).unwrap_or_default();
    let at = at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Some(Kept { id, at, task, answer, considered }))
}

fn open(app: &App) -> Result<Connection, Error> {
    let cannot = "decisions cannot be kept or read";
    let file = file(app);
    database::open_precious(&file, &STEPS)
        .and_then(|opened| opened.leave_short_log(&file).map(|()| opened.connection))
        .map_err(|error| Error::caused(Kind::Unavailable, cannot, &error))
}

fn failed(app: &App, error: &rusqlite::Error) -> Error {
    let attempt = format!("cannot use the decisions in {}", file(app).display());
    Error::caused(Kind::Unavailable, attempt, error)
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::caused(Kind::Unavailable, "a decision is no JSON", error)
}
