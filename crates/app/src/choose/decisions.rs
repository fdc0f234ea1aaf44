//! The saved decisions of `pick`: the question, the answer, and what the person then did.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use database::rusqlite::{self, Connection, OptionalExtension as _, params};
use jiff::{SignedDuration, Timestamp};
use model::SessionId;
use selection::Considered;
use selection::calibrated::{SettledDecision, TrackRecord};

use crate::choose::answer::Answer;
use crate::choose::candidates::CandidateSet;
use crate::choose::outcome::{Outcome, RuleAdvice, WINDOW, after};
use crate::{Context, Error, Kind};

const STEPS: [&str; 4] = [
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
    "
    DROP TABLE considered;
    CREATE TABLE looked_at (
        decision INTEGER PRIMARY KEY,
        sessions BLOB NOT NULL
    ) STRICT;
    ",
    "DROP TABLE looked_at;",
    // What the rule advised, for whom, and what the person then did: `resume`, `fresh`, or `nothing`.
    "
    ALTER TABLE decision ADD COLUMN considered TEXT;
    ALTER TABLE decision ADD COLUMN asker TEXT NOT NULL DEFAULT '';
    ALTER TABLE decision ADD COLUMN advised TEXT;
    ALTER TABLE decision ADD COLUMN candidate TEXT;
    ALTER TABLE decision ADD COLUMN did TEXT;
    ALTER TABLE decision ADD COLUMN did_session TEXT;
    CREATE INDEX decision_advised ON decision(asker, id) WHERE advised IS NOT NULL;
    ",
];
/// For this many decisions, and for the newest of each repository, the best of the considered sessions are kept; for
/// the others only those in the answer.
const WITH_CONSIDERED: i64 = 100;
/// The age from which the outcome of a decision is no longer looked for.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How many of the newest decisions make up a record.
const COUNTED: i64 = 200;

/// A decision as it was saved.
#[derive(Debug, Clone)]
pub(crate) struct SavedDecision {
    /// Its number.
    pub(crate) id: i64,
    /// When it was made.
    pub(crate) at: Timestamp,
    /// The task.
    pub(crate) task: String,
    /// The answer, as `pick --json` gave it.
    pub(crate) answer: serde_json::Value,
    /// The best of the considered sessions; `None` if they are no longer recorded.
    pub(crate) considered: Option<Vec<Considered>>,
}

/// The open database of decisions.
pub(crate) struct DecisionStore<'a> {
    context: &'a Context,
    connection: Connection,
}

impl<'a> DecisionStore<'a> {
    /// Opens the database.
    pub(crate) fn open(context: &'a Context) -> Result<Self, Error> {
        Ok(Self { context, connection: open(context)? })
    }

    /// Saves a decision and returns its number.
    pub(crate) fn save(
        mut self,
        answer: &Answer,
        considered: &[Considered],
        advice: Option<&RuleAdvice>,
    ) -> Result<i64, Error> {
        let context = self.context;
        let failed = |error: rusqlite::Error| failed(context, &error);
        let json = |error: serde_json::Error| not_json(&error);
        let (answered, best) =
            (serde_json::to_string(answer).map_err(json)?, serde_json::to_string(considered).map_err(json)?);
        let repo = answer.repo_path.to_string_lossy();
        let asker = answer.agent_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let candidate = advice.and_then(|advice| advice.candidate.as_ref()).map(ToString::to_string);
        let advised = advice.map(|advice| advice.action.as_str());
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO decision (at, repo, task, answer, considered, asker, advised, candidate)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    context.now.to_string(),
                    repo,
                    answer.task,
                    answered,
                    best,
                    asker,
                    advised,
                    candidate
                ],
            )
            .map_err(failed)?;
        let id = transaction.last_insert_rowid();
        for old in ids_to_trim(&transaction, id, &repo).map_err(failed)? {
            transaction
                .execute("UPDATE decision SET considered = NULL WHERE id = ?1", [old])
                .map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        Ok(id)
    }

    /// How often the rule was right for the asker, after recording the outcomes of this repository's decisions
    /// that are still open.
    pub(crate) fn record(&mut self, candidates: &CandidateSet) -> Result<TrackRecord, Error> {
        let context = self.context;
        self.record_open_outcomes(candidates)
            .and_then(|()| record(&self.connection, &candidates.asker()))
            .map_err(|error| failed(context, &error))
    }

    fn record_open_outcomes(&self, candidates: &CandidateSet) -> rusqlite::Result<()> {
        let now = self.context.now;
        let repo = candidates.target.root.to_string_lossy();
        let mut open = self.connection.prepare(
            "SELECT id, at FROM decision
             WHERE asker = ?1 AND repo = ?2 AND advised IS NOT NULL AND did IS NULL ORDER BY id DESC LIMIT 50",
        )?;
        let rows: Vec<(i64, String)> = open
            .query_map(params![candidates.asker(), repo], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (id, at) in rows {
            let Ok(at) = at.parse::<Timestamp>() else { continue };
            let age = now.duration_since(at);
            let did = if age > MAX_AGE { Some(Outcome::Nothing) } else { after(candidates, at) };
            if let Some(did) = did.or_else(|| (age > WINDOW).then_some(Outcome::Nothing)) {
                write_outcome(&self.connection, id, &did)?;
            }
        }
        Ok(())
    }
}

