//! `cron`: scheduled jobs, and the daemon that runs them. `crew.rs` starts the workers.

mod crew;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use schedule::{FILE, JobStore, JobSwitch, Lease, record_finished_runs, run_now, tick};
use serde::Serialize;

use crate::repository::target::RepoTarget;
use crate::workers::{PermissionRequest, WorkerState};
use crate::{Context, Error, Kind, NextStep};
use crew::{WorkerExecutor, lives, own};

pub use schedule::{
    Job, JobId, JobOptions, JobSchedule, JobSpec, OverlapPolicy, Payload, Run, RunOutcome, RunState,
    SessionTarget, Trigger,
};

/// The longest a daemon sleeps, because its lease expires.
const SLICE: Duration = Duration::from_secs(10);
/// The longest it sleeps while a run is going, to notice its end.
const BUSY_SLICE: Duration = Duration::from_secs(2);
/// How often it checks the clock, which may be set, and whether the jobs have changed.
const GLANCE: Duration = Duration::from_secs(1);

/// The help on an invalid cron expression.
const FIELDS: &str = "it has five fields: minute, hour, day of the month, month, day of the week; for example `0 9 * * MON-FRI`";

/// A job and its next run.
#[derive(Debug, Clone, Serialize)]
pub struct JobInfo {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// When it is due next; absent where it is not.
    pub next: Option<Timestamp>,
    /// Its newest run.
    pub last_run: Option<Run>,
    /// The pending requests of that run's worker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<PermissionRequest>,
}

/// All jobs, and whether a daemon is there to do them.
#[derive(Debug, Clone, Serialize)]
pub struct JobList {
    /// By name.
    pub jobs: Vec<JobInfo>,
    /// Whether a daemon is running.
    pub daemon: bool,
}

/// A run, with the name of its job.
#[derive(Debug, Clone, Serialize)]
pub struct RunInfo {
    /// The job's name.
    pub job: String,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
}

/// An event that a daemon reports.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DaemonEvent {
    /// It runs the jobs.
    Leads,
    /// Another daemon runs the jobs; this one takes over when that exits.
    Follows,
    /// A run changed.
    Run {
        /// The run as it is now.
        run: Box<RunInfo>,
    },
    /// Something could not be done.
    Problem {
        /// What, in words.
        message: String,
    },
}

/// Adds a job. Its directory is taken as typed: a path, or `None` for where the person is; a clock without a zone
/// becomes the person's.
pub fn add(context: &Context, mut spec: JobSpec, directory: Option<&str>) -> Result<JobInfo, Error> {
    let named = directory.unwrap_or(".");
    let Some(meant) = RepoTarget::directory(context, Some(named))? else {
        return Err(Error::new(Kind::Usage, format!("`{named}` is not a directory"))
            .hint("a job needs the path of a directory"));
    };
    spec.directory = meant.directory;
    if let JobSchedule::Cron { tz, .. } = &mut spec.schedule
        && tz.is_none()
    {
        *tz = context.zone().iana_name().map(str::to_owned);
    }
    spec.check().map_err(|wrong| {
        let wrong = Error::new(Kind::Usage, wrong.to_string());
        match spec.schedule {
            JobSchedule::Cron { .. } => wrong.hint(FIELDS),
            JobSchedule::At { .. } | JobSchedule::Every { .. } => wrong,
        }
    })?;
    crew::check(&spec.options)?;
    let mut store = open(context)?;
    let Some(job) = store.add(&spec, context.now).map_err(unusable)? else {
        let taken = format!("there is already a job `{}`", spec.name);
        return Err(Error::new(Kind::Usage, taken).next(NextStep::RenameJob { job: spec.name }));
    };
    describe(context, &store, job)
}

/// All jobs.
pub fn list(context: &Context) -> Result<JobList, Error> {
    let store = settled(context)?;
    let jobs = store.jobs().map_err(unusable)?;
    let jobs = jobs.into_iter().map(|job| describe(context, &store, job)).collect::<Result<_, _>>()?;
    Ok(JobList { jobs, daemon: has_daemon(context, &store)? })
}

