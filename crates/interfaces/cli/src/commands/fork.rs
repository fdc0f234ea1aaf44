//! `fork`: ranks sessions for an intent, and replaces this process by the `claude` that continues a copy of one.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use app::proceed::fork::ForkCandidate;
use app::proceed::fork_request::{Answer, ForkSessions, Guidance, Next, Request, forks, next};
use app::search::Mode;
use app::{Context, Engine, Error, Kind, NextStep};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use unicode_width::UnicodeWidthStr as _;

use crate::become_claude::start;
use crate::exit::Failure;
use crate::last_search;
use crate::next_step::as_command;
use crate::output::Output;
use crate::picker::{self, Choice, Purpose};
use crate::plain_snippet::without_markdown;
use crate::progress::Followed;
use crate::text::{age_or_date, fit, fit_end, safe};
use crate::wrap;

/// How many sessions are offered.
const OFFERED: usize = 5;

/// Find the sessions that know most about a topic; continue a copy of one.
///
/// An id forks that session at once. With words, choose one of the best matches on the terminal; in a pipe, and with an
/// option on how to search, they are listed, and `--pick` forks one of them.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// What you want to do, or a session's id or a prefix of it.
    #[arg(value_name = "INTENT | ID")]
    words: Vec<String>,
    /// Fork the most recently active session.
    #[arg(long, conflicts_with = "words")]
    last: bool,
    /// Fork the session with this rank, from 1; with --json, a background worker works on the intent in the fork.
    #[arg(long, visible_alias = "fork-rank", value_name = "N")]
    pick: Option<usize>,
    /// Fork the session with this rank, counted from 0; without a terminal a background worker works on it.
    #[arg(long, value_name = "N", conflicts_with = "pick")]
    fork_index: Option<usize>,
    /// Fork the best match; without a terminal a background worker works on it.
    #[arg(long, conflicts_with_all = ["pick", "fork_index"])]
    auto_fork: bool,
    /// Fork at this message, without anything after it.
    #[arg(long, value_name = "UUID")]
    at: Option<String>,
    /// Continue in this directory instead of the one the session started in.
    #[arg(long = "in", value_name = "DIR")]
    into: Option<PathBuf>,
    /// Show at most this many sessions.
    #[arg(short = 'n', long, value_name = "N", default_value_t = OFFERED, value_parser = super::at_least_one)]
    limit: usize,
    /// Only sessions with at least this score, from 0 to 1.
    #[arg(long, value_name = "SCORE")]
    min_score: Option<f32>,
    /// Only sessions of this repository, given by name or by a path inside it.
    #[arg(long, visible_alias = "project-path", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// What to search with: Backstory's own index, qmd (else the index), or qmd only if it is installed.
    #[arg(long, value_name = "ENGINE", value_parser = engine())]
    engine: Option<Engine>,
    /// Search Backstory's own index by words (lexical), by meaning (semantic), or both (hybrid).
    #[arg(long, value_parser = super::words::<Mode>(&["hybrid", "lexical", "semantic"]), default_value = "hybrid")]
    mode: Mode,
    /// Search with qmd, in this collection.
    #[arg(long, value_name = "NAME", conflicts_with = "engine")]
    collection: Option<String>,
    /// Leave out the matching text of each session.
    #[arg(long)]
    no_snippets: bool,
    /// Print the command instead of running it; with --at, the fork's transcript is created because the command needs it.
    #[arg(long)]
    print: bool,
    /// Print the ranked sessions as JSON.
    #[arg(long, conflicts_with = "print")]
    json: bool,
    /// Arguments passed on to `claude`.
    #[arg(last = true, value_name = "CLAUDE_ARGS")]
    extra: Vec<OsString>,
}

