//! The store of jobs and their runs, and of the lease that lets one daemon start them.
//!
//! Every change is one transaction. Claiming a due time writes the run and advances the job's `settled` time
//! together, so that nobody else finds the same time due, whichever process is killed.

use std::path::{Path, PathBuf};

use database::rusqlite::{
    self, Connection, OptionalExtension as _, Transaction, TransactionBehavior, params,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::due::STILL_RUNNING;
use crate::lease::{DURATION, is_free};
use crate::{
    DueAction, Job, JobId, JobSpec, JobStoreError, JobSwitch, Lease, Run, RunId, RunState, Trigger, due,
    due_action, row,
};

/// Name of the database file in Backstory's state folder.
pub const FILE: &str = "schedule.sqlite";

const STEPS: [&str; 1] = ["
    CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        spec TEXT NOT NULL,
        enabled INTEGER NOT NULL,
        created TEXT NOT NULL,
        settled TEXT NOT NULL
    ) STRICT;
    CREATE TABLE run (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
        trigger TEXT NOT NULL,
        scheduled TEXT,
        missed INTEGER NOT NULL,
        claimed TEXT NOT NULL,
        starter TEXT NOT NULL,
        key TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL CHECK (status IN ('waiting', 'starting', 'running', 'over')),
        state TEXT NOT NULL,
        UNIQUE (job, scheduled)
    ) STRICT;
    CREATE INDEX run_status ON run(status) WHERE status != 'over';
    CREATE TABLE lease (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        holder TEXT NOT NULL,
        until TEXT NOT NULL
    ) STRICT;
"];
/// Reason shown for a run that did not start because its job was disabled.
pub(crate) const DISABLED: &str = "the job was disabled before it began";
/// Number of runs kept per job.
const MAX_RUNS: i64 = 500;
/// A job whose times are handled further ahead than this comes from a clock that has since been set back.
const AHEAD: SignedDuration = SignedDuration::from_hours(1);

/// An open job store.
#[derive(Debug)]
pub struct JobStore {
    connection: Connection,
    path: PathBuf,
}

/// The result of claiming a due time.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcome {
    /// A run was recorded, to be started, to wait, or as skipped.
    Claimed(Box<Run>),
    /// Nothing is due, or not any more.
    NothingDue,
    /// Another daemon holds the lease.
    LeaseLost,
}

/// What became of a change to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobUpdate {
    /// The job as it is now.
    Updated(Box<Job>),
    /// Another job has that name.
    NameTaken,
    /// There is no such job any more.
    Gone,
}

impl JobStore {
    /// Opens the store and creates it if it is missing.
    pub fn open(path: &Path) -> Result<Self, JobStoreError> {
        let opened = database::open_precious(path, &STEPS);
        let opened = opened.map_err(|error| JobStoreError { path: path.to_owned(), source: error.into() })?;
        Ok(Self { connection: opened.connection, path: path.to_owned() })
    }

    /// Adds a job whose first due time is after `now`; returns `None` if the name is taken.
    pub fn add(&mut self, spec: &JobSpec, now: Timestamp) -> Result<Option<Job>, JobStoreError> {
        self.change(|table| {
            let json = row::json(spec)?;
            let added = table.execute(
                "INSERT INTO job (name, spec, enabled, created, settled) VALUES (?1, ?2, 1, ?3, ?3)
                 ON CONFLICT (name) DO NOTHING",
                params![spec.name, json, now.to_string()],
            )?;
            if added == 0 {
                return Ok(None);
            }
            job_by_id(table, table.last_insert_rowid())
        })
    }

    /// Returns all jobs, ordered by name.
    pub fn jobs(&self) -> Result<Vec<Job>, JobStoreError> {
        let sql = format!("SELECT {} FROM job ORDER BY name", row::JOB);
        self.all(&sql, [], row::job)
    }

    /// Returns the job with this name or id.
    pub fn job(&self, name_or_id: &str) -> Result<Option<Job>, JobStoreError> {
        let sql = format!("SELECT {} FROM job WHERE name = ?1 OR id = ?2", row::JOB);
        let id = name_or_id.parse::<JobId>().ok();
        let found = self.connection.query_row(&sql, params![name_or_id, id], row::job).optional();
        found.map_err(|error| self.unusable(error))
    }

