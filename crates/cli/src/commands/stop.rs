//! `stop`: ends a worker.

use std::io::Write as _;

use app::App;
use app::workers::stop;

use crate::exit::Failure;
use crate::output::Output;

/// End a worker: one that waits is cancelled, one that runs is interrupted and ended with all it has started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its number, or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Ends it.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let worker = stop(app, &args.worker)?;
    if args.json {
        return super::json(&worker);
    }
    let mut out = Output::plain();
    writeln!(out, "worker {}: {}", worker.worker, worker.state.word())?;
    Ok(out.finish()?)
}
