//! `forget`: erases sessions from everything that Backstory keeps, after asking.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use app::retention::forget::{Answer, Request, forget};
use app::sessions::list::{self, list};
use app::{Context, Error, Kind, Moment};
use model::SessionId;

use crate::ask;
use crate::exit::Failure;
use crate::output::{Output, error_width};
use crate::picker::{self, Purpose};
use crate::text::{counted, fit, safe};

/// Erase sessions for good: from the archive, the index and everything else that Backstory keeps.
///
/// They are not found again, in whatever folder their files appear. Claude Code's own files stay unless
/// --transcripts is given.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The session's id, or a prefix of it; without one, a project or an age, choose a session on the terminal.
    #[arg(value_name = "ID")]
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
    /// Only show which sessions would be erased.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The titles of sessions, by which a person knows them.
type Titles = HashMap<SessionId, Arc<str>>;

/// Asks, then erases.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let is_meant = args.session.is_some() || args.project.is_some() || args.before.is_some();
    let session = if is_meant {
        args.session.clone()
    } else {
        Some(picker::session(context, Purpose::Take("forget"), "")?.session.to_string())
    };
    let request = Request {
        session,
        project: args.project.clone(),
        before: args.before.clone(),
        transcripts: args.transcripts,
        dry_run: true,
    };
    let meant = forget(context, &request)?;
    // Afterwards nothing knows them.
    let titles = titles(context)?;
    if args.dry_run || meant.sessions.is_empty() {
        return print(args, &titles, &meant);
    }
    if !args.yes {
        ensure_wanted(args, &titles, &meant)?;
    }
    print(args, &titles, &forget(context, &Request { dry_run: false, ..request })?)
}

/// The titles of all sessions, hidden ones too.
fn titles(context: &Context) -> Result<Titles, Error> {
    let mut titles = Titles::new();
    for hidden in [false, true] {
        let listed = list(context, &list::Request { hidden, ..list::Request::default() })?;
        titles.extend(listed.sessions.into_iter().filter_map(|session| Some((session.id, session.title?))));
    }
    Ok(titles)
}

/// Writes the sessions, a line each: the id, and the title as far as there is room.
fn list_sessions(
    out: &mut dyn Write,
    width: Option<usize>,
    titles: &Titles,
    meant: &Answer,
) -> io::Result<()> {
    for id in &meant.sessions {
        let title = titles.get(id).map_or("(no title)", AsRef::as_ref);
        let id = if width.is_some() { id.short() } else { id.as_str() };
        writeln!(out, "{}", fit(&format!("  {id}  {}", safe(title)), width.unwrap_or(usize::MAX)))?;
    }
    Ok(())
}

fn ensure_wanted(args: &Args, titles: &Titles, meant: &Answer) -> Result<(), Failure> {
    if !ask::is_possible() {
        let error =
            Error::new(Kind::Usage, format!("this erases {}", counted(meant.sessions.len(), "session")));
        return Err(error.hint("add --yes to do it, or --dry-run to see which").into());
    }
    let also = if args.transcripts { ", and delete Claude Code's own files" } else { "" };
    list_sessions(&mut anstream::stderr().lock(), error_width(), titles, meant)?;
    if ask::yes(&format!("Erase {} for good{also}?", counted(meant.sessions.len(), "session")))? {
        return Ok(());
    }
    Err(Error::new(Kind::Cancelled, "nothing was erased").into())
}

fn print(args: &Args, titles: &Titles, answer: &Answer) -> Result<(), Failure> {
    if args.json {
        return super::json(answer);
    }
    let mut out = Output::plain();
    if answer.sessions.is_empty() {
        writeln!(out, "No session matches.")?;
        return Ok(out.finish()?);
    }
    let did = if answer.dry_run { "Would erase" } else { "Erased" };
    writeln!(out, "{did} {}:", counted(answer.sessions.len(), "session"))?;
    let width = out.terminal_width();
    list_sessions(&mut out, width, titles, answer)?;
    if !answer.dry_run {
        let Answer { archived_files, decisions, workers, documents, deleted_files, notes, .. } = answer;
        writeln!(
            out,
            "Erased {} in the archive, {} and {}, and all that the search index and the caches held.",
            counted(archived_files, "copy"),
            counted(decisions, "decision"),
            counted(workers, "worker")
        )?;
        if *documents > 0 {
            writeln!(out, "Removed {}.", counted(documents, "exported document"))?;
        }
        for path in deleted_files {
            writeln!(out, "Deleted {}", safe(path))?;
        }
        for note in notes {
            writeln!(out, "{}", safe(note))?;
        }
        if deleted_files.is_empty() && !args.transcripts {
            writeln!(out, "Claude Code's own files were left alone; --transcripts deletes them too.")?;
        }
    }
    Ok(out.finish()?)
}
