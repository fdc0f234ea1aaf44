//! Records what a worker does for an OpenClaw agent in that agent's registry, turn by turn.

use std::sync::mpsc::{Receiver, channel};

use jiff::Timestamp;
use openclaw::AgentRun;
use workers::store::Worker;
use workers::{Event, QueuePolicy, WorkerHandle, WorkerStore};

use crate::workers::table::{open, unusable};
use crate::{Context, Error};

/// Records one worker on a thread of its own until the worker has ended.
#[derive(Debug)]
pub(crate) struct RegistryRecorder {
    done: Receiver<Option<String>>,
}

impl RegistryRecorder {
    /// Starts recording a worker that is about to work; `None` if it works for no agent.
    pub(crate) fn start(context: &Context, handle: &WorkerHandle) -> Result<Option<Self>, Error> {
        let mut table = open(context)?;
        if table.get(handle.id).map_err(unusable)?.is_none_or(|worker| worker.agent.is_none()) {
            return Ok(None);
        }
        let (context, handle, (end, done)) = (context.clone(), handle.clone(), channel());
        let events = handle.listen(QueuePolicy::Unbounded);
        std::thread::spawn(move || {
            let mut said = None;
            for event in &events {
                if !matches!(&*event, Event::Started(_) | Event::Result(_) | Event::Ended { .. }) {
                    continue;
                }
                let problem = table.get(handle.id).ok().flatten();
                let problem =
                    problem.and_then(|worker| enter(&context, &mut table, &worker, &context.app.clock).err());
                if matches!(&*event, Event::Ended { .. }) {
                    said = problem;
                    break;
                }
                // A failure that repeats every turn is reported once.
                if let Some(text) = problem.filter(|text| said.as_ref() != Some(text)) {
                    handle.note(text.clone());
                    said = Some(text);
                }
            }
            // The receiver may be gone if the program ends at once.
            let _ = end.send(said);
        });
        Ok(Some(Self { done }))
    }

    /// Waits until the worker's end is recorded; returns the failure, if any.
    pub(crate) fn wait(&self) -> Option<String> {
        self.done.recv().ok().flatten()
    }
}

/// Records the ends of workers whose Backstory was killed before it could.
pub(crate) fn record_missing_ends(context: &Context, table: &mut WorkerStore) -> Result<(), Error> {
    for worker in table.unreported().map_err(unusable)? {
        // If the registry cannot be written now, the next call tries again; `doctor` reports the reason.
        let _ = enter(context, table, &worker, &|| context.now);
    }
    Ok(())
}

fn enter(
    context: &Context,
    table: &mut WorkerStore,
    worker: &Worker,
    clock: &dyn Fn() -> Timestamp,
) -> Result<(), String> {
    let (Some(agent), Some(_)) = (&worker.agent, worker.stats.started) else { return Ok(()) };
    let first = (&worker.message, &worker.task);
    let (message, task) = worker.last_follow_up.as_ref().map_or(first, |(message, task)| (message, task));
    let run = AgentRun {
        run: &worker.message,
        at: worker.stats.created,
        session: &worker.session,
        repo: &worker.slot,
        label: worker.spec.label.as_deref(),
        message,
        task,
        cost_usd: worker.stats.cost_usd,
        turns: worker.stats.turns,
    };
    let entered = openclaw::folder_for(context.config().store_folders(), &context.config().home, agent)
        .and_then(|folder| openclaw::record_run(&folder, &run, clock));
    entered.map_err(|problem| {
        format!("OpenClaw's {} {} {}", problem.path.display(), problem.what, problem.next_step)
    })?;
    if worker.state.is_over() {
        table.mark_reported(worker.id).map_err(|error| error.to_string())?;
    }
    Ok(())
}
