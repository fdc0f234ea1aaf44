//! `stop`: stops a worker, and removes its work tree if asked to.

use std::io::Write as _;

use app::Context;
use app::workers::stop;
use app::workers::worktree::{Removed, remove};

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

/// Stops the worker.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.remove_worktree {
        return removed(&remove(context, &args.worker)?, args.json);
    }
    let worker = stop(context, &args.worker)?;
    if args.json {
        return super::json(&worker);
    }
    let mut out = Output::plain();
    writeln!(out, "worker {}: {}", worker.worker, worker.state.as_str())?;
    Ok(out.finish()?)
}

fn removed(removed: &Removed, json: bool) -> Result<(), Failure> {
    if json {
        return super::json(removed);
    }
    let mut out = Output::plain();
    writeln!(out, "worker {}: {}", removed.worker.worker, removed.worker.state.as_str())?;
    writeln!(out, "removed {}", safe(&removed.removed_worktree.display().to_string()))?;
    Ok(out.finish()?)
}
