//! One pass of a daemon: records ended runs, finishes abandoned starts, starts waiting runs and due jobs.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::store::DISABLED;
use crate::{ClaimOutcome, Job, JobStore, JobStoreError, Lease, Run, RunOutcome, RunState, Trigger};

/// A start that takes longer than this has failed.
const START_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);
/// How long to wait before trying again when the directory or session is taken.
const RETRY_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Starts and observes the workers of runs.
pub trait Executor {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
    /// Returns a key that no run has used.
    fn new_run_key(&self) -> String;
    /// Whether the process identified by `starter` is alive.
    fn is_alive(&self, starter: &str) -> bool;
    /// Starts the worker of a run, or returns the existing worker with the run's key.
    fn start(&mut self, job: &Job, run: &Run) -> StartOutcome;
    /// Returns the status of a run's worker, `None` if it was never created, or a message if it cannot be
    /// determined.
    fn worker_status(&mut self, run: &Run) -> Result<Option<WorkerStatus>, String>;
    /// Stops a worker, or returns a message saying why not.
    fn stop(&mut self, worker: i64) -> Result<(), String>;
}

/// The result of starting a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartOutcome {
    /// The worker exists.
    Started(StartedWorker),
    /// The directory or session is taken; holds a message.
    Busy(String),
    /// The worker could not be started; holds a message.
    Failed(String),
}

/// A worker that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedWorker {
    /// Numeric id of the worker.
    pub id: i64,
    /// Session of the worker, if known.
    pub session_id: Option<String>,
}

/// The status of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerStatus {
    /// The worker.
    pub worker: StartedWorker,
    /// How and when the worker ended, if it has.
    pub ended: Option<(WorkerOutcome, Timestamp)>,
    /// Cost so far in US dollars, if known.
    pub cost_usd: Option<f64>,
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerOutcome {
    /// The task was completed.
    Finished,
    /// The task failed; holds a message.
    Failed(String),
    /// The worker was stopped.
    Stopped,
}

/// What one pass of the daemon did.
#[derive(Debug, Default)]
pub struct TickReport {
    /// Runs that changed, in their current state, with their jobs.
    pub changed: Vec<(Job, Run)>,
    /// Messages about what failed.
    pub problems: Vec<String>,
    /// When the next job is due.
    pub next: Option<Timestamp>,
    /// Whether any run has not ended.
    pub is_busy: bool,
}

/// Makes one pass over all jobs and runs. `default_zone` applies to jobs without a time zone.
pub fn tick(
    store: &mut JobStore,
    lease: &Lease,
    default_zone: &TimeZone,
    executor: &mut impl Executor,
) -> Result<TickReport, JobStoreError> {
    store.settle_after_wrong_clock(executor.now())?;
    let mut ticker = Ticker { store, lease, executor, report: TickReport::default() };
    ticker.check_open_runs()?;
    ticker.start_waiting_runs()?;
    ticker.start_due_jobs(default_zone)?;
    let (mut report, now) = (ticker.report, ticker.executor.now());
    let enabled = store.jobs()?.into_iter().filter(|job| job.enabled);
    report.next =
        enabled.filter_map(|job| job.spec.schedule.next_after(job.settled.max(now), default_zone)).min();
    report.is_busy = !store.open_runs()?.is_empty();
    Ok(report)
}

/// Runs a job immediately, whether or not another run is active. `starter` identifies the calling process.
pub fn run_now(
    store: &mut JobStore,
    job: &Job,
    starter: &str,
    executor: &mut impl Executor,
) -> Result<Run, JobStoreError> {
    let run = store.begin_manual_run(job.id, starter, &executor.new_run_key(), executor.now())?;
    start(store, job, run, executor)
}

