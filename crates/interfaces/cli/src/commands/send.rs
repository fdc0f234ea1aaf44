//! `send`: sends a message to a running worker, or resumes a session for it.

use std::io::Write as _;

use app::Context;
use app::workers::send::{Request, send};

use crate::exit::Failure;
use crate::output::Output;

/// Send a message to a worker or a session; one that is not open is resumed in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or a session's id.
    #[arg(value_name = "WORKER | ID")]
    to: String,
    /// The message.
    #[arg(value_name = "MESSAGE", required = true)]
    message: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Sends the message.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request { to: args.to.clone(), message: args.message.join(" ") };
    let sent = send(context, &request)?;
    if args.json {
        return super::json(&sent);
    }
    let mut out = Output::plain();
    let (number, how) =
        (sent.worker, if sent.resumed { "resumes the session for it" } else { "received it" });
    writeln!(out, "worker {number} {how}; watch it: backstory attach {number}")?;
    Ok(out.finish()?)
}
