//! `handoff`: a brief on a session for the one that continues its work.

use std::io::Write as _;

use app::Context;
use app::sessions::handoff::{Request, handoff};

use crate::exit::Failure;
use crate::last_search;
use crate::output::{Output, is_read_by_a_person};
use crate::picker::{self, Purpose};
use crate::text::safe_lines;
use crate::wrap::wrapped;

/// Print a brief on a session for the next one: goal, decisions, files, what is left.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every line ends with its place, which `show` opens. No model is asked. To begin a fresh session with it:

  claude \"$(backstory handoff 1ba1de03)

  Go on with what is left to do.\"")]
pub(crate) struct Args {
    /// The session's id or a prefix of it; @2 is the second hit of the last search on this terminal. Without it, choose
    /// one on the terminal.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Use at most this many tokens.
    #[arg(long, value_name = "N", default_value_t = 1500)]
    tokens: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the brief.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = match &args.session {
        Some(id) => last_search::session(context, id)?.into_owned(),
        None => picker::session(context, Purpose::Read, "")?.session.to_string(),
    };
    let answer = handoff(context, &Request { session, tokens: Some(args.tokens) })?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    let text = safe_lines(&answer.text);
    // In a pipe it is for a model, or a file.
    let text = if is_read_by_a_person() { wrapped(&text, out.width()) } else { text };
    write!(out, "{text}")?;
    Ok(out.finish()?)
}