/// Records what a person who was asked did after decision `id`.
pub(crate) fn record_outcome(
    context: &Context,
    id: i64,
    advice: &RuleAdvice,
    did: &Outcome,
) -> Result<(), Error> {
    let connection = open(context)?;
    let candidate = advice.candidate.as_ref().map(ToString::to_string);
    connection
        .execute(
            "UPDATE decision SET advised = ?2, candidate = ?3 WHERE id = ?1",
            params![id, advice.action.as_str(), candidate],
        )
        .and_then(|_| write_outcome(&connection, id, did))
        .map_err(|error| failed(context, &error))
}

/// Erases the decisions that name one of these sessions, and copies of the file from before a migration.
pub(crate) fn forget(context: &Context, sessions: &HashSet<SessionId>) -> Result<u64, Error> {
    if !context.config().decisions_file().exists() {
        return Ok(0);
    }
    let connection = open(context)?;
    let erase = || {
        let mut erased = 0;
        for session in sessions {
            erased += connection.execute(
                "DELETE FROM decision WHERE instr(answer, ?1) OR instr(coalesce(considered, ''), ?1)
                 OR instr(task, ?1) OR candidate = ?1 OR did_session = ?1",
                [session.as_str()],
            )?;
        }
        if erased > 0 {
            // What is deleted stays readable in the file until it is rewritten.
            connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
        }
        Ok(erased)
    };
    let erased = erase().map_err(|error| failed(context, &error))?;
    for version in 0..STEPS.len() {
        let mut copy = context.config().decisions_file().into_os_string();
        copy.push(format!(".before-{version}"));
        match std::fs::remove_file(&copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let attempt = format!("cannot remove {}", PathBuf::from(copy).display());
                return Err(Error::caused(Kind::Unavailable, attempt, &error));
            }
            _ => {}
        }
    }
    Ok(erased as u64)
}

/// The record of the person (an empty `asker`), or of an agent.
pub(crate) fn record_of(context: &Context, asker: &str) -> Result<TrackRecord, Error> {
    if !context.config().decisions_file().exists() {
        return Ok(TrackRecord::default());
    }
    record(&open(context)?, asker).map_err(|error| failed(context, &error))
}

fn write_outcome(connection: &Connection, id: i64, did: &Outcome) -> rusqlite::Result<()> {
    let (word, session) = match did {
        Outcome::Resumed(session) => ("resume", Some(session.as_str())),
        Outcome::BeganFresh => ("fresh", None),
        Outcome::Nothing => ("nothing", None),
    };
    connection
        .execute("UPDATE decision SET did = ?2, did_session = ?3 WHERE id = ?1", params![id, word, session])
        .map(drop)
}

