//! `attach`: watches a worker that runs elsewhere, and answers it.

use app::Context;
use app::workers::attach;

use crate::exit::Failure;
use crate::run::{Follow, Role, follow};

/// Watch a worker, and answer what it asks; Ctrl-C leaves it running.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its number, or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// Print every event as a line of JSON.
    #[arg(long)]
    json: bool,
}

/// Watches until it ends or the person goes.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let (worker, mut link) = attach(context, &args.worker)?;
    follow(context, &mut link, Follow { worker: worker.worker, role: Role::Guest, json: args.json }).map(drop)
}