    /// Enables or disables a job. Scheduled times that pass while it is disabled are not made up for, and a
    /// waiting run is skipped.
    pub fn set_enabled(
        &mut self,
        id: JobId,
        change: JobSwitch,
        now: Timestamp,
    ) -> Result<Option<Job>, JobStoreError> {
        self.change(|table| {
            match change {
                JobSwitch::Enable => table.execute(
                    "UPDATE job SET enabled = 1, settled = ?2 WHERE id = ?1 AND enabled = 0",
                    params![id, now.to_string()],
                )?,
                JobSwitch::Disable => {
                    let skipped = row::json(&RunState::skipped(DISABLED, now))?;
                    table.execute(
                        "UPDATE run SET status = 'over', state = ?2 WHERE job = ?1 AND status = 'waiting'",
                        params![id, skipped],
                    )?;
                    table.execute("UPDATE job SET enabled = 0 WHERE id = ?1", [id])?
                }
            };
            job_by_id(table, id)
        })
    }

    /// Replaces the definition of a job and keeps its history. Times of a new schedule that have passed are not made up
    /// for.
    pub fn update(&mut self, id: JobId, spec: &JobSpec, now: Timestamp) -> Result<JobUpdate, JobStoreError> {
        self.change(|table| {
            let Some(old) = job_by_id(table, id)? else { return Ok(JobUpdate::Gone) };
            let taken = table
                .query_row("SELECT 1 FROM job WHERE name = ?1 AND id != ?2", params![spec.name, id], |_| {
                    Ok(())
                })
                .optional()?;
            if taken.is_some() {
                return Ok(JobUpdate::NameTaken);
            }
            let settled = if old.spec.schedule == spec.schedule { old.settled } else { now };
            table.execute(
                "UPDATE job SET name = ?2, spec = ?3, settled = ?4 WHERE id = ?1",
                params![id, spec.name, row::json(spec)?, settled.to_string()],
            )?;
            Ok(job_by_id(table, id)?.map_or(JobUpdate::Gone, |job| JobUpdate::Updated(Box::new(job))))
        })
    }

    /// Removes a job with its history; returns whether it existed.
    pub fn remove(&mut self, id: JobId) -> Result<bool, JobStoreError> {
        self.change(|table| Ok(table.execute("DELETE FROM job WHERE id = ?1", [id])? > 0))
    }

    /// Returns the runs of one job, or of all jobs, newest first.
    pub fn history(&self, job: Option<JobId>, limit: usize) -> Result<Vec<Run>, JobStoreError> {
        let sql =
            format!("SELECT {} FROM run WHERE ?1 IS NULL OR job = ?1 ORDER BY id DESC LIMIT ?2", row::RUN);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.all(&sql, params![job, limit], row::run)
    }

    /// Returns the runs that have not ended with their jobs, oldest first.
    pub fn open_runs(&self) -> Result<Vec<(Job, Run)>, JobStoreError> {
        let sql = format!("SELECT {} FROM run WHERE status != 'over' ORDER BY id", row::RUN);
        let runs: Vec<Run> = self.all(&sql, [], row::run)?;
        let mut open = Vec::new();
        for run in runs {
            let found = job_by_id(&self.connection, run.job_id).map_err(|error| self.unusable(error))?;
            open.extend(found.map(|job| (job, run)));
        }
        Ok(open)
    }

    /// Acquires or renews the lease; returns `None` if another daemon holds it. `holder` identifies the
    /// caller among all daemons; `lives` returns whether the daemon identified by a text is alive.
    pub fn acquire_lease(
        &mut self,
        holder: &str,
        now: Timestamp,
        lives: impl Fn(&str) -> bool,
    ) -> Result<Option<Lease>, JobStoreError> {
        self.change(|table| {
            let is_held = |(other, until): (String, Timestamp)| {
                other != holder && !is_free(until, now) && lives(&other)
            };
            if lease(table)?.is_some_and(is_held) {
                return Ok(None);
            }
            table.execute(
                "INSERT INTO lease (id, holder, until) VALUES (1, ?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET holder = ?1, until = ?2",
                params![holder, (now + DURATION).to_string()],
            )?;
            Ok(Some(Lease { holder: holder.to_owned() }))
        })
    }

