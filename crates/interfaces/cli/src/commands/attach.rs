//! `attach`: shows a worker that runs in another process, and answers its requests; Claude Code's own background jobs
//! are opened by `claude attach`.

use app::proceed::{background, fork};
use app::workers::attach;
use app::{Context, Error, Kind};

use super::which_worker::{self, WorkerAction};
use crate::become_claude::become_claude;
use crate::exit::Failure;
use crate::output::print_line;
use crate::run::{Follow, OnPermission, Role, follow};

/// Watch a worker and answer its requests; Ctrl-C leaves it running.
///
/// A background job of Claude Code (`claude --bg`) is opened here by `claude attach`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id; or a background job's id, its session's id or its name; without it, the only one, or one that you choose.
    #[arg(value_name = "WORKER")]
    worker: Option<String>,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
    /// Print the command that opens a background job instead of running it.
    #[arg(long, conflicts_with = "json")]
    print: bool,
}

impl Args {
    /// For the worker of a session.
    pub(crate) fn of(session: String) -> Self {
        Self { worker: Some(session), json: false, print: false }
    }
}

/// What is done with a worker.
const ACTION: WorkerAction = WorkerAction {
    verb: "attach to",
    none: "no worker is running",
    is_for: |worker| !worker.state.is_over(),
    asks: false,
};

/// Follows the worker until it ends or the person leaves.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let named = which_worker::meant(context, args.worker.as_deref(), ACTION)?;
    let (worker, mut link) = match attach(context, &named) {
        Err(error) if error.kind == Kind::NotFound => return open_job(context, args, &named, error),
        found => found?,
    };
    if args.print {
        return Err(Error::new(
            Kind::Usage,
            "a worker has no command to print; leave out --print to attach to it here",
        )
        .into());
    }
    let on_permission = OnPermission::Wait;
    let how =
        Follow { worker: worker.worker, role: Role::Guest, json: args.json, on_permission, patience: None };
    follow(context, &mut link, how).map(drop)
}

/// Replaces this process by the `claude` that opens a background job; `error` says that there is no such worker.
fn open_job(context: &Context, args: &Args, named: &str, error: Error) -> Result<(), Failure> {
    let Some(found) = background::find(context, named)? else { return Err(error.into()) };
    if args.json {
        let message =
            format!("{} is a background job of Claude Code, which has no JSON events", found.job.id);
        return Err(Error::new(Kind::Usage, message)
            .hint("follow all sessions: backstory watch --json")
            .into());
    }
    let command = background::attach(context, &found)?;
    if args.print {
        return Ok(print_line(&fork::for_a_shell(&command)?)?);
    }
    Err(fork::not_started(&command, &become_claude(context, &command)).into())
}
