//! `cron`: scheduled jobs, and the daemon that runs them. `executor.rs` runs jobs with workers, `add.rs` reads a new
//! job.

pub mod add;
mod change;
mod executor;
mod info;
mod request;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use schedule::{FILE, JobStore, JobSwitch, Lease, record_finished_runs, run_now, tick};

use crate::workers::{PermissionRequest, WorkerState};
use crate::{Context, Error, Kind, NextStep};
use executor::{WorkerExecutor, is_process_alive, process_identity};

pub use change::{JobChange, change};
pub use info::{DaemonEvent, JobInfo, JobList, RunInfo};
pub use request::{History, HistoryRequest, JobRequest, ListRequest};
pub use schedule::{
    Job, JobId, JobOptions, JobSchedule, JobSpec, OverlapPolicy, Payload, Run, RunOutcome, RunState,
    SessionTarget, Trigger,
};

/// The longest a daemon sleeps, because its lease expires.
const MAX_SLEEP: Duration = Duration::from_secs(10);
/// The longest it sleeps while a run is going, to notice its end.
const MAX_SLEEP_WHILE_BUSY: Duration = Duration::from_secs(2);
/// How often it checks the clock, which may be set, and whether the jobs have changed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Adds a job.
pub fn add(context: &Context, request: &add::Request) -> Result<JobInfo, Error> {
    context.require_person("the schedule")?;
    let spec = request.spec(context)?;
    executor::check(&spec.options)?;
    let mut store = open(context)?;
    let Some(job) = store.add(&spec, context.now).map_err(unusable)? else {
        let taken = format!("there is already a job `{}`", spec.name);
        return Err(Error::new(Kind::Usage, taken).next(NextStep::RenameJob { job: spec.name }));
    };
    describe(context, &store, job)
}

/// All jobs.
pub fn list(context: &Context, _: &ListRequest) -> Result<JobList, Error> {
    context.require_person("the schedule")?;
    if !exists(context) {
        return Ok(JobList { jobs: Vec::new(), daemon: false });
    }
    let store = open_settled(context)?;
    let jobs = store.jobs().map_err(unusable)?;
    let jobs = jobs.into_iter().map(|job| describe(context, &store, job)).collect::<Result<_, _>>()?;
    Ok(JobList { jobs, daemon: has_daemon(context, &store)? })
}

/// How many jobs are due some time, while no daemon is there to do them.
pub fn jobs_without_daemon(context: &Context) -> Result<usize, Error> {
    if !exists(context) {
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
    Ok(daemon.is_some_and(|daemon| is_process_alive(&daemon)))
}

/// Switches a job on or off.
pub fn switch(context: &Context, request: &JobRequest, is_on: bool) -> Result<JobInfo, Error> {
    let mut store = open(context)?;
    let id = find_job(&store, &request.job)?.id;
    let change = if is_on { JobSwitch::Enable } else { JobSwitch::Disable };
    let job = store
        .set_enabled(id, change, context.now)
        .map_err(unusable)?
        .ok_or_else(|| unknown_job(&request.job))?;
    describe(context, &store, job)
}

/// Whether the workers of a job act without asking.
pub fn acts_without_asking(context: &Context, request: &JobRequest) -> Result<bool, Error> {
    let job = find_job(&open(context)?, &request.job)?;
    Ok(executor::worker_options(&job.spec.options)?.acts_without_asking())
}

/// Removes a job with its history; a run that has begun continues.
pub fn remove(context: &Context, request: &JobRequest) -> Result<JobInfo, Error> {
    let mut store = open(context)?;
    let job = find_job(&store, &request.job)?;
    let was = describe(context, &store, job)?;
    store.remove(was.job.id).map_err(unusable)?;
    Ok(was)
}

/// Runs a job now.
pub fn run(context: &Context, request: &JobRequest) -> Result<RunInfo, Error> {
    let mut store = open(context)?;
    let job = find_job(&store, &request.job)?;
    let run =
        run_now(&mut store, &job, &process_identity(), &mut WorkerExecutor { context }).map_err(unusable)?;
    run_info(context, job.spec.name, &run)
}

/// The runs of a job, or of all, newest first.
pub fn history(context: &Context, request: &HistoryRequest) -> Result<History, Error> {
    context.require_person("the schedule")?;
    if !exists(context) && request.job.is_none() {
        return Ok(History { runs: Vec::new() });
    }
    let store = open_settled(context)?;
    let job = request.job.as_ref().map(|name| find_job(&store, name)).transpose()?;
    let names: BTreeMap<JobId, String> =
        store.jobs().map_err(unusable)?.into_iter().map(|job| (job.id, job.spec.name)).collect();
    let runs = store.history(job.map(|job| job.id), request.limit).map_err(unusable)?;
    let runs = runs.iter().filter_map(|run| Some(run_info(context, names.get(&run.job_id)?.clone(), run)));
    Ok(History { runs: runs.collect::<Result<_, _>>()? })
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
        Daemon { store: open(context)?, executor: WorkerExecutor { context }, leads: None, problem: None };
    loop {
        let version = daemon.store.data_version().unwrap_or_default();
        let (lease, slice) = match daemon.check_once(report) {
            Ok(found) => found,
            Err(error) => {
                daemon.problem(Error::caused(Kind::Unavailable, UNUSABLE, &error).message, report);
                (None, MAX_SLEEP)
            }
        };
        let until = context.read_clock().checked_add(slice).unwrap_or(Timestamp::MAX);
        while context.read_clock() < until && daemon.store.data_version().unwrap_or_default() == version {
            let left = until.duration_since(context.read_clock()).unsigned_abs();
            if !sleep(left.min(POLL_INTERVAL)) {
                return lease.map_or(Ok(()), |lease| daemon.store.release_lease(&lease).map_err(unusable));
            }
        }
    }
}

struct Daemon<'a> {
    store: JobStore,
    executor: WorkerExecutor<'a>,
    /// Whether it has reported that it leads, or follows.
    leads: Option<bool>,
    /// The problem it reported last.
    problem: Option<String>,
}