    /// Returns a number that changes when another process changes the store.
    pub fn data_version(&self) -> Result<i64, JobStoreError> {
        let found = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0));
        found.map_err(|error| self.unusable(error))
    }

    /// Releases the lease.
    pub fn release_lease(&mut self, lease: &Lease) -> Result<(), JobStoreError> {
        self.change(|table| {
            table.execute("DELETE FROM lease WHERE holder = ?1", [&lease.holder])?;
            Ok(())
        })
    }

    /// Returns the holder of the lease at `now`, if anyone holds it.
    pub fn lease_holder(&self, now: Timestamp) -> Result<Option<String>, JobStoreError> {
        let found = lease(&self.connection).map_err(|error| self.unusable(error))?;
        Ok(found.filter(|(_, until)| !is_free(*until, now)).map(|(holder, _)| holder))
    }

    /// Lets jobs run again whose times were handled while the clock was ahead by more than an hour, which has since been set
    /// back.
    pub(crate) fn settle_after_wrong_clock(&mut self, now: Timestamp) -> Result<(), JobStoreError> {
        self.change(|table| {
            let ahead = now + AHEAD;
            let jobs = "UPDATE job SET settled = ?1 WHERE settled > ?2";
            table.execute(jobs, params![now.to_string(), ahead.to_string()])?;
            // A job has one run for each of its times, and those times will come once more.
            table.execute("UPDATE run SET scheduled = NULL WHERE scheduled > ?1", [ahead.to_string()])?;
            Ok(())
        })
    }

    /// Claims the due time of a job if the caller still holds the lease. `key` is unique to the run;
    /// `default_zone` applies to jobs without a time zone.
    pub fn claim_due(
        &mut self,
        held: &Lease,
        id: JobId,
        key: &str,
        now: Timestamp,
        default_zone: &TimeZone,
    ) -> Result<ClaimOutcome, JobStoreError> {
        self.change(|table| {
            if lease(table)?.is_none_or(|(holder, until)| holder != held.holder || until <= now) {
                return Ok(ClaimOutcome::LeaseLost);
            }
            let Some(job) = job_by_id(table, id)? else { return Ok(ClaimOutcome::NothingDue) };
            let Some(owed) = due(&job, now, default_zone) else { return Ok(ClaimOutcome::NothingDue) };
            let (is_running, has_waiting) = active_runs(table, id)?;
            let (trigger, state) = match due_action(&job, owed, is_running, has_waiting) {
                DueAction::Start(trigger) => (trigger, RunState::Starting),
                DueAction::Wait(trigger) => (trigger, RunState::waiting(STILL_RUNNING, now)),
                DueAction::Skip(why) => (Trigger::Schedule, RunState::skipped(why, now)),
            };
            let run = Run {
                id: 0,
                job_id: id,
                trigger,
                scheduled: Some(owed.scheduled),
                missed: owed.missed,
                claimed: now,
                starter: held.holder.clone(),
                key: key.to_owned(),
                state,
            };
            table.execute(
                "UPDATE job SET settled = ?2 WHERE id = ?1",
                params![id, owed.scheduled.to_string()],
            )?;
            Ok(ClaimOutcome::Claimed(Box::new(write(table, run)?)))
        })
    }

    /// Records a run started by a person. `starter` identifies the calling process, `key` the run.
    pub fn begin_manual_run(
        &mut self,
        id: JobId,
        starter: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Run, JobStoreError> {
        let state = RunState::Starting;
        let run = Run {
            id: 0,
            job_id: id,
            trigger: Trigger::Manual,
            scheduled: None,
            missed: 0,
            claimed: now,
            starter: starter.to_owned(),
            key: key.to_owned(),
            state,
        };
        self.change(|table| write(table, run))
    }

    /// Moves a waiting run to starting if the job has no active run; returns whether it did.
    pub fn start_waiting(&mut self, held: &Lease, run: &Run, now: Timestamp) -> Result<bool, JobStoreError> {
        self.change(|table| {
            let is_ours = lease(table)?.is_some_and(|(holder, until)| holder == held.holder && until > now);
            if !is_ours || active_runs(table, run.job_id)?.0 {
                return Ok(false);
            }
            let changed = table.execute(
                "UPDATE run SET status = 'starting', state = ?2, claimed = ?3, starter = ?4
                 WHERE id = ?1 AND status = 'waiting'",
                params![run.id, row::json(&RunState::Starting)?, now.to_string(), held.holder],
            )?;
            Ok(changed > 0)
        })
    }

    /// Takes over a run whose start was abandoned; returns whether the caller has it now.
    pub fn take_over(&mut self, held: &Lease, run: &Run, now: Timestamp) -> Result<bool, JobStoreError> {
        self.change(|table| {
            let changed = table.execute(
                "UPDATE run SET claimed = ?3, starter = ?4
                 WHERE id = ?1 AND status = 'starting' AND claimed = ?2 AND starter = ?5",
                params![run.id, run.claimed.to_string(), now.to_string(), held.holder, run.starter],
            )?;
            Ok(changed > 0)
        })
    }

    /// Sets the state of a run unless another process has changed it; returns whether it was set.
    pub fn set_run_state(&mut self, run: &Run, state: &RunState) -> Result<bool, JobStoreError> {
        self.change(|table| {
            let changed = table.execute(
                "UPDATE run SET status = ?3, state = ?4 WHERE id = ?1 AND status = ?2",
                params![run.id, row::status(&run.state), row::status(state), row::json(state)?],
            )?;
            Ok(changed > 0)
        })
    }

    fn change<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, JobStoreError> {
        let attempt = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        let done = attempt();
        done.map_err(|error| self.unusable(error))
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        of: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, JobStoreError> {
        let rows = || self.connection.prepare(sql)?.query_map(values, of)?.collect::<rusqlite::Result<_>>();
        rows().map_err(|error| self.unusable(error))
    }

    fn unusable(&self, source: rusqlite::Error) -> JobStoreError {
        JobStoreError { path: self.path.clone(), source: source.into() }
    }
}

fn job_by_id(table: &Connection, id: JobId) -> rusqlite::Result<Option<Job>> {
    let sql = format!("SELECT {} FROM job WHERE id = ?1", row::JOB);
    table.query_row(&sql, [id], row::job).optional()
}

fn lease(table: &Connection) -> rusqlite::Result<Option<(String, Timestamp)>> {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let found = table.query_row("SELECT holder, until FROM lease", [], row).optional()?;
    // A time that cannot be read has run out.
    Ok(found.map(|(holder, until)| (holder, until.parse().unwrap_or(Timestamp::MIN))))
}

/// Whether the job has an active run, and whether it has a waiting one.
fn active_runs(table: &Connection, id: JobId) -> rusqlite::Result<(bool, bool)> {
    table.query_row(
        "SELECT coalesce(sum(status IN ('starting', 'running')), 0) > 0, coalesce(sum(status = 'waiting'), 0) > 0
         FROM run WHERE job = ?1",
        [id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

fn write(table: &Connection, run: Run) -> rusqlite::Result<Run> {
    table.execute(
        "INSERT INTO run (job, trigger, scheduled, missed, claimed, starter, key, status, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            run.job_id,
            row::json(&run.trigger)?,
            run.scheduled.map(|time| time.to_string()),
            run.missed,
            run.claimed.to_string(),
            run.starter,
            run.key,
            row::status(&run.state),
            row::json(&run.state)?
        ],
    )?;
    let id: RunId = table.last_insert_rowid();
    table.execute(
        "DELETE FROM run WHERE job = ?1 AND status = 'over'
         AND id <= (SELECT id FROM run WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        params![run.job_id, MAX_RUNS],
    )?;
    Ok(Run { id, ..run })
}
