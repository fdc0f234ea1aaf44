//! `attach` and `stop`: watches a worker, sends it commands, ends it.

use workers::store::Worker;
use workers::{Command, Event, Limits, RemoteWorker, WorkerState};

use crate::workers::link::{Link, Peer};
use crate::workers::list::{self, WorkerInfo};
use crate::workers::table::{self, already_ended, not_running, open_recovered, state_folder, unusable};
use crate::{Context, Error, Kind, NextStep};

/// Connects to a running worker, to follow and answer it.
pub fn attach(context: &Context, text: &str) -> Result<(WorkerInfo, Link), Error> {
    let table = open_recovered(context)?;
    let worker = table::find(context, &table, text)?;
    let remote =
        RemoteWorker::connect(&state_folder(context), worker.id).map_err(|_| not_running(&worker))?;
    Ok((list::describe(context, &table, &worker)?, Link::new(context, worker.id, Peer::There(remote))))
}

/// Ends a worker: one that waits is cancelled, one that runs is interrupted and ended, and what a killed Backstory
/// left running is ended too.
pub(crate) fn stop(context: &Context, text: &str) -> Result<WorkerInfo, Error> {
    let mut table = open_recovered(context)?;
    let worker = table::find(context, &table, text)?;
    if table.cancel(worker.id, context.now).map_err(unusable)? {
        return list::find(context, &worker.id.to_string());
    }
    if worker.state.is_over() && worker.slot_state.is_none() {
        return Err(already_ended(&worker));
    }
    if worker.host.is_alive() {
        let remote =
            RemoteWorker::connect(&state_folder(context), worker.id).map_err(|_| not_running(&worker))?;
        match remote.command(&Command::Stop) {
            // The last event is its end.
            Ok(()) => drop(remote.events.iter().find(|event| matches!(&**event, Event::Ended { .. }))),
            // It may have ended by itself before it read the command.
            Err(_) if table.get(worker.id).map_err(unusable)?.is_none_or(|now| now.state.is_over()) => {}
            Err(why) => return Err(Error::new(Kind::Unavailable, format!("worker {}: {why}", worker.id))),
        }
    } else {
        workers::end_orphan(&worker, Limits::default().grace);
        table.set_state(worker.id, &WorkerState::Stopped, context.now).map_err(unusable)?;
    }
    list::find(context, &worker.id.to_string())
}

/// Asks an idle worker to end, because its session is needed; returns whether it agrees. A worker with more work
/// does not.
pub(crate) fn agrees_to_end(context: &Context, worker: &Worker) -> bool {
    RemoteWorker::connect(&state_folder(context), worker.id)
        .is_ok_and(|remote| remote.command(&Command::Yield).is_ok())
}

/// Tells a worker that the task it was started for is done.
pub(crate) fn close(context: &Context, worker: &Worker) -> Result<(), Error> {
    send_command(context, worker, &Command::Close)
}

pub(crate) fn send_command(context: &Context, worker: &Worker, command: &Command) -> Result<(), Error> {
    let remote = RemoteWorker::connect(&state_folder(context), worker.id).map_err(|_| not_running(worker))?;
    let refused = |why: String| {
        Error::new(Kind::Held, format!("worker {}: {why}", worker.id)).next(NextStep::ListWorkers)
    };
    remote.command(command).map_err(refused)
}
