//! The decisions that were made, kept for good: what was asked, what was answered, and the factors behind it.

use std::io;
use std::path::PathBuf;

use database::rusqlite::{self, Connection, OptionalExtension as _, params};
use jiff::Timestamp;
use selection::Considered;

use crate::pick::Answer;
use crate::{App, Error, Kind, looked_at};

const STEPS: [&str; 3] = [
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
    // They have files of their own.
    "DROP TABLE looked_at;",
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
    /// Every session that was looked at; `None` where that is not known any more.
    pub(crate) considered: Option<Vec<Considered>>,
}

/// Where decisions are kept.
pub(crate) fn file(app: &App) -> PathBuf {
    app.config.state.join("decisions.sqlite")
}

/// Where the sessions that they looked at are kept.
fn folder(app: &App) -> PathBuf {
    app.config.state.join("looked-at")
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
        let repo = answer.repo_path.to_string_lossy();
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO decision (at, repo, task, answer) VALUES (?1, ?2, ?3, ?4)",
                params![app.now.to_string(), repo, answer.task, whole],
            )
            .map_err(failed)?;
        let id = transaction.last_insert_rowid();
        // Before anybody can know of the decision.
        looked_at::keep(&folder(app), id, considered).map_err(|error| not_written(app, &error))?;
        let old = old(&transaction, id, &repo).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        for decision in old {
            looked_at::forget(&folder(app), decision);
        }
        Ok(id)
    }
}

/// The decisions of which no more than the best sessions are kept since decision `id` of a repository was made.
fn old(connection: &Connection, id: i64, repo: &str) -> rusqlite::Result<Vec<i64>> {
    let last = id - WHOLE;
    if last <= 0 {
        return Ok(Vec::new());
    }
    let mut of_both = connection.prepare(
        "SELECT id FROM decision AS old
         WHERE id IN (?1, (SELECT max(id) FROM decision WHERE repo = ?2 AND id < ?3)) AND id <= ?1
         AND EXISTS (SELECT 1 FROM decision AS newer WHERE newer.repo = old.repo AND newer.id > old.id)",
    )?;
    of_both.query_map(params![last, repo, id], |row| row.get(0))?.collect()
}

/// The newest decision of a repository.
pub(crate) fn newest(app: &App, repo: &std::path::Path) -> Result<Option<Kept>, Error> {
    if !file(app).exists() {
        return Ok(None);
    }
    let connection = open(app)?;
    let row = connection
        .query_row(
            "SELECT id, at, task, answer FROM decision WHERE repo = ?1 ORDER BY id DESC LIMIT 1",
            [repo.to_string_lossy()],
            |row| {
                let columns: (i64, String, String, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(columns)
            },
        )
        .optional()
        .map_err(|error| failed(app, &error))?;
    let Some((id, at, task, answer)) = row else { return Ok(None) };
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|error| not_json(&error))?;
    let considered = looked_at::kept(&folder(app), id);
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

fn not_written(app: &App, error: &io::Error) -> Error {
    let attempt = format!("cannot keep what was looked at in {}", folder(app).display());
    Error::caused(Kind::Unavailable, attempt, error)
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::caused(Kind::Unavailable, "a decision is no JSON", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sessions_are_kept_of_new_decisions_and_of_the_newest_of_each_repository() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&STEPS.concat()).unwrap();
        let decide = |repo: &str| {
            connection
                .execute("INSERT INTO decision (at, repo, task, answer) VALUES ('', ?1, '', '')", [repo])
                .unwrap();
            old(&connection, connection.last_insert_rowid(), repo).unwrap()
        };
        assert_eq!(decide("seldom"), [0; 0]);
        for _ in 2..=WHOLE + 1 {
            assert_eq!(decide("often"), [0; 0], "the first is old, and the newest of its repository");
        }
        assert_eq!(decide("often"), [2], "the second is old");
        assert_eq!(decide("seldom"), [1, 3], "the third is old, and the first is no longer the newest");
        assert_eq!(decide("often"), [4]);
    }
}
