//! `forget`: erases sessions from everything that Backstory keeps, after asking.

use std::io::Write as _;

use app::kept::forget::{Answer, Request, forget};
use app::{Context, Error, Kind, Moment};

use crate::ask;
use crate::exit::Failure;
use crate::output::Output;
use crate::text::safe;

/// Erase sessions for good: from the archive, the index and everything else that Backstory keeps.
///
/// They are not found again, in whatever folder their files appear. Claude Code's own files stay unless
/// --transcripts is given.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The session's id, or a prefix of it.
    #[arg(value_name = "ID", required_unless_present_any = ["project", "before"])]
    session: Option<String>,
    /// All sessions of this project: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only sessions in which nothing has happened since then: 2026-01-31, 90d.
    #[arg(long, value_name = "TIME")]
    before: Option<Moment>,
    /// Delete Claude Code's own files of them too.
    #[arg(long)]
    transcripts: bool,
    /// Only show which sessions that would be.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Asks, then erases.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request {
        session: args.session.clone(),
        project: args.project.clone(),
        before: args.before.clone(),
        transcripts: args.transcripts,
        dry_run: true,
    };
    let meant = forget(context, &request)?;
    if args.dry_run || meant.sessions.is_empty() {
        return print(args, &meant);
    }
    if !args.yes {
        ensure_wanted(args, &meant)?;
    }
    print(args, &forget(context, &Request { dry_run: false, ..request })?)
}

fn ensure_wanted(args: &Args, meant: &Answer) -> Result<(), Failure> {
    if !ask::is_possible() {
        let error = Error::new(Kind::Usage, format!("this erases {}", counted(meant.sessions.len())));
        return Err(error.hint("add --yes to do it, or --dry-run to see which").into());
    }
    let also = if args.transcripts { ", Claude Code's own files too" } else { "" };
    for id in &meant.sessions {
        writeln!(anstream::stderr().lock(), "{id}")?;
    }
    if ask::yes(&format!("Erase {} for good{also}?", counted(meant.sessions.len())))? {
        return Ok(());
    }
    Err(Error::new(Kind::Cancelled, "nothing was erased").into())
}

fn print(args: &Args, answer: &Answer) -> Result<(), Failure> {
    if args.json {
        return super::json(answer);
    }
    let mut out = Output::plain();
    if answer.sessions.is_empty() {
        writeln!(out, "No session matches.")?;
        return Ok(out.finish()?);
    }
    let did = if answer.dry_run { "Would forget" } else { "Forgot" };
    writeln!(out, "{did} {}:", counted(answer.sessions.len()))?;
    for id in &answer.sessions {
        writeln!(out, "  {id}")?;
    }
    if !answer.dry_run {
        let Answer { archived_files, decisions, workers, deleted_files, .. } = answer;
        writeln!(
            out,
            "Erased {archived_files} copies in the archive, {decisions} decisions and {workers} workers; the search \
             index and the caches no longer hold them."
        )?;
        for path in deleted_files {
            writeln!(out, "Deleted {}", safe(path))?;
        }
        if deleted_files.is_empty() && !args.transcripts {
            writeln!(out, "Claude Code's own files were left alone; --transcripts deletes them too.")?;
        }
    }
    Ok(out.finish()?)
}

fn counted(sessions: usize) -> String {
    if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") }
}