fn record(connection: &Connection, asker: &str) -> rusqlite::Result<TrackRecord> {
    let mut settled = connection.prepare(
        "SELECT advised, candidate, did, did_session FROM decision
         WHERE asker = ?1 AND advised IS NOT NULL AND did IN ('resume', 'fresh') ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = settled.query_map(params![asker, COUNTED], |row| {
        let columns: (String, Option<String>, String, Option<String>) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let (advised, candidate, did, session) = columns;
        Ok(SettledDecision {
            began_fresh: did == "fresh",
            was_right: advised == did && (did == "fresh" || candidate == session),
        })
    })?;
    Ok(TrackRecord::from_decisions(rows.collect::<rusqlite::Result<Vec<_>>>()?))
}

/// The decisions whose considered sessions are dropped now that decision `id` of a repository was saved.
fn ids_to_trim(connection: &Connection, id: i64, repo: &str) -> rusqlite::Result<Vec<i64>> {
    let last = id - WITH_CONSIDERED;
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
pub(crate) fn newest(context: &Context, repo: &Path) -> Result<Option<SavedDecision>, Error> {
    if !context.config().decisions_file().exists() {
        return Ok(None);
    }
    let connection = open(context)?;
    let row = connection
        .query_row(
            "SELECT id, at, task, answer, considered FROM decision
             WHERE repo = ?1 AND (?2 IS NULL OR asker = ?2) ORDER BY id DESC LIMIT 1",
            params![repo.to_string_lossy(), context.caller.agent().map(ToString::to_string)],
            |row| {
                let columns: (i64, String, String, String, Option<String>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
                Ok(columns)
            },
        )
        .optional()
        .map_err(|error| failed(context, &error))?;
    let Some((id, at, task, answer, considered)) = row else { return Ok(None) };
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|error| not_json(&error))?;
    // What an older version saved has other fields and counts as not recorded.
    let considered = considered.and_then(|text| serde_json::from_str(&text).ok());
    let at = at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Some(SavedDecision { id, at, task, answer, considered }))
}

fn open(context: &Context) -> Result<Connection, Error> {
    let cannot = "cannot open the saved decisions";
    let file = context.config().decisions_file();
    database::open_precious(&file, &STEPS)
        .and_then(|opened| opened.leave_short_log(&file).map(|()| opened.connection))
        .map_err(|error| Error::caused(Kind::Unavailable, cannot, &error))
}

fn failed(context: &Context, error: &rusqlite::Error) -> Error {
    let attempt =
        format!("cannot use the saved decisions in {}", context.config().decisions_file().display());
    Error::caused(Kind::Unavailable, attempt, error)
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::caused(Kind::Unavailable, "a saved decision is not valid JSON", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn considered_sessions_are_trimmed_except_for_recent_decisions() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&STEPS.concat()).unwrap();
        let decide = |repo: &str| {
            connection
                .execute("INSERT INTO decision (at, repo, task, answer) VALUES ('', ?1, '', '')", [repo])
                .unwrap();
            ids_to_trim(&connection, connection.last_insert_rowid(), repo).unwrap()
        };
        assert_eq!(decide("seldom"), [0; 0]);
        for _ in 2..=WITH_CONSIDERED + 1 {
            assert_eq!(decide("often"), [0; 0], "the first is old, and the newest of its repository");
        }
        assert_eq!(decide("often"), [2], "the second is old");
        assert_eq!(decide("seldom"), [1, 3], "the third is old, and the first is no longer the newest");
        assert_eq!(decide("often"), [4]);
    }

    #[test]
    fn the_track_record_counts_outcomes() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&STEPS.concat()).unwrap();
        let decide = |asker: &str, advised: &str, did: &Outcome| {
            connection
                .execute(
                    "INSERT INTO decision (at, repo, task, answer, asker, advised, candidate)
                     VALUES ('', '', '', '', ?1, ?2, 'a')",
                    [asker, advised],
                )
                .unwrap();
            write_outcome(&connection, connection.last_insert_rowid(), did).unwrap();
        };
        let resumed = |id: &str| Outcome::Resumed(id.parse().unwrap());
        decide("", "resume", &resumed("a"));
        decide("", "resume", &resumed("b"));
        decide("", "resume", &Outcome::BeganFresh);
        decide("", "fresh", &Outcome::BeganFresh);
        decide("", "fresh", &Outcome::Nothing);
        decide("main", "fresh", &Outcome::BeganFresh);
        assert_eq!(record(&connection, "").unwrap(), TrackRecord { decisions: 4, right: 2, fresh: 2 });
        assert_eq!(record(&connection, "main").unwrap(), TrackRecord { decisions: 1, right: 1, fresh: 1 });
    }
}
