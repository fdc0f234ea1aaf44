//! `stop`: ends a worker.

use std::io::Write as _;

use app::Context;
use app::workers::stop;
use app::workers::worktree::{Removed, remove};

use crate::exit::Failure;
use crate::output::Output;
use crate::text::safe;

/// End a worker: one that waits is cancelled, one that runs is interrupted and ended with all it has started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its number, or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// Remove its work tree too, where nothing would be lost with it.
    #[arg(long)]
    remove_worktree: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Ends it.
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
