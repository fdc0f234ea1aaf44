//! `attach`: shows a worker that runs in another process, and answers its requests.

use app::Context;
use app::workers::attach;

use crate::exit::Failure;
use crate::run::{Follow, Role, follow};

/// Watch a worker and answer its requests; Ctrl-C leaves it running.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// For the worker of a session.
    pub(crate) fn of(session: String) -> Self {
        Self { worker: session, json: false }
    }
}

/// Follows the worker until it ends or the person leaves.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let (worker, mut link) = attach(context, &args.worker)?;
    follow(context, &mut link, Follow { worker: worker.worker, role: Role::Guest, json: args.json }).map(drop)
}