/// How many jobs are due some time, while no daemon is there to do them.
pub fn jobs_without_daemon(context: &Context) -> Result<usize, Error> {
    if !context.config().state.join(FILE).exists() {
        return Ok(0);
    }
    let store = open(context)?;
    if has_daemon(context, &store)? {
        return Ok(0);
    }
    let jobs = store.jobs().map_err(unusable)?;
    Ok(jobs.iter().filter(|job| next(context, job).is_some()).count())
}

fn has_daemon(context: &Context, store: &JobStore) -> Result<bool, Error> {
    let daemon = store.lease_holder(context.now).map_err(unusable)?;
    Ok(daemon.is_some_and(|daemon| lives(&daemon)))
}

/// Switches a job on or off.
pub fn switch(context: &Context, name: &str, is_on: bool) -> Result<JobInfo, Error> {
    let mut store = open(context)?;
    let id = found(&store, name)?.id;
    let change = if is_on { JobSwitch::Enable } else { JobSwitch::Disable };
    let job = store.set_enabled(id, change, context.now).map_err(unusable)?.ok_or_else(|| unknown(name))?;
    describe(context, &store, job)
}

/// Removes a job with its history; what runs goes on.
pub fn remove(context: &Context, name: &str) -> Result<JobInfo, Error> {
    let mut store = open(context)?;
    let job = found(&store, name)?;
    let was = describe(context, &store, job)?;
    store.remove(was.job.id).map_err(unusable)?;
    Ok(was)
}

/// Runs a job now.
pub fn run(context: &Context, name: &str) -> Result<RunInfo, Error> {
    let mut store = open(context)?;
    let job = found(&store, name)?;
    let run = run_now(&mut store, &job, &own(), &mut WorkerExecutor { context }).map_err(unusable)?;
    Ok(of_job(context, job.spec.name, &run))
}

/// The runs of a job, or of all, newest first.
pub fn history(context: &Context, name: Option<&str>, limit: usize) -> Result<Vec<RunInfo>, Error> {
    let store = settled(context)?;
    let job = name.map(|name| found(&store, name)).transpose()?;
    let names: BTreeMap<JobId, String> =
        store.jobs().map_err(unusable)?.into_iter().map(|job| (job.id, job.spec.name)).collect();
    let runs = store.history(job.map(|job| job.id), limit).map_err(unusable)?;
    Ok(runs.iter().filter_map(|run| Some(of_job(context, names.get(&run.job_id)?.clone(), run))).collect())
}

/// Runs jobs when they are due, until `sleep` returns false.
///
/// What fails is reported and tried again, because a daemon runs unattended.
pub fn daemon(
    context: &Context,
    sleep: &mut dyn FnMut(Duration) -> bool,
    report: &mut dyn FnMut(DaemonEvent),
) -> Result<(), Error> {
    let mut daemon =
        Daemon { store: open(context)?, crew: WorkerExecutor { context }, leads: None, problem: None };
    loop {
        let version = daemon.store.data_version().unwrap_or_default();
        let (lease, slice) = match daemon.look(report) {
            Ok(found) => found,
            Err(error) => {
                daemon.problem(Error::caused(Kind::Unavailable, UNUSABLE, &error).message, report);
                (None, SLICE)
            }
        };
        let until = context.read_clock().checked_add(slice).unwrap_or(Timestamp::MAX);
        while context.read_clock() < until && daemon.store.data_version().unwrap_or_default() == version {
            let left = until.duration_since(context.read_clock()).unsigned_abs();
            if !sleep(left.min(GLANCE)) {
                return lease.map_or(Ok(()), |lease| daemon.store.release_lease(&lease).map_err(unusable));
            }
        }
    }
}

struct Daemon<'a> {
    store: JobStore,
    crew: WorkerExecutor<'a>,
    /// Whether it has reported that it leads, or follows.
    leads: Option<bool>,
    /// The problem it reported last.
    problem: Option<String>,
}

