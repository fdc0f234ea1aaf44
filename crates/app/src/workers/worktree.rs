//! Work trees for tasks: created before a worker starts, removed on request if no work would be lost.

use std::path::{Path, PathBuf};

use project::WorkTree;
use transcript::{ConfigFolder, RegisteredProcess};

use crate::ids::new_uuid;
use crate::repository::target::RepoTarget;
use crate::workers::control::stop;
use crate::workers::list::{WorkerInfo, find};
use crate::workers::table::{open_recovered, unusable, worker_name};
use crate::{Context, Error, Kind, NextStep};

/// The work tree that a task is to be done in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worktree {
    /// A new work tree, for this worker.
    New,
    /// The work tree with this name, created if it is missing.
    Named(String),
}

/// An ended worker whose work tree was removed.
#[derive(Debug, Clone)]
pub(crate) struct RemovedWorktree {
    /// The worker.
    pub(crate) worker: WorkerInfo,
    /// The work tree that was removed.
    pub(crate) path: PathBuf,
}

/// Creates the work tree in a repository.
pub(crate) fn create(context: &Context, repo: Option<&str>, wanted: &Worktree) -> Result<WorkTree, Error> {
    let name = match wanted {
        Worktree::New => format!("task-{}", new_uuid().chars().take(8).collect::<String>()),
        Worktree::Named(name) => name.clone(),
    };
    if !project::is_work_tree_name(&name) {
        let message =
            format!("`{name}` is not a valid work tree name: it becomes part of a path and of a branch");
        return Err(Error::new(Kind::Usage, message)
            .hint("use letters, digits, `-`, `_` and `.`, at most 64 characters"));
    }
    let target = if let Some(target) = RepoTarget::directory(context, repo)? {
        target
    } else {
        let sessions = crate::sessions::select::all(context)?.sessions;
        RepoTarget::by_name(repo.unwrap_or_default(), sessions.iter())?
    };
    project::add_work_tree(&target.place(context), &name).map_err(|why| {
        Error::new(Kind::Unavailable, why)
            .hint("give the work tree another name, or work in the repository itself")
    })
}

/// Removes a new work tree in which no worker has started.
pub(crate) fn remove_if_unused(context: &Context, path: &Path) {
    // If it cannot be removed, the next task can use it.
    let _ = project::remove_work_tree(&target_of(path).place(context));
}

/// Stops a worker if it is running, and removes its work tree if nothing would be lost.
pub(crate) fn remove(context: &Context, text: &str) -> Result<RemovedWorktree, Error> {
    let before = find(context, text)?;
    let number = before.worker.to_string();
    let is_stopped = before.slot.is_some();
    let worker = if is_stopped { stop(context, &number)? } else { before };
    let what = if is_stopped { "was stopped" } else { "had ended" };
    let begun = format!("worker {number} {what}");
    if !worker.directory.is_dir() {
        let message = format!("{begun}; its work tree {} is gone already", worker.directory.display());
        return Err(Error::new(Kind::NotFound, message).next(NextStep::ListWorkers));
    }
    let target = target_of(&worker.directory);
    let path = target.work_tree(context);
    if !project::is_own_work_tree(&target.place(context)) {
        let message = format!("{begun}; it had no work tree of its own: {} is kept", path.display());
        return Err(Error::new(Kind::Held, message).next(NextStep::ListWorkers));
    }
    let kept = |why: String| {
        Error::new(Kind::Held, format!("{begun}; the work tree {} is kept: {why}", path.display()))
            .next(NextStep::RemoveWorkTree { worker: worker.worker })
    };
    let living = open_recovered(context)?.active().map_err(unusable)?;
    if let Some(other) = living.iter().find(|other| other.slot == path) {
        let visible = Some(other).filter(|other| context.may_see_worker(other));
        return Err(kept(format!("{} is working there", worker_name(visible))));
    }
    if let Some(live) = open_in(context, &path) {
        // Finding the owner would take reading every session; an agent only learns that there is one.
        let session = if context.is_limited() {
            "a session is open there".to_owned()
        } else {
            format!("session {} is open there in process {}", live.session, live.pid)
        };
        return Err(kept(session));
    }
    project::remove_work_tree(&target.place(context)).map_err(kept)?;
    Ok(RemovedWorktree { worker, path })
}

/// A live process whose session works in a directory.
fn open_in(context: &Context, path: &Path) -> Option<RegisteredProcess> {
    let registries =
        context.config().claude_folders.iter().map(|folder| ConfigFolder::new(folder).live_registry());
    let mut all = registries.flat_map(|registry| RegisteredProcess::find(&registry));
    all.find(|live| live.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(path)))
}

fn target_of(directory: &Path) -> RepoTarget {
    RepoTarget { directory: directory.to_owned(), root: directory.to_owned() }
}
