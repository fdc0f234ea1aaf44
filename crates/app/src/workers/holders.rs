//! Who holds a session or a work tree now: Backstory's own workers by their table, other processes by what the
//! catalog knows of their processes.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Session, SessionId};
use selection::Occupancy;
use workers::store::{SlotState, Worker};
use workers::{PermissionMode, ProcessIdentity, WorkerState};

use crate::workers::control::agrees_to_end;
use crate::workers::host::pause;
use crate::workers::table::{exists, open, open_recovered, unusable};
use crate::{Context, Error};

/// How long an idle worker may take to end once it has agreed to: a busy machine takes seconds for each step.
const END_TIMEOUT: Duration = Duration::from_mins(1);

/// The sessions that Backstory's own workers hold.
#[derive(Debug, Default)]
pub(crate) struct HeldSessions {
    /// By session, without workers whose processes are all gone.
    workers: HashMap<SessionId, Worker>,
}

impl HeldSessions {
    /// Loads what the workers hold now.
    pub(crate) fn load(context: &Context) -> Result<Self, Error> {
        if !exists(context) {
            return Ok(Self::default());
        }
        let living = open(context)?.active().map_err(unusable)?.into_iter().filter(is_alive);
        Ok(Self { workers: living.map(|worker| (worker.session.clone(), worker)).collect() })
    }

    /// Who holds a session, for the choice of a session: one held by an idle worker is free, because the worker ends
    /// for the next task.
    pub(crate) fn occupancy(&self, session: &Session) -> Occupancy {
        match self.workers.get(&session.id) {
            Some(worker) if is_idle(worker) => Occupancy::Free,
            Some(_) => Occupancy::Worker,
            None => Occupancy::from_session(session),
        }
    }

    /// Whether an idle worker holds this session.
    pub(crate) fn has_idle(&self, session: &SessionId) -> bool {
        self.workers.get(session).is_some_and(is_idle)
    }

    /// The permission mode that a session's worker is in.
    pub(crate) fn permission_mode(&self, session: &SessionId) -> Option<PermissionMode> {
        self.workers.get(session).map(|worker| worker.spec.options.permission_mode)
    }

    /// Whether a worker holds this session.
    pub(crate) fn has(&self, session: &SessionId) -> bool {
        self.workers.contains_key(session)
    }

    /// The worker that runs in the work tree with this root (a real path), else the first one queued for it.
    pub(crate) fn worker_in(&self, root: &Path) -> Option<&Worker> {
        let here = self.workers.values().filter(|worker| worker.slot == root);
        let working = here.filter(|worker| worker.slot_state != Some(SlotState::Idle));
        // The one that runs comes before the one that waits for it.
        working.min_by_key(|worker| (worker.slot_state == Some(SlotState::Queued), worker.id))
    }

    /// Whether no worker holds a session.
    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }
}

/// Ends an idle worker that holds this session, so that another one can continue it. A worker that is busy or has
/// been sent more work is left alone.
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
    if !agrees_to_end(context, &worker) {
        return Ok(());
    }
    // Its process ends before it releases its directory.
    let began = Instant::now();
    while held()?.is_some_and(|now| now.id == worker.id && is_alive(&now)) && began.elapsed() < END_TIMEOUT {
        pause();
    }
    Ok(())
}

/// Whether a worker is between turns and its host is alive to end it.
fn is_idle(worker: &Worker) -> bool {
    let is_at_rest = matches!(worker.state, WorkerState::Idle { .. });
    is_at_rest && worker.slot_state == Some(SlotState::Idle) && worker.host.is_alive()
}

/// Whether a worker's host or its own process is alive. The remains of dead ones are
/// recovered before the next worker runs.
fn is_alive(worker: &Worker) -> bool {
    worker.host.is_alive() || worker.process.as_ref().is_some_and(ProcessIdentity::is_alive)
}