impl Daemon<'_> {
    /// Checks everything once; returns the lease if this daemon leads, and how long it can sleep.
    fn look(
        &mut self,
        report: &mut dyn FnMut(DaemonEvent),
    ) -> Result<(Option<Lease>, Duration), schedule::JobStoreError> {
        let now = self.crew.context.read_clock();
        let lease = self.store.acquire_lease(&own(), now, lives)?;
        if self.leads != Some(lease.is_some()) {
            self.leads = Some(lease.is_some());
            report(if lease.is_some() { DaemonEvent::Leads } else { DaemonEvent::Follows });
        }
        let Some(lease) = lease else { return Ok((None, SLICE)) };
        let found = tick(&mut self.store, &lease, &self.crew.context.zone(), &mut self.crew)?;
        if found.problems.is_empty() {
            self.problem = None;
        }
        for message in found.problems {
            self.problem(message, report);
        }
        for (job, run) in found.changed {
            report(DaemonEvent::Run { run: Box::new(of_job(self.crew.context, job.spec.name, &run)) });
        }
        let now = self.crew.context.read_clock();
        let next = found.next.map_or(SLICE, |next| next.duration_since(now).try_into().unwrap_or_default());
        Ok((Some(lease), next.min(if found.is_busy { BUSY_SLICE } else { SLICE })))
    }

    /// Reports a problem, once while it stays the same.
    fn problem(&mut self, message: String, report: &mut dyn FnMut(DaemonEvent)) {
        if self.problem.as_ref() != Some(&message) {
            self.problem = Some(message.clone());
            report(DaemonEvent::Problem { message });
        }
    }
}

fn describe(context: &Context, store: &JobStore, mut job: Job) -> Result<JobInfo, Error> {
    let last_run = store.history(Some(job.id), 1).map_err(unusable)?.into_iter().next();
    let next = next(context, &job);
    job.spec.payload = context.redacted(&job.spec.payload);
    let requests = last_run.as_ref().map_or_else(|| Ok(Vec::new()), |run| asked(context, run))?;
    Ok(JobInfo { next, last_run: last_run.map(|run| redacted_run(context, &run)), requests, job })
}

fn next(context: &Context, job: &Job) -> Option<Timestamp> {
    job.spec.schedule.next_after(job.settled.max(context.now), &context.zone()).filter(|_| job.enabled)
}

/// The pending requests of a run's worker.
fn asked(context: &Context, run: &Run) -> Result<Vec<PermissionRequest>, Error> {
    let RunState::Running { worker, .. } = run.state else { return Ok(Vec::new()) };
    match crate::workers::find(context, &worker.to_string())?.state {
        WorkerState::WaitingPermission { requests } => Ok(requests),
        _ => Ok(Vec::new()),
    }
}

fn redacted_run(context: &Context, run: &Run) -> Run {
    Run { state: context.redacted(&run.state), ..run.clone() }
}

fn of_job(context: &Context, job: String, run: &Run) -> RunInfo {
    RunInfo { job, run: redacted_run(context, run) }
}

fn found(store: &JobStore, name: &str) -> Result<Job, Error> {
    store.job(name).map_err(unusable)?.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no job `{name}`")).next(NextStep::ListJobs)
}

/// The book, in which the ends of runs are entered.
fn settled(context: &Context) -> Result<JobStore, Error> {
    let mut store = open(context)?;
    record_finished_runs(&mut store, &mut WorkerExecutor { context }).map_err(unusable)?;
    Ok(store)
}

fn open(context: &Context) -> Result<JobStore, Error> {
    context.require_person("the schedule")?;
    JobStore::open(&context.config().state.join(FILE)).map_err(unusable)
}

const UNUSABLE: &str = "the schedule cannot be used";

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn unusable(error: schedule::JobStoreError) -> Error {
    Error::caused(Kind::Unavailable, UNUSABLE, &error)
}