/// Lists what can be forked, or replaces this process by `claude`.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let mut request = request(args);
    request.intent = last_search::session(context, &request.intent)?.into_owned();
    if args.words.is_empty() && !args.last && !args.json {
        take(context, &mut request, &picker::session(context, Purpose::Fork, "")?);
    }
    if args.json {
        let answer = forks(&Followed::search(context), &request)?;
        super::json(&answer.clone().worded(as_command))?;
        return match answer {
            Answer::ForkSessions(_) => Ok(()),
            Answer::Nothing(guidance) => Err(nothing(guidance).into()),
        };
    }
    if args.is_by_a_program(context) {
        return hand_over(context, &request);
    }
    let next = next(&Followed::search(context), &request)?;
    let found = match next {
        Next::Fork(fork) => return start(context, &fork, args.print),
        Next::Choose(found) => *found,
    };
    match found {
        Answer::ForkSessions(_) if args.lets_choose() && picker::is_possible(context) => {
            let question = args.question();
            take(context, &mut request, &picker::session(context, Purpose::Fork, &question)?);
            chosen(context, &request, args.print)
        }
        Answer::ForkSessions(found) => show(context, &request, &found),
        Answer::Nothing(guidance) => not_found(context, guidance),
    }
}

/// Asks for a fork of what was chosen.
fn take(context: &Context, request: &mut Request, choice: &Choice) {
    request.intent = choice.session.to_string();
    if choice.is_here && request.directory.is_none() {
        request.directory = Some(context.directory.clone());
    }
}

/// Has a worker continue in the fork, where there is no terminal for `claude`.
fn hand_over(context: &Context, request: &Request) -> Result<(), Failure> {
    match forks(&Followed::search(context), request)? {
        Answer::ForkSessions(found) => {
            let Some(fork) = &found.forked_session else { return show(context, request, &found) };
            let mut out = Output::plain();
            let (worker, session) = (&fork.worker_id, &fork.session_id);
            writeln!(out, "worker {worker} works on it in {session}, a fork of {}", fork.resume_session_id)?;
            writeln!(out, "  follow it: backstory attach {worker}")?;
            Ok(out.finish()?)
        }
        Answer::Nothing(guidance) => not_found(context, guidance),
    }
}

/// Forks the session that was chosen.
fn chosen(context: &Context, request: &Request, print: bool) -> Result<(), Failure> {
    match next(&Followed::search(context), request)? {
        Next::Fork(fork) => start(context, &fork, print),
        Next::Choose(found) => match *found {
            Answer::ForkSessions(found) => show(context, request, &found),
            Answer::Nothing(guidance) => not_found(context, guidance),
        },
    }
}

impl Args {
    /// Whether nothing asks for the list of `fork` itself, so that the picker may offer the sessions.
    fn lets_choose(&self) -> bool {
        let is_shaped = self.min_score.is_some() || self.engine.is_some() || self.collection.is_some();
        !is_shaped && !self.no_snippets && self.limit == OFFERED && self.mode == Mode::Hybrid
    }

    /// Whether a program asks for a fork by the flags that are made for programs.
    fn is_by_a_program(&self, context: &Context) -> bool {
        let picks = self.auto_fork || self.fork_index.is_some();
        picks && !self.print && self.extra.is_empty() && !picker::is_possible(context)
    }

    /// The words as a question to the picker.
    fn question(&self) -> String {
        let project = self.project.iter().map(|project| format!(" project:{project}"));
        self.words.join(" ") + &project.collect::<String>()
    }
}

fn request(args: &Args) -> Request {
    Request {
        intent: args.words.join(" "),
        last: args.last,
        auto_fork: args.auto_fork,
        fork_index: args.fork_index,
        fork_rank: args.pick,
        at: args.at.clone(),
        directory: args.into.clone(),
        limit: args.limit,
        min_score: args.min_score,
        project_path: args.project.clone(),
        engine: args.engine,
        mode: args.mode,
        collection: args.collection.clone(),
        include_snippets: !args.no_snippets,
        extra: args.extra.clone(),
    }
}

/// Parses the value of `--engine`, which has an older name too.
fn engine() -> impl TypedValueParser<Value = Engine> {
    let own = PossibleValue::new("own").alias("index");
    PossibleValuesParser::new([own, "qmd".into(), "auto".into()]).try_map(super::word)
}

/// Prints the newest sessions where none was found, and returns the error.
fn not_found(context: &Context, guidance: Guidance<NextStep>) -> Result<(), Failure> {
    let mut out = Output::plain();
    for session in &guidance.fallback_sessions {
        let title = safe(session.title.as_deref().unwrap_or("(no title)"));
        let when = age_or_date(context.now, session.last_modified, || context.zone());
        let room = out.width().saturating_sub(20);
        writeln!(out, "{}  {when:>6}  {}", session.session_id.short(), fit(&title, room))?;
    }
    out.finish()?;
    Err(nothing(guidance).into())
}

