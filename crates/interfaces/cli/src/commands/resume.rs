//! `resume`: replaces this process by the `claude` that continues a session.

use std::ffi::OsString;
use std::path::PathBuf;

use app::choose::resume_cost::resume_cost;
use app::proceed::{fork, resume};
use app::retention::restore::{Request, restore};
use app::sessions::lookup::{LastOf, Ranked, SessionRef, find_candidates, is_certain};
use app::{Context, Error, Kind};

use model::{Session, SessionId};

use crate::ask;
use crate::become_claude::{become_claude, start};
use crate::commands::heal;
use crate::exit::Failure;
use crate::last_search;
use crate::output::{is_read_by_a_person, print_line, say_aside};
use crate::picker::{self, Purpose};
use crate::progress::Followed;
use crate::resumption;
use crate::text::{age, ago, bytes, fit, safe};

/// How many sessions are offered when several match the words.
const OFFERED: usize = 5;

/// The room of the title of the session that is taken, in cells.
const TITLE: usize = 60;

/// Continue a session in the directory it started in.
///
/// Without an id or words, or where several sessions match the words, choose one on the terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's id, a prefix of it, or words that were said in it; @2 is the second hit of the last search.
    #[arg(value_name = "ID | WORDS")]
    words: Vec<String>,
    /// Continue the most recently active session of this directory, else of its repository, else of all.
    #[arg(long, conflicts_with = "words")]
    last: bool,
    /// Continue in this directory instead, as a fork; the session itself is not changed.
    #[arg(long = "in", value_name = "DIR")]
    into: Option<PathBuf>,
    /// Print the command instead of running it.
    #[arg(long)]
    print: bool,
    /// Arguments passed on to `claude`.
    #[arg(last = true, value_name = "CLAUDE_ARGS")]
    extra: Vec<OsString>,
}

impl Args {
    /// For one session.
    pub(crate) fn of(session: String) -> Self {
        Self { words: vec![session], last: false, into: None, print: false, extra: Vec::new() }
    }
}

/// Replaces this process by `claude`, or prints the command for it.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let found = if args.words.is_empty() && !args.last {
        let choice = picker::session(context, Purpose::Resume, "")?;
        one(context, &SessionRef::Named(choice.session.to_string()))?
    } else {
        meant(context, &wanted(context, &args.words, args.last)?, Purpose::Resume)?
    };
    let session = found.session()?;
    if let Some(last_of) = found.last_of {
        say_which(context, session, last_of);
    }
    let is_gone = session.archived && session.unreadable_folder.is_none();
    if is_gone && args.into.is_none() && put_back(context, session)? {
        let again = SessionRef::Named(session.id.to_string());
        let found = one(context, &again)?;
        return continued(context, args, found.session()?);
    }
    match continued(context, args, session) {
        Err(failure) if !session.archived && args.into.is_none() && ask::is_possible() => {
            if !heal::offer(context, session.id.as_str())? {
                return Err(failure);
            }
            let found = one(context, &SessionRef::Named(session.id.to_string()))?;
            continued(context, args, found.session()?)
        }
        done => done,
    }
}

/// Asks whether to put back a session that Claude Code deleted; does so, and returns whether it did.
fn put_back(context: &Context, session: &Session) -> Result<bool, Failure> {
    let question = match session.missing_bytes {
        0 => "Claude Code deleted this session. Put it back from the archive, and continue it?".to_owned(),
        missing => format!(
            "Claude Code deleted this session while it was copied: {} at its end are lost. Put the rest back from the \
             archive, and continue it?",
            bytes(missing)
        ),
    };
    if !ask::is_possible() || !ask::yes(&question)? {
        return Ok(false);
    }
    restore(context, &Request { session: session.id.to_string(), dry_run: false, partial: true })?;
    Ok(true)
}

