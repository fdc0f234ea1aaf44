//! Executes scheduled runs with workers: starts, observes and stops them.

use jiff::Timestamp;
use schedule::{
    Executor, Job, JobOptions, Payload, Run, SessionTarget, StartOutcome, StartedWorker, WorkerOutcome,
    WorkerStatus,
};
use workers::store::Worker;
use workers::{ProcessIdentity, WorkerState};

use crate::ids::new_uuid;
use crate::workers::control::{close, stop};
use crate::workers::host::{detach, find_by_message};
use crate::workers::run;
use crate::workers::start::permission_mode;
use crate::{Context, Error, Kind};

/// The label of a directory's main session.
const MAIN: &str = "main";

/// Runs jobs with workers.
pub(super) struct WorkerExecutor<'a> {
    pub(super) context: &'a Context,
}

/// The identity of this process as text.
pub(super) fn process_identity() -> String {
    serde_json::to_string(&ProcessIdentity::current()).unwrap_or_default()
}

/// Whether the process with this identity is alive; true for a text that is no identity, where only the age of the
/// lease counts.
pub(super) fn is_process_alive(own: &str) -> bool {
    serde_json::from_str::<ProcessIdentity>(own).map_or(true, |life| life.is_alive())
}

/// Refuses options that no worker can have.
pub(super) fn check(options: &JobOptions) -> Result<(), Error> {
    worker_options(options)?;
    agent(options).map(drop)
}

impl Executor for WorkerExecutor<'_> {
    fn now(&self) -> Timestamp {
        self.context.read_clock()
    }

    fn new_run_key(&self) -> String {
        new_uuid()
    }

    fn is_alive(&self, starter: &str) -> bool {
        is_process_alive(starter)
    }

    fn start(&mut self, job: &Job, run: &Run) -> StartOutcome {
        match self.start_worker(job, run) {
            Ok(started) => StartOutcome::Started(started),
            // The worker may have been added before something failed.
            Err(error) => match self.worker_status(run) {
                Ok(Some(status)) => StartOutcome::Started(status.worker),
                _ if error.kind == Kind::Held => StartOutcome::Busy(error.message),
                _ => StartOutcome::Failed(error.message),
            },
        }
    }

    fn worker_status(&mut self, run: &Run) -> Result<Option<WorkerStatus>, String> {
        let context = self.refreshed();
        let found = find_by_message(&context, &run.key).map_err(|error| error.message)?;
        if let Some(worker) = found.as_ref().filter(|worker| matches!(worker.state, WorkerState::Idle { .. }))
            && worker.host.is_alive()
        {
            // Its end says how it went. Where it cannot be reached it is ending, or is found lost.
            let _ = close(&context, worker);
        }
        Ok(found.map(status_of))
    }

    fn stop(&mut self, worker: i64) -> Result<(), String> {
        let stopped = stop(&self.refreshed(), &worker.to_string());
        stopped.map(drop).map_err(|error| error.message)
    }
}

impl WorkerExecutor<'_> {
    /// The context with the current time: a daemon runs for long.
    fn refreshed(&self) -> Context {
        self.context.refreshed()
    }

    fn start_worker(&self, job: &Job, run: &Run) -> Result<StartedWorker, Error> {
        let context = self.refreshed();
        let ready = run::prepare(&context, &task_spec(job, run)?)?;
        detach(&context, ready.worker)?;
        Ok(StartedWorker { id: ready.worker, session_id: Some(ready.session_id.to_string()) })
    }
}

/// The task of a run, as `run` takes one.
fn task_spec(job: &Job, run: &Run) -> Result<run::TaskSpec, Error> {
    let spec = &job.spec;
    if !spec.directory.is_dir() {
        let message = format!("its directory {} is gone", spec.directory.display());
        return Err(Error::new(Kind::Unavailable, message));
    }
    let (how, label) = match spec.session_target {
        SessionTarget::Main => (run::TaskSession::Chosen, Some(MAIN.to_owned())),
        SessionTarget::Isolated => (run::TaskSession::Fresh, None),
    };
    let mut options = worker_options(&spec.options)?;
    if let Payload::AgentTurn { model, thinking, .. } = &spec.payload {
        (options.model, options.effort) = (model.clone(), thinking.clone());
    }
    Ok(run::TaskSpec {
        task: spec.message(),
        repo: Some(spec.directory.display().to_string()),
        session: how,
        chosen: None,
        label,
        agent: agent(&spec.options)?,
        options,
        once: true,
        message: Some(run.key.clone()),
        worktree: None,
    })
}

pub(super) fn worker_options(options: &JobOptions) -> Result<run::WorkerOptions, Error> {
    Ok(run::WorkerOptions {
        permission_mode: permission_mode(options.permission_mode.as_deref())?,
        allowed_tools: options.allowed_tools.clone(),
        budget_usd: options.budget_usd,
        ..run::WorkerOptions::default()
    })
}

fn agent(options: &JobOptions) -> Result<Option<model::AgentId>, Error> {
    let agent = options.agent_id.as_deref().map(str::parse).transpose();
    agent.map_err(|error| Error::new(Kind::Usage, format!("agent: {error}")))
}

fn status_of(worker: Worker) -> WorkerStatus {
    let ending = match worker.state {
        WorkerState::Finished { .. } => Some(WorkerOutcome::Finished),
        WorkerState::Failed { message, .. } => Some(WorkerOutcome::Failed(message)),
        WorkerState::Stopped => Some(WorkerOutcome::Stopped),
        WorkerState::Lost { is_living: false } => {
            Some(WorkerOutcome::Failed("it was killed in the middle of its task".to_owned()))
        }
        WorkerState::Lost { is_living: true }
        | WorkerState::Queued
        | WorkerState::Starting
        | WorkerState::Running
        | WorkerState::WaitingPermission { .. }
        | WorkerState::Idle { .. } => None,
    };
    let ended = ending.map(|ending| (ending, worker.stats.stopped.unwrap_or(worker.stats.changed)));
    let started = StartedWorker { id: worker.id, session_id: Some(worker.session.to_string()) };
    WorkerStatus { worker: started, ended, cost_usd: Some(worker.stats.cost_usd) }
}
