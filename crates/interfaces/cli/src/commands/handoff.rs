//! `handoff`: a brief on a session for the one that goes on.

use std::io::Write as _;

use app::Context;
use app::sessions::handoff::{Request, handoff};

use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::text::safe_lines;

/// Print a brief on a session for the next one: goal, decisions, files, what is left.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every line ends with its place, which `show` opens. No model is asked. To begin a fresh session with it:

  claude \"$(backstory handoff 1ba1de03)

  Go on with what is left to do.\"")]
pub(crate) struct Args {
    /// The session's id or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID")]
    session: String,
    /// Use at most this many tokens.
    #[arg(long, value_name = "N", default_value_t = 1500)]
    tokens: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the brief.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = last_search::session(context, &args.session)?.into_owned();
    let answer = handoff(context, &Request { session, tokens: Some(args.tokens) })?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    write!(out, "{}", safe_lines(&answer.text))?;
    Ok(out.finish()?)
}
