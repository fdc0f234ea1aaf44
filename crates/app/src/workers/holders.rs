//! Who holds a session or a work tree at this moment: Backstory's own workers by their table, all others by what the
//! catalog knows of their processes.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Session, SessionId};
use selection::Occupancy;
use workers::store::{SlotState, Worker};
use workers::{ProcessIdentity, WorkerState};

use crate::workers::control::yields;
use crate::workers::host::pause;
use crate::workers::table::{exists, open, open_recovered, unusable};
use crate::{Context, Error};

/// How long an idle worker may take to end once it has agreed to: a busy machine takes seconds for each step.
const ENDS: Duration = Duration::from_mins(1);

/// What Backstory's own workers hold.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    /// By session; nothing of those whose processes are all gone.
    workers: HashMap<SessionId, Worker>,
}

impl Holds {
    /// What the workers hold now.
    pub(crate) fn find(context: &Context) -> Result<Self, Error> {
        if !exists(context) {
            return Ok(Self::default());
        }
        let living = open(context)?.active().map_err(unusable)?.into_iter().filter(is_there);
        Ok(Self { workers: living.map(|worker| (worker.session.clone(), worker)).collect() })
    }

    /// Who holds a session, as far as the choice is concerned: an idle worker makes way for the next task.
    pub(crate) fn of(&self, session: &Session) -> Occupancy {
        match self.workers.get(&session.id) {
            Some(worker) if is_idle(worker) => Occupancy::Free,
            Some(_) => Occupancy::Worker,
            None => Occupancy::from_session(session),
        }
    }

    /// Whether a worker that is between turns has this session.
    pub(crate) fn has_idle(&self, session: &SessionId) -> bool {
        self.workers.get(session).is_some_and(is_idle)
    }

    /// Whether a worker has this session.
    pub(crate) fn has(&self, session: &SessionId) -> bool {
        self.workers.contains_key(session)
    }

    /// The worker that runs in the work tree with this root, a real path, or is the next there.
    pub(crate) fn taking(&self, root: &Path) -> Option<&Worker> {
        let here = self.workers.values().filter(|worker| worker.slot == root);
        let taking = here.filter(|worker| worker.slot_state != Some(SlotState::Idle));
        // The one that runs comes before the one that waits for it.
        taking.min_by_key(|worker| (worker.slot_state == Some(SlotState::Queued), worker.id))
    }

    /// Whether any worker has anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }
}

/// Ends the worker that has this session and is idle, so that another one can go on with it. One that works, or has
/// been given more to do meanwhile, is left alone.
pub(crate) fn end_idle(context: &Context, session: &SessionId) -> Result<(), Error> {
    if !exists(context) {
        return Ok(());
    }
    let table = open_recovered(context)?;
    let held = || -> Result<Option<Worker>, Error> {
        let all = table.by_session(session).map_err(unusable)?;
        Ok(all.into_iter().find(|worker| worker.slot_state.is_some()))
    };
    let Some(worker) = held()?.filter(is_idle) else { return Ok(()) };
    if !yields(context, &worker) {
        return Ok(());
    }
    // Its process is gone before its place is given back.
    let began = Instant::now();
    while held()?.is_some_and(|now| now.id == worker.id && is_there(&now)) && began.elapsed() < ENDS {
        pause();
    }
    Ok(())
}

/// Whether a worker is between turns and somebody is there to end it.
fn is_idle(worker: &Worker) -> bool {
    let is_at_rest = matches!(worker.state, WorkerState::Idle { .. });
    is_at_rest && worker.slot_state == Some(SlotState::Idle) && worker.host.is_alive()
}

/// Whether the Backstory that runs a worker lives, or the worker's own process does. What both have left behind is
/// put right by whoever runs the next worker.
fn is_there(worker: &Worker) -> bool {
    worker.host.is_alive() || worker.process.as_ref().is_some_and(ProcessIdentity::is_alive)
}
