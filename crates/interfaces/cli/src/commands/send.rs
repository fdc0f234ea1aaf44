//! `send`: sends a message to a running worker, or resumes a session for it.

use std::io::{self, Write};

use app::Context;
use app::workers::send::{Answer, KeyAnswer, Request, send, send_to_key};

use super::store::place_line;
use crate::exit::Failure;
use crate::output::Output;
use crate::text::safe;

/// Send a message to a worker or a session; one that is not open is resumed in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number, a session's id, or the key of a session of OpenClaw's.
    #[arg(value_name = "WORKER | ID | KEY")]
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
    let to_key = send_to_key(context, &request)?;
    let mut out = Output::plain();
    if let Some(sent) = to_key {
        if args.json {
            return super::json(&sent);
        }
        print_for_key(&mut out, &sent)?;
    } else {
        let sent = send(context, &request)?;
        if args.json {
            return super::json(&sent);
        }
        print(&mut out, &sent)?;
    }
    Ok(out.finish()?)
}

fn print(out: &mut impl Write, sent: &Answer) -> io::Result<()> {
    let (number, how) =
        (sent.worker, if sent.resumed { "resumes the session for it" } else { "received it" });
    writeln!(out, "worker {number} {how}; watch it: backstory attach {number}")
}

fn print_for_key(out: &mut impl Write, answer: &KeyAnswer) -> io::Result<()> {
    if let Some(id) = &answer.new_session_id {
        writeln!(out, "{} has a new conversation: {}", safe(&answer.key), safe(id))?;
    }
    if let Some(sent) = &answer.sent {
        print(out, sent)?;
        writeln!(out, "OpenClaw's own transcript does not get the message and the answer.")?;
    }
    writeln!(out, "{}", place_line(&answer.place))
}
