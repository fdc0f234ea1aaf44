//! `heal`: moves sessions whose directory was moved, after showing where to and asking.

use std::io::Write;
use std::path::PathBuf;

use app::retention::heal::{Answer, Request, heal};
use app::{Context, Error, Kind};

use crate::ask;
use crate::exit::Failure;
use crate::output::{Output, error_width};
use crate::progress::Followed;
use crate::text::{counted, safe};
use crate::wrap::hanging;

/// Move sessions of a renamed directory to its new place.
///
/// The new directory is found by its inode, by the repository's first commit and remotes, by the commits in the
/// sessions, or by the same path in your home. The transcripts are moved as Claude Code itself moves them, so that
/// `claude --resume` and `claude --continue` find them there. A copy of each is made first.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// Only sessions of the directory of this one: its id, or a prefix of it.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// The directory that they belong to now.
    #[arg(long, value_name = "DIR", requires = "session")]
    to: Option<PathBuf>,
    /// Move those of the last `heal` back.
    #[arg(long, conflicts_with_all = ["session", "to", "dry_run"])]
    undo: bool,
    /// Only show what would be moved.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Shows, asks, then moves.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request =
        Request { session: args.session.clone(), to: args.to.clone(), undo: args.undo, dry_run: !args.undo };
    let followed = Followed::interruptible(context);
    let planned = heal(&followed, &request)?;
    drop(followed);
    if args.undo || args.dry_run || movable(&planned) == 0 {
        return print(args, &planned);
    }
    if !args.yes {
        ensure_wanted(&planned)?;
    }
    print(args, &heal(context, &Request { dry_run: false, ..request })?)
}

/// Offers to move the sessions of a directory that is gone; returns whether that was done.
pub(crate) fn offer(context: &Context, session: &str) -> Result<bool, Failure> {
    let request = Request { session: Some(session.to_owned()), dry_run: true, ..Request::default() };
    let planned = match heal(context, &request) {
        Ok(planned) if movable(&planned) > 0 => planned,
        _ => return Ok(false),
    };
    list(&mut anstream::stderr().lock(), error_width(), &planned)?;
    if !ask::yes(&question(&planned))? {
        return Ok(false);
    }
    let healed = heal(context, &Request { dry_run: false, ..request })?;
    Ok(!healed.unmoved.iter().any(|unmoved| unmoved.session_id.as_str() == session))
}

fn ensure_wanted(planned: &Answer) -> Result<(), Failure> {
    if !ask::is_possible() {
        let error = Error::new(Kind::Usage, format!("this moves {}", counted(movable(planned), "session")));
        return Err(error.hint("add --yes to do it, or --dry-run to see which").into());
    }
    list(&mut anstream::stderr().lock(), error_width(), planned)?;
    if ask::yes(&question(planned))? {
        return Ok(());
    }
    Err(Error::new(Kind::Cancelled, "nothing was moved").into())
}

fn question(planned: &Answer) -> String {
    format!("Move {}?", counted(movable(planned), "session"))
}

/// How many sessions have a place to go to.
fn movable(answer: &Answer) -> usize {
    let found = answer.directories.iter().filter(|lost| lost.now.is_some());
    found.map(|lost| lost.sessions.len()).sum::<usize>().saturating_sub(answer.unmoved.len())
}

fn print(args: &Args, answer: &Answer) -> Result<(), Failure> {
    if args.json {
        return super::json(answer);
    }
    let mut out = Output::plain();
    if answer.directories.is_empty() {
        writeln!(out, "No session's directory is missing.")?;
        return Ok(out.finish()?);
    }
    let width = out.terminal_width();
    list(&mut out, width, answer)?;
    let moved = counted(movable(answer), "session");
    match (answer.undone, answer.dry_run) {
        (true, _) => writeln!(out, "Moved {moved} back.")?,
        (false, true) if movable(answer) == 0 => writeln!(out, "Nothing can be moved.")?,
        (false, true) => writeln!(out, "Would move {moved}.")?,
        (false, false) => writeln!(out, "Moved {moved}. `backstory heal --undo` moves them back.")?,
    }
    Ok(out.finish()?)
}

fn list(out: &mut dyn Write, width: Option<usize>, answer: &Answer) -> std::io::Result<()> {
    let below = |text: &str| format!("  {}", hanging(&safe(text), width, 2, 4));
    // Those that were moved back are where they were: there is nothing to find.
    for lost in answer.directories.iter().filter(|_| !answer.undone) {
        let sessions = counted(lost.sessions.len(), "session");
        writeln!(out, "{} ({sessions})", safe(&lost.directory.display().to_string()))?;
        match &lost.now {
            Some(now) => writeln!(out, "{}", below(&format!("now {}: {}", now.display(), lost.reason)))?,
            None => writeln!(out, "{}", below(&lost.reason))?,
        }
        for candidate in &lost.candidates {
            writeln!(out, "{}", below(&format!("perhaps {candidate}")))?;
        }
        if let (None, Some(session)) = (&lost.now, lost.sessions.first()) {
            let choice = format!("choose: backstory heal {} --to <directory>", session.short());
            writeln!(out, "{}", below(&choice))?;
        }
    }
    for unmoved in &answer.unmoved {
        writeln!(out, "Left {}: {}", unmoved.session_id, safe(&unmoved.reason))?;
    }
    Ok(())
}
