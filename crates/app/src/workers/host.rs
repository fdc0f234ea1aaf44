//! Where a worker runs: in this process, or in a background process of its own that outlives the terminal.

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use workers::store::Worker;
use workers::{BridgeServer, Limits, ProcessIdentity, RemoteWorker, RunnerConfig, WorkerId, WorkerStore};

use crate::proceed::claude::{self, ControllableClaude};
use crate::retention::archive;
use crate::workers::link::{Link, Peer};
use crate::workers::registry::{self, RegistryRecorder};
use crate::workers::table::{exists, open, open_recovered, state_folder, unusable};
use crate::{Context, Error, Kind, NextStep};

/// How long a background process may take until it can be reached: on a busy machine `claude` alone takes seconds
/// to print its release.
const CONNECT_TIMEOUT: Duration = Duration::from_mins(5);
/// How often the state of another process is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Takes over a worker of another Backstory process and runs it until it ends.
///
/// Does nothing if another process runs it already.
pub fn supervise(context: &Context, id: WorkerId) -> Result<Option<Link>, Error> {
    let mut table = open(context)?;
    let own = ProcessIdentity::current();
    let began = Instant::now();
    while began.elapsed() < CONNECT_TIMEOUT {
        let Some(worker) = table.get(id).map_err(unusable)?.filter(|worker| worker.slot_state.is_some())
        else {
            return Ok(None);
        };
        if worker.host == own {
            return run_in_this_process(context, id, claude::controllable(context)?).map(Some);
        }
        if !worker.host.is_alive() {
            table.hand_over(id, &worker.host, &own).map_err(unusable)?;
        }
        pause();
    }
    Ok(None)
}

/// Runs a worker of the table in this process.
pub(crate) fn run_in_this_process(
    context: &Context,
    id: WorkerId,
    claude: ControllableClaude,
) -> Result<Link, Error> {
    archive::copy_due(context);
    let (handle, _) = workers::start(runner_config(context, claude), id).map_err(unusable)?;
    let recorder = RegistryRecorder::start(context, &handle)?;
    Ok(Link::new(context, id, Peer::Here { handle, recorder }))
}

/// Starts a background process for a worker, and waits until it can be reached or has ended.
pub fn detach(context: &Context, id: WorkerId) -> Result<(), Error> {
    hand_over(context, &mut open(context)?, id, &ProcessIdentity::current())?;
    let began = Instant::now();
    while began.elapsed() < CONNECT_TIMEOUT {
        if RemoteWorker::connect(&state_folder(context), id).is_ok() {
            return Ok(());
        }
        let worker = open(context)?.get(id).map_err(unusable)?.filter(|worker| !worker.state.is_over());
        match worker {
            None => return Ok(()),
            Some(worker) if !worker.host.is_alive() => break,
            Some(_) => pause(),
        }
    }
    let message = format!("worker {id} was started in the background, but cannot be reached");
    Err(Error::new(Kind::Unavailable, message).next(NextStep::ListWorkers))
}

/// Recovers the workers of a killed Backstory: unfinished tasks run again in the background.
pub(crate) fn recover_orphans(context: &Context) -> Result<(), Error> {
    if !exists(context) {
        return Ok(());
    }
    let mut table = open_recovered(context)?;
    let waiting = table.active().map_err(unusable)?.into_iter().filter(|worker| !worker.host.is_alive());
    let waiting: Vec<_> = waiting.filter(|worker| !worker.state.is_over()).collect();
    for worker in waiting {
        hand_over(context, &mut table, worker.id, &worker.host)?;
    }
    registry::record_missing_ends(context, &mut table)
}

/// The worker whose first message has this id, after recovering the workers of a killed Backstory.
pub(crate) fn find_by_message(context: &Context, message: &str) -> Result<Option<Worker>, Error> {
    recover_orphans(context)?;
    open_recovered(context)?.by_first_message(message).map_err(unusable)
}

/// Hands a worker of `from` over to a new background process, unless another process has taken it meanwhile.
fn hand_over(
    context: &Context,
    table: &mut WorkerStore,
    id: WorkerId,
    from: &ProcessIdentity,
) -> Result<(), Error> {
    let mut process = Process::new(context.program());
    process
        .arg("worker")
        .arg(id.to_string())
        .current_dir(&context.config().home)
        .envs(&context.config().for_workers)
        .env_remove(workers::MARK_VARIABLE);
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error: &std::io::Error| {
        Error::caused(
            Kind::Unavailable,
            format!("cannot start {} in the background", context.program().display()),
            error,
        )
    };
    let mut child = process.spawn().map_err(|error| failed(&error))?;
    // If it has ended already, the table has the worker's outcome.
    if let Some(life) = ProcessIdentity::from_pid(child.id()) {
        table.hand_over(id, from, &life).map_err(unusable)?;
    }
    // Reap the child, so that a long-running process leaves no zombies.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// The configuration with which workers run.
fn runner_config(context: &Context, claude: ControllableClaude) -> RunnerConfig {
    let settings = context.config().settings.workers;
    let limits = Limits {
        start: Duration::from_secs(settings.start_seconds.into()),
        silence: Duration::from_secs(settings.silent_seconds.into()),
        idle: Duration::from_secs(u64::from(settings.idle_minutes) * 60),
        ..Limits::default()
    };
    let ControllableClaude { program, release } = claude;
    let folders = context.config().places().config_folders;
    let state = state_folder(context);
    let bridge = BridgeServer {
        program: context.program().to_owned(),
        environment: [("BACKSTORY_HOME".to_owned(), state.to_string_lossy().into_owned())].into(),
    };
    RunnerConfig { home: state, program, release, limits, bridge, folders, clock: context.app.clock }
}

/// Waits a moment for another process, whose start and end cannot be waited for.
#[expect(clippy::disallowed_methods, reason = "another process's start and end cannot be waited for")]
pub(crate) fn pause() {
    std::thread::sleep(POLL_INTERVAL);
}