impl Daemon<'_> {
    /// Checks everything once; returns the lease if this daemon leads, and how long it can sleep.
    fn check_once(
        &mut self,
        report: &mut dyn FnMut(DaemonEvent),
    ) -> Result<(Option<Lease>, Duration), schedule::JobStoreError> {
        let now = self.executor.context.read_clock();
        let lease = self.store.acquire_lease(&process_identity(), now, is_process_alive)?;
        if self.leads != Some(lease.is_some()) {
            self.leads = Some(lease.is_some());
            report(if lease.is_some() { DaemonEvent::Leads } else { DaemonEvent::Follows });
        }
        let Some(lease) = lease else { return Ok((None, MAX_SLEEP)) };
        let found = tick(&mut self.store, &lease, &self.executor.context.zone(), &mut self.executor)?;
        if found.problems.is_empty() {
            self.problem = None;
        }
        for message in found.problems {
            self.problem(message, report);
        }
        for (job, run) in found.changed {
            match run_info(self.executor.context, job.spec.name, &run) {
                Ok(run) => report(DaemonEvent::Run { run: Box::new(run) }),
                Err(error) => self.problem(error.message, report),
            }
        }
        let now = self.executor.context.read_clock();
        let next =
            found.next.map_or(MAX_SLEEP, |next| next.duration_since(now).try_into().unwrap_or_default());
        Ok((Some(lease), next.min(if found.is_busy { MAX_SLEEP_WHILE_BUSY } else { MAX_SLEEP })))
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
    job.spec.payload = context.redacted(&job.spec.payload)?;
    let requests = last_run.as_ref().map_or_else(|| Ok(Vec::new()), |run| pending_requests(context, run))?;
    let last_run = last_run.map(|run| redacted_run(context, &run)).transpose()?;
    Ok(JobInfo { job, next, last_run, requests })
}

fn next(context: &Context, job: &Job) -> Option<Timestamp> {
    job.spec.schedule.next_after(job.settled.max(context.now), &context.zone()).filter(|_| job.enabled)
}

/// The pending requests of a run's worker.
fn pending_requests(context: &Context, run: &Run) -> Result<Vec<PermissionRequest>, Error> {
    let RunState::Running { worker, .. } = run.state else { return Ok(Vec::new()) };
    match crate::workers::find(context, &worker.to_string())?.state {
        WorkerState::WaitingPermission { requests } => Ok(requests),
        _ => Ok(Vec::new()),
    }
}

fn redacted_run(context: &Context, run: &Run) -> Result<Run, Error> {
    Ok(Run { state: context.redacted(&run.state)?, ..run.clone() })
}

fn run_info(context: &Context, job: String, run: &Run) -> Result<RunInfo, Error> {
    Ok(RunInfo { job, run: redacted_run(context, run)? })
}

fn find_job(store: &JobStore, name: &str) -> Result<Job, Error> {
    store.job(name).map_err(unusable)?.ok_or_else(|| unknown_job(name))
}

fn unknown_job(name: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no job `{name}`")).next(NextStep::ListJobs)
}

/// Opens the job store and records the runs that have finished.
fn open_settled(context: &Context) -> Result<JobStore, Error> {
    let mut store = open(context)?;
    record_finished_runs(&mut store, &mut WorkerExecutor { context }).map_err(unusable)?;
    Ok(store)
}

/// Whether there ever was a job.
fn exists(context: &Context) -> bool {
    context.config().state.join(FILE).exists()
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
