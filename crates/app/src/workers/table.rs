//! Opens the table of workers, recovers it after a crash, and looks workers up.

use std::path::PathBuf;

use workers::store::{FILE, Worker};
use workers::{WorkerId, WorkerStore, recover};

use crate::{Context, Error, Kind, NextStep};

/// Whether there ever was a worker.
pub(crate) fn exists(context: &Context) -> bool {
    file(context).exists()
}

/// Opens the table and recovers workers whose Backstory was killed.
pub(crate) fn open_recovered(context: &Context) -> Result<WorkerStore, Error> {
    let mut table = open(context)?;
    recover(&mut table, &context.config().places().config_folders, &state_folder(context), context.now)
        .map_err(unusable)?;
    Ok(table)
}

pub(crate) fn open(context: &Context) -> Result<WorkerStore, Error> {
    WorkerStore::open(&file(context)).map_err(unusable)
}

fn file(context: &Context) -> PathBuf {
    context.config().state.join(FILE)
}

/// The canonical path of Backstory's state folder, the same in all its processes.
pub(crate) fn state_folder(context: &Context) -> PathBuf {
    context.config().state.canonicalize().unwrap_or_else(|_| context.config().state.clone())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn unusable(error: workers::store::WorkerStoreError) -> Error {
    Error::caused(Kind::Unavailable, "cannot use the table of workers", &error)
}

pub(crate) fn find(context: &Context, table: &WorkerStore, text: &str) -> Result<Worker, Error> {
    lookup(context, table, text)?.ok_or_else(|| {
        Error::new(Kind::NotFound, format!("there is no worker `{text}`"))
            .hint("give a worker's number or its session's id")
            .next(NextStep::ListWorkers)
    })
}

/// A worker by its number, or the newest of a session by its id or the beginning of that.
pub(crate) fn lookup(context: &Context, table: &WorkerStore, text: &str) -> Result<Option<Worker>, Error> {
    let is_visible = |worker: &Worker| context.may_see_worker(worker);
    if let Ok(id) = text.parse()
        && let Some(worker) = table.get(id).map_err(unusable)?.filter(is_visible)
    {
        return Ok(Some(worker));
    }
    let all = table.newest(usize::MAX).map_err(unusable)?;
    let begins =
        |worker: &&Worker| is_visible(worker) && text.len() >= 4 && worker.session.as_str().starts_with(text);
    let mut named: Vec<_> = all.iter().filter(begins).collect();
    named.dedup_by(|one, other| one.session == other.session);
    if named.len() > 1 {
        let message = format!("several workers' session ids start with `{text}`; give a worker's number");
        return Err(Error::new(Kind::Ambiguous, message).next(NextStep::ListWorkers));
    }
    Ok(named.first().map(|worker| (*worker).clone()))
}

/// A worker by its number; `None` where the caller may not see it.
pub(crate) fn visible(context: &Context, table: &WorkerStore, id: WorkerId) -> Result<Option<Worker>, Error> {
    Ok(table.get(id).map_err(unusable)?.filter(|worker| context.is_of(worker.agent.as_ref())))
}

/// The name of a worker in a message; `None` is a worker the caller may not see.
pub(crate) fn worker_name(worker: Option<&Worker>) -> String {
    worker.map_or_else(|| "another worker".to_owned(), |worker| format!("worker {}", worker.id))
}

pub(crate) fn not_running(worker: &Worker) -> Error {
    if worker.state.is_over() {
        return already_ended(worker);
    }
    Error::new(Kind::Unavailable, format!("worker {} cannot be reached", worker.id))
        .next(NextStep::ListWorkers)
}

pub(crate) fn already_ended(worker: &Worker) -> Error {
    let message = format!("worker {} has ended: {}", worker.id, worker.state.as_str());
    Error::new(Kind::NotFound, message)
        .next(NextStep::Show { session: worker.session.clone() })
        .next(NextStep::Send { worker: worker.id })
}
