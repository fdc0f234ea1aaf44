//! `stop`: stops a worker, and removes its work tree if asked to.

use std::io::Write as _;

use app::Context;
use app::workers::stop::{Request, stop};

use crate::exit::Failure;
use crate::output::Output;
use crate::text::safe;

/// Stop a worker: one that waits is cancelled, one that runs is interrupted and ended with everything it started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
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
        Self { worker: session, remove_worktree: false, json: false }
    }
}

/// Stops the worker.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request { worker: args.worker.clone(), remove_worktree: args.remove_worktree };
    let answer = stop(context, &request)?;
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