/// Records the end of runs whose workers have ended, so that listings are correct even while no daemon runs.
pub fn record_finished_runs(store: &mut JobStore, executor: &mut impl Executor) -> Result<(), JobStoreError> {
    for (job, run) in store.open_runs()? {
        let Some(active) = ActiveRun::new(&job, &run) else { continue };
        // If the status cannot be determined now, the next pass tries again.
        if let Ok(found) = executor.worker_status(&run)
            && let Some(state) = active.final_state(found.as_ref(), executor.now())
        {
            store.set_run_state(&run, &state)?;
        }
    }
    Ok(())
}

struct Ticker<'a, E> {
    store: &'a mut JobStore,
    lease: &'a Lease,
    executor: &'a mut E,
    report: TickReport,
}

impl<E: Executor> Ticker<'_, E> {
    /// Records ended runs, stops runs over their time limit and finishes abandoned starts.
    fn check_open_runs(&mut self) -> Result<(), JobStoreError> {
        for (job, run) in self.store.open_runs()? {
            if let Some(active) = ActiveRun::new(&job, &run) {
                if let Some(state) = self.finished(&active, &run)
                    && self.store.set_run_state(&run, &state)?
                {
                    self.report.changed.push((job, Run { state, ..run }));
                }
            } else if run.state == RunState::Starting && self.is_start_abandoned(&run) {
                self.finish_start(job, run)?;
            }
        }
        Ok(())
    }

    fn start_waiting_runs(&mut self) -> Result<(), JobStoreError> {
        for (job, run) in self.store.open_runs()? {
            let now = self.executor.now();
            let is_time = matches!(run.state, RunState::Waiting { retry_at, .. } if retry_at <= now);
            if is_time && self.renew_lease()? && self.store.start_waiting(self.lease, &run, now)? {
                self.start(job, Run { state: RunState::Starting, claimed: now, ..run })?;
            }
        }
        Ok(())
    }

    fn start_due_jobs(&mut self, default_zone: &TimeZone) -> Result<(), JobStoreError> {
        for job in self.store.jobs()? {
            if !self.renew_lease()? {
                break;
            }
            let (key, now) = (self.executor.new_run_key(), self.executor.now());
            let ClaimOutcome::Claimed(run) =
                self.store.claim_due(self.lease, job.id, &key, now, default_zone)?
            else {
                continue;
            };
            if run.state == RunState::Starting {
                self.start(job, *run)?;
            } else {
                self.report.changed.push((job, *run));
            }
        }
        Ok(())
    }

    /// Renews the lease before each start, because starting takes time.
    fn renew_lease(&mut self) -> Result<bool, JobStoreError> {
        let (now, executor) = (self.executor.now(), &self.executor);
        Ok(self.store.acquire_lease(&self.lease.holder, now, |other| executor.is_alive(other))?.is_some())
    }

    fn is_start_abandoned(&self, run: &Run) -> bool {
        let takes = self.executor.now().duration_since(run.claimed).abs();
        takes > START_TIMEOUT || !self.executor.is_alive(&run.starter)
    }

    /// Finishes an abandoned start: its worker may exist already, else it is started now.
    fn finish_start(&mut self, job: Job, run: Run) -> Result<(), JobStoreError> {
        let now = self.executor.now();
        if !self.store.take_over(self.lease, &run, now)? {
            return Ok(());
        }
        let run = Run { claimed: now, ..run };
        let state = match self.executor.worker_status(&run) {
            Ok(Some(status)) => running(status.worker, now),
            Ok(None) if job.enabled || run.trigger == Trigger::Manual => return self.start(job, run),
            Ok(None) => RunState::skipped(DISABLED, now),
            Err(why) => {
                self.report.problems.push(why);
                return Ok(());
            }
        };
        self.store.set_run_state(&run, &state)?;
        self.report.changed.push((job, Run { state, ..run }));
        Ok(())
    }

    fn start(&mut self, job: Job, run: Run) -> Result<(), JobStoreError> {
        let run = start(self.store, &job, run, self.executor)?;
        self.report.changed.push((job, run));
        Ok(())
    }

    fn finished(&mut self, active: &ActiveRun, run: &Run) -> Option<RunState> {
        let found = match self.executor.worker_status(run) {
            Ok(found) => found,
            Err(why) => {
                self.report.problems.push(why);
                return None;
            }
        };
        let now = self.executor.now();
        if let Some(over) = active.final_state(found.as_ref(), now) {
            return Some(over);
        }
        if !active.is_over_limit(now) {
            return None;
        }
        if let Err(why) = self.executor.stop(active.worker.id) {
            self.report.problems.push(why);
            return None;
        }
        let stopped =
            found.map(|status| WorkerStatus { ended: Some((WorkerOutcome::Stopped, now)), ..status });
        active.final_state(stopped.as_ref(), now)
    }
}

