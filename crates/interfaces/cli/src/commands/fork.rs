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

use crate::become_claude::start;
use crate::exit::Failure;
use crate::last_search;
use crate::next_step::as_command;
use crate::output::Output;
use crate::picker::{self, Purpose};
use crate::progress::Followed;
use crate::text::{age, fit, safe};

/// Find the sessions that know most about a topic; continue a copy of one.
///
/// An id forks that session at once; words list the best matches, and `--pick` forks one of them. Without either,
/// choose one on the terminal.
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
    /// Fork the session with this rank, counted from 0.
    #[arg(long, value_name = "N", conflicts_with = "pick")]
    fork_index: Option<usize>,
    /// Fork the best match.
    #[arg(long, conflicts_with_all = ["pick", "fork_index"])]
    auto_fork: bool,
    /// Fork at this message, without anything after it.
    #[arg(long, value_name = "UUID")]
    at: Option<String>,
    /// Continue in this directory instead of the one the session started in.
    #[arg(long = "in", value_name = "DIR")]
    into: Option<PathBuf>,
    /// Show at most this many sessions.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = super::at_least_one)]
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
        let Some(choice) = picker::session(context, Purpose::Fork)? else { return Ok(()) };
        request.intent = choice.session.to_string();
    }
    if args.json {
        let answer = forks(&Followed::search(context), &request)?;
        super::json(&answer.clone().worded(as_command))?;
        return match answer {
            Answer::ForkSessions(_) => Ok(()),
            Answer::Nothing(guidance) => Err(nothing(guidance).into()),
        };
    }
    let next = next(&Followed::search(context), &request)?;
    let found = match next {
        Next::Fork(fork) => return start(&fork, args.print),
        Next::Choose(found) => *found,
    };
    match found {
        Answer::ForkSessions(found) => show(context, &found),
        Answer::Nothing(guidance) => not_found(context, guidance),
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
        let when = age(context.now, session.last_modified);
        writeln!(out, "{}  {when}  {}", session.session_id, fit(&title, out.width().saturating_sub(50)))?;
    }
    out.finish()?;
    Err(nothing(guidance).into())
}

/// The error where no session was found.
fn nothing(guidance: Guidance<NextStep>) -> Error {
    let error = Error::new(Kind::NotFound, guidance.message);
    guidance.next_steps.into_iter().fold(error, Error::next)
}

fn show(context: &Context, found: &ForkSessions) -> Result<(), Failure> {
    let mut out = super::paged(context);
    for candidate in &found.results {
        show_one(context, &mut out, candidate)?;
    }
    let dim = Style::new().dimmed();
    if let Some(why) = &found.how.qmd_error {
        let who = found.how.qmd_command.map_or("Backstory's own index", |step| step.as_str());
        writeln!(out, "{dim}Answered by {who}: {}{dim:#}", safe(why))?;
    }
    if !context.config().is_demo {
        let words = app::quoted(&found.query).unwrap_or_else(|| "<the same words>".to_owned());
        writeln!(out, "{dim}Fork one of them: backstory fork {words} --pick 1{dim:#}")?;
    }
    Ok(out.finish()?)
}

fn show_one(context: &Context, out: &mut Output, candidate: &ForkCandidate) -> Result<(), Failure> {
    let (bold, dim, red) = (Style::new().bold(), Style::new().dimmed(), AnsiColor::Red.on_default());
    let width = out.width();
    let indented = |text: &str| fit(&safe(text), width.saturating_sub(5));
    let title = indented(candidate.title.as_deref().unwrap_or("(no title)"));
    writeln!(out, "{:>3}  {bold}{title}{bold:#}", candidate.rank)?;
    let place = candidate
        .working_directory
        .as_ref()
        .map_or_else(|| "-".to_owned(), |path| path.display().to_string());
    let facts = format!(
        "{:.2}  {}  {}  {}",
        candidate.score,
        candidate.session_id,
        age(context.now, candidate.date),
        safe(&place)
    );
    writeln!(out, "     {dim}{facts}{dim:#}")?;
    if let Some(snippet) = &candidate.snippet {
        writeln!(out, "     {}", indented(snippet))?;
    }
    if let Some(why_not) = &candidate.why_not {
        writeln!(out, "     {red}cannot be forked:{red:#} {}", safe(why_not))?;
    }
    Ok(writeln!(out)?)
}
