//! `restore`: puts a session that Claude Code deleted back.

use std::io::Write as _;

use app::Context;
use app::retention::restore::{Answer, Request, restore};

use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::picker::{self, Purpose};
use crate::text::{bytes, counted, safe};

/// Put back a session that Claude Code deleted: `claude --resume` finds it again.
///
/// The files are the same byte for byte. An existing file is never replaced.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's id, or a prefix of it; without one, choose among those that were deleted.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Only show what would be written.
    #[arg(long)]
    dry_run: bool,
    /// Put back what is left of a session that was deleted while it was being copied.
    #[arg(long)]
    partial: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Puts the session back.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = match &args.session {
        Some(session) => last_search::session(context, session)?.into_owned(),
        None => picker::session(context, Purpose::Take("put back"), "origin:archived ")?.session.to_string(),
    };
    let request = Request { session, dry_run: args.dry_run, partial: args.partial };
    let answer = restore(context, &request)?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    print(&mut out, &answer)?;
    Ok(out.finish()?)
}

fn print(out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    let did = if answer.dry_run { "Would write" } else { "Wrote" };
    for file in &answer.files {
        let path = safe(&file.path.display().to_string());
        let lost = match file.missing_bytes {
            _ if file.existed => String::new(),
            0 => String::new(),
            missing => format!("; its last {} were not copied before it was deleted", bytes(missing)),
        };
        if file.existed {
            writeln!(out, "Kept {path}, which already exists")?;
        } else {
            writeln!(out, "{did} {path} ({}{lost})", bytes(file.bytes))?;
        }
    }
    if let Some(secrets) = answer.secrets_left_out {
        writeln!(
            out,
            "The copies were made without secrets: {} replaced by [redacted:kind]; everything else is unchanged",
            counted(secrets, "secret")
        )?;
    }
    if answer.dry_run && answer.missing_bytes > 0 {
        writeln!(
            out,
            "The end of the session is lost; this puts back the rest: backstory restore {} --partial",
            answer.session_id
        )?;
    }
    if !answer.dry_run {
        writeln!(out, "Continue it: backstory resume {}", answer.session_id)?;
    }
    Ok(())
}