fn continued(context: &Context, args: &Args, session: &Session) -> Result<(), Failure> {
    if let Some(into) = &args.into {
        let request =
            fork::Request { into: Some(into.clone()), extra: args.extra.clone(), ..fork::Request::default() };
        return start(context, &fork::fork(context, session, &request)?, args.print);
    }
    let command = resume::resume(context, session, &args.extra)?;
    if args.print {
        return Ok(print_line(&fork::for_a_shell(&command)?)?);
    }
    say_cost(context, session);
    Err(fork::not_started(&command, &become_claude(context, &command)).into())
}

/// Says which session was the last one: elsewhere another one may be.
fn say_which(context: &Context, session: &Session, last_of: LastOf) {
    let of = match last_of {
        LastOf::Directory => "the newest of this directory",
        LastOf::Repository => "the newest of this repository; this directory has none",
        LastOf::All => "the newest of all; this directory and its repository have none",
    };
    let title = safe(session.title.as_deref().unwrap_or("(no title)"));
    let when = ago(context.now, session.last_modified, || context.zone());
    say_aside(&format!("{}  {}  ({when}, {of})", session.id.short(), fit(&title, TITLE)));
}

/// Says to a person what resuming costs and what the session left armed, before `claude` takes over.
fn say_cost(context: &Context, session: &Session) {
    let cost = resume_cost(context, session);
    if (cost.tokens == 0 && cost.armed.is_empty()) || !is_read_by_a_person() {
        return;
    }
    say_aside(&resumption::sentences(&cost));
    for line in resumption::armed(&cost) {
        say_aside(&format!("  {line}"));
    }
}

/// The session that the arguments refer to.
fn wanted(context: &Context, words: &[String], last: bool) -> Result<SessionRef, Error> {
    if last {
        return Ok(SessionRef::Last);
    }
    Ok(SessionRef::Named(last_search::session(context, &words.join(" "))?.into_owned()))
}

/// The one session that is named.
fn one(context: &Context, wanted: &SessionRef) -> Result<Ranked, Failure> {
    let mut ranked = find_candidates(&Followed::search(context), wanted, OFFERED)?;
    if is_certain(&ranked) {
        return Ok(ranked.swap_remove(0));
    }
    let choices: Vec<_> = ranked.iter().map(|found| choice(context, found)).collect();
    Err(uncertain(&choices).into())
}

/// The session in which something happened last, of this directory first; says which.
pub(crate) fn last(context: &Context) -> Result<SessionId, Failure> {
    let found = one(context, &SessionRef::Last)?;
    if let (Some(session), Some(last_of)) = (&found.session, found.last_of) {
        say_which(context, session, last_of);
    }
    Ok(found.id)
}

/// The one session that the arguments refer to; where that is not certain, the person chooses it on a terminal.
pub(crate) fn meant(context: &Context, wanted: &SessionRef, purpose: Purpose) -> Result<Ranked, Failure> {
    let SessionRef::Named(words) = wanted else { return one(context, wanted) };
    let mut ranked = find_candidates(&Followed::search(context), wanted, OFFERED)?;
    if is_certain(&ranked) {
        return Ok(ranked.swap_remove(0));
    }
    if !picker::is_possible(context) {
        let choices: Vec<_> = ranked.iter().map(|found| choice(context, found)).collect();
        return Err(uncertain(&choices).into());
    }
    let choice = picker::session(context, purpose, words)?;
    one(context, &SessionRef::Named(choice.session.to_string()))
}

fn choice(context: &Context, found: &Ranked) -> String {
    let id = found.id.short();
    let Some(session) = &found.session else { return format!("{id}  (its transcript is gone)") };
    let title = safe(session.title.as_deref().unwrap_or("(no title)"));
    let project = safe(session.project.as_deref().unwrap_or("-"));
    format!("{id}  {}  ({project}, {})", fit(&title, TITLE), age(context.now, session.last_modified))
}

fn uncertain(choices: &[String]) -> Error {
    let what = match choices {
        [_] => "only one session matches these words, and not well; give its id",
        _ => "several sessions match; give the id of one",
    };
    let error = Error::new(Kind::Ambiguous, what);
    choices.iter().fold(error, |error, choice| error.hint(choice.clone()))
}
