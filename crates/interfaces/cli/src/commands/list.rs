//! `list`: sessions from every source, running first, then newest.

use std::io::Write as _;

use anstyle::Style;
use app::sessions::list::{Answer, OriginName, Request, SessionOrder, list};
use app::{Context, Moment};
use model::AgentId;

use crate::exit::Failure;
use crate::output::{Output, is_read_by_a_person};
use crate::progress::Followed;
use crate::remarks::no_sessions;
use crate::session_table::sessions;
use crate::text::{counted, safe};
use crate::wrap::hanging;

/// How many sessions are listed on a terminal without `--limit`.
const TERMINAL_LIMIT: usize = 50;

/// List sessions, running ones first.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// Only sessions whose title, first message, project or branch contains all of these; filters can be among them:
    /// branch:main since:monday.
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only sessions of the repository you are in.
    #[arg(long, conflicts_with = "project")]
    here: bool,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only sessions last seen on this branch.
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only sessions of this origin.
    #[arg(long, alias = "source", value_parser = super::words::<OriginName>(&["openclaw", "native", "archived", "ghost"]))]
    origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Only sessions that a running process has open.
    #[arg(long)]
    running: bool,
    /// Only sessions that you gave this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only sessions that you pinned.
    #[arg(long)]
    pinned: bool,
    /// Only sessions that you hid; otherwise they are left out.
    #[arg(long)]
    hidden: bool,
    /// Only sessions active since then: 2026-01-31, yesterday, 'last week', 36h, 2d.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only sessions that began before this time, or on this day or earlier.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Only sessions that read or changed this file.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// List each session of a program, also those that begin like another one.
    #[arg(long)]
    unfold: bool,
    /// Sort in this order [default: running sessions first, then the newest].
    #[arg(long, value_name = "ORDER", value_parser = super::words::<SessionOrder>(&["newest", "oldest", "cost", "cheapest", "messages", "tokens"]))]
    sort: Option<SessionOrder>,
    /// Show at most this many sessions [default: 50 on a terminal, otherwise all].
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether a program reads the answer.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }
}

/// Prints the sessions that match.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = request(args);
    let followed = Followed::new(context);
    let answer = list(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    print(context, args, &answer)
}

fn request(args: &Args) -> Request {
    let for_a_person = !args.json && is_read_by_a_person();
    Request {
        project: if args.here { Some(".".to_owned()) } else { args.project.clone() },
        branch: args.branch.clone(),
        origin: args.origin,
        agent: args.agent.clone(),
        running: args.running,
        since: args.since.clone(),
        until: args.until.clone(),
        file: args.file.clone(),
        tag: args.tag.clone(),
        pinned: args.pinned,
        compacted: false,
        hidden: args.hidden,
        words: args.words.clone(),
        fold: !args.json && !args.unfold,
        sort: args.sort,
        limit: args.limit.or(for_a_person.then_some(TERMINAL_LIMIT)),
    }
}

fn print(context: &Context, args: &Args, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    if answer.sessions.is_empty() {
        out.sentence(&empty_message(context, args, answer))?;
        write_notes(&mut out, answer)?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    sessions(&mut out, width, &answer.sessions, args.sort, context.now, || context.zone())?;
    write_notes(&mut out, answer)?;
    Ok(out.finish()?)
}

fn write_notes(out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    for line in notes(answer) {
        let line = hanging(&safe(&line), out.terminal_width(), 0, 2);
        writeln!(out, "{dim}{line}{dim:#}")?;
    }
    Ok(())
}

fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = Vec::new();
    if answer.more > 0 {
        notes.push(format!("{} more; use --limit to show more", answer.more));
    }
    if answer.problems > 0 {
        let problems = counted(answer.problems, "problem");
        notes.push(format!("{problems} reading files or folders; `backstory doctor` lists them"));
    }
    notes.extend(answer.notes.iter().cloned());
    notes
}

fn empty_message(context: &Context, args: &Args, answer: &Answer) -> String {
    if args.origin == Some(OriginName::OpenClaw) {
        let states: Vec<_> =
            context.config().openclaw_folders.iter().map(|folder| folder.display().to_string()).collect();
        return match states.as_slice() {
            [] => "No OpenClaw state folder was found; set OPENCLAW_STATE_DIR to it.".to_owned(),
            _ => format!(
                "OpenClaw's agents in {} have not started any Claude Code sessions.",
                states.join(", ")
            ),
        };
    }
    if args.origin == Some(OriginName::Ghost) {
        return "Nothing is left of other sessions: history.jsonl and the folders beside it name none that is gone.".to_owned();
    }
    if answer.known > 0 && args.here {
        let directory = safe(&context.directory.display().to_string());
        let known = answer.known;
        return format!(
            "No sessions of the repository at {directory} match; without --here there are {known} in all."
        );
    }
    if answer.known > 0 {
        return format!("No sessions match these filters; there are {} in all.", answer.known);
    }
    no_sessions(context)
}