/// A run whose worker is running.
struct ActiveRun {
    worker: StartedWorker,
    since: Timestamp,
    /// Time limit of the run.
    limit: Option<SignedDuration>,
}

impl ActiveRun {
    fn new(job: &Job, run: &Run) -> Option<Self> {
        let RunState::Running { worker, session_id, since } = &run.state else { return None };
        let started = StartedWorker { id: *worker, session_id: session_id.clone() };
        let seconds = job.spec.timeout_seconds().and_then(|seconds| i64::try_from(seconds).ok());
        Some(Self { worker: started, since: *since, limit: seconds.map(SignedDuration::from_secs) })
    }

    fn is_over_limit(&self, now: Timestamp) -> bool {
        self.limit.is_some_and(|limit| now.duration_since(self.since) > limit)
    }

    /// The final state of the run given its worker's status; `None` while the worker runs.
    fn final_state(&self, found: Option<&WorkerStatus>, now: Timestamp) -> Option<RunState> {
        let (ending, at) = match found {
            Some(status) => status.ended.clone()?,
            None => (WorkerOutcome::Failed("nothing is known of its worker any more".to_owned()), now),
        };
        let (outcome, message) = self.outcome(ending, at);
        Some(RunState::Over {
            outcome,
            message,
            worker: Some(self.worker.id),
            session_id: self.worker.session_id.clone(),
            cost_usd: found.and_then(|status| status.cost_usd),
            ended: at,
        })
    }

    /// A worker does not record who stopped it, and a daemon may be killed right after stopping one, so a
    /// worker stopped after its time limit counts as timed out.
    fn outcome(&self, ending: WorkerOutcome, at: Timestamp) -> (RunOutcome, Option<String>) {
        match ending {
            WorkerOutcome::Finished => (RunOutcome::Finished, None),
            WorkerOutcome::Failed(why) => (RunOutcome::Failed, Some(why)),
            WorkerOutcome::Stopped if self.is_over_limit(at) => {
                let took = at.duration_since(self.since).as_secs();
                (RunOutcome::TimedOut, Some(format!("it was ended after {took} s")))
            }
            WorkerOutcome::Stopped => (RunOutcome::Failed, Some("somebody ended it".to_owned())),
        }
    }
}

/// Starts the worker of a run and records the result.
fn start(
    store: &mut JobStore,
    job: &Job,
    run: Run,
    executor: &mut impl Executor,
) -> Result<Run, JobStoreError> {
    let started = executor.start(job, &run);
    let now = executor.now();
    // A person gets an error at once; a scheduled run waits.
    let can_wait = run.trigger != Trigger::Manual;
    let state = match started {
        StartOutcome::Started(worker) => running(worker, now),
        StartOutcome::Busy(why) if can_wait => RunState::waiting(&why, now + RETRY_AFTER),
        StartOutcome::Busy(why) => RunState::skipped(&why, now),
        StartOutcome::Failed(why) => RunState::ended(RunOutcome::Failed, Some(why), now),
    };
    store.set_run_state(&run, &state)?;
    Ok(Run { state, ..run })
}

fn running(worker: StartedWorker, since: Timestamp) -> RunState {
    RunState::Running { worker: worker.id, session_id: worker.session_id, since }
}