/// The error where no session was found.
fn nothing(guidance: Guidance<NextStep>) -> Error {
    let error = Error::new(Kind::NotFound, guidance.message);
    guidance.next_steps.into_iter().fold(error, Error::next)
}

fn show(context: &Context, request: &Request, found: &ForkSessions) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let obstacle = common_obstacle(&found.results);
    for candidate in &found.results {
        show_one(context, &mut out, candidate, obstacle.is_none())?;
    }
    let dim = Style::new().dimmed();
    if let Some(why_not) = obstacle {
        let red = AnsiColor::Red.on_default();
        let which = if found.results.len() == 1 { "It cannot" } else { "None of them can" };
        let why_not = wrap::wrapped(&format!("{which} be forked: {}", safe(why_not)), out.width());
        writeln!(out, "{red}{why_not}{red:#}")?;
    }
    if let Some(why) = &found.how.qmd_error {
        let who = found.how.qmd_command.map_or("Backstory's own index", |step| step.as_str());
        let why = wrap::wrapped(&format!("Answered by {who}: {}", safe(why)), out.width());
        writeln!(out, "{dim}{why}{dim:#}")?;
    }
    if let Some(first) = found.results.iter().find(|candidate| candidate.why_not.is_none()) {
        let words = app::quoted(&found.query).unwrap_or_else(|| "<the same words>".to_owned());
        let place = request.directory.as_ref().map(|into| {
            format!(" --in {}", app::quoted(into).unwrap_or_else(|| "<the same directory>".to_owned()))
        });
        let place = place.unwrap_or_default();
        writeln!(out, "{dim}Fork one of them: backstory fork {words}{place} --pick {}{dim:#}", first.rank)?;
    }
    Ok(out.finish()?)
}

/// Where a session was: its project and branch, or its directory where those are unknown.
fn place(candidate: &ForkCandidate, width: usize) -> String {
    let names = [&candidate.project, &candidate.branch].map(|name| name.as_deref().map(safe));
    let names: Vec<String> = names.into_iter().flatten().collect();
    match (&candidate.working_directory, names.as_slice()) {
        (Some(directory), []) => fit_end(&safe(&directory.display().to_string()), width),
        (None, []) => "-".to_owned(),
        (_, names) => fit(&names.join("  "), width),
    }
}

/// Why none of the sessions can be forked, where that is the same for all: it is said once.
fn common_obstacle(candidates: &[ForkCandidate]) -> Option<&str> {
    let first = candidates.first()?.why_not.as_deref()?;
    candidates.iter().all(|other| other.why_not.as_deref() == Some(first)).then_some(first)
}

fn show_one(
    context: &Context,
    out: &mut Output,
    candidate: &ForkCandidate,
    with_obstacle: bool,
) -> Result<(), Failure> {
    let (bold, dim, red) = (Style::new().bold(), Style::new().dimmed(), AnsiColor::Red.on_default());
    let width = out.width();
    let indented = |text: &str| fit(&safe(text), width.saturating_sub(5));
    let title = indented(candidate.title.as_deref().unwrap_or("(no title)"));
    writeln!(out, "{:>3}  {bold}{title}{bold:#}", candidate.rank)?;
    let facts = format!(
        "{}  {}  ",
        candidate.session_id.short(),
        age_or_date(context.now, candidate.date, || context.zone()),
    );
    let place = place(candidate, width.saturating_sub(5 + facts.width()));
    writeln!(out, "     {dim}{facts}{place}{dim:#}")?;
    if let Some(snippet) = &candidate.snippet {
        writeln!(out, "     {}", indented(&without_markdown(snippet, &[]).0))?;
    }
    if let Some(why_not) = candidate.why_not.as_ref().filter(|_| with_obstacle) {
        let why_not = wrap::indented(&format!("cannot be forked: {}", safe(why_not)), width, 5);
        writeln!(out, "{red}{why_not}{red:#}")?;
    }
    Ok(writeln!(out)?)
}
