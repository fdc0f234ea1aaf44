//! How jobs and runs are stored in table rows: times in RFC 3339, structured values as JSON.

use database::rusqlite::types::{FromSqlError, FromSqlResult, Type};
use database::rusqlite::{self, Row};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::{Job, Run, RunState};

pub(crate) const JOB: &str = "id, spec, enabled, created, settled";
pub(crate) const RUN: &str = "id, job, trigger, scheduled, missed, claimed, starter, key, state";

pub(crate) fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    Ok(Job {
        id: row.get(0)?,
        spec: from_json(row, 1)?,
        enabled: row.get(2)?,
        created: time(row, 3)?,
        settled: time(row, 4)?,
    })
}

pub(crate) fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let scheduled: Option<String> = row.get(3)?;
    Ok(Run {
        id: row.get(0)?,
        job_id: row.get(1)?,
        trigger: from_json(row, 2)?,
        scheduled: scheduled.map(|_| time(row, 3)).transpose()?,
        missed: row.get(4)?,
        claimed: time(row, 5)?,
        starter: row.get(6)?,
        key: row.get(7)?,
        state: from_json(row, 8)?,
    })
}

/// The value of the `status` column for a run's state.
pub(crate) fn status(state: &RunState) -> &'static str {
    match state {
        RunState::Waiting { .. } => "waiting",
        RunState::Starting => "starting",
        RunState::Running { .. } => "running",
        RunState::Over { .. } => "over",
    }
}

pub(crate) fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let text: String = row.get(column)?;
    converted(column, text.parse().map_err(|error: jiff::Error| FromSqlError::Other(error.into())))
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    converted(column, serde_json::from_str(&text).map_err(|error| FromSqlError::Other(error.into())))
}

fn converted<T>(column: usize, value: FromSqlResult<T>) -> rusqlite::Result<T> {
    value.map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into()))
}
