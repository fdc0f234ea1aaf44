//! `stop`: stops a worker, and removes its work tree if asked to; or a background job of Claude Code.

use std::io::Write as _;

use app::proceed::background;
use app::workers::stop::{Request, stop};
use app::{Context, Error, Kind};

use super::which_worker::{self, WorkerAction};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::safe;

/// Stop a worker and everything it started; cancel it if it still waits.
///
/// A background job of Claude Code is stopped by `claude stop`; its conversation is kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id; or a background job's id, its session's id or its name; without it, choose one on the terminal.
    #[arg(value_name = "WORKER")]
    worker: Option<String>,
    /// Also remove its work tree if nothing would be lost.
    #[arg(long)]
    remove_worktree: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// For the worker of a session.
    pub(crate) fn of(session: String) -> Self {
        Self { worker: Some(session), remove_worktree: false, json: false }
    }
}

/// What is done with a worker.
const ACTION: WorkerAction = WorkerAction {
    verb: "stop",
    none: "no worker is running",
    is_for: |worker| !worker.state.is_over(),
    asks: true,
};

/// Stops the worker.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let named = which_worker::meant(context, args.worker.as_deref(), ACTION)?;
    let request = Request { worker: named.clone(), remove_worktree: args.remove_worktree };
    let answer = match stop(context, &request) {
        Err(error) if error.kind == Kind::NotFound => return stop_job(context, args, &named, error),
        stopped => stopped?,
    };
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    writeln!(out, "worker {}: {}", answer.worker.worker, answer.worker.state.as_str())?;
    if let Some(removed) = &answer.removed_worktree {
        writeln!(out, "removed {}", safe(&removed.display().to_string()))?;
    }
    Ok(out.finish()?)
}

/// Stops a background job; `error` says that there is no such worker.
fn stop_job(context: &Context, args: &Args, named: &str, error: Error) -> Result<(), Failure> {
    let Some(found) = background::find(context, named)? else { return Err(error.into()) };
    let id = &found.job.id;
    if args.remove_worktree {
        let message = format!("{id} is a background job of Claude Code, not a worker with a work tree");
        return Err(Error::new(Kind::Usage, message)
            .hint(format!("`claude rm {id}` removes the job and its work tree, if that is safe"))
            .into());
    }
    let answer = background::stop(context, &found)?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    writeln!(out, "background job {id}: {}", answer.background_job.state.as_str())?;
    Ok(out.finish()?)
}
