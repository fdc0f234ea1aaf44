//! `fork`: ranks sessions for an intent, and replaces this process by the `claude` that continues a copy of one.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use app::proceed::fork::{Candidate, Fork, Request, candidates, fork};
use app::search::intent::{self, Found, Guidance, How};
use app::sessions::list::SessionFilter;
use app::sessions::lookup::{Ranked, SessionRef};
use app::workers::{Forked, work};
use app::{Context, Engine, Error, Kind};
use serde::Serialize;

use super::resume::{become_claude, line, wanted};
use crate::exit::Failure;
use crate::next_step::as_command;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{age, fit, safe};

/// Find the sessions that know most about what you want to do, and continue a copy of one.
///
/// An id forks that session at once; words list the best matches, and `--pick` forks one of them.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// What you want to do, or a session's id or a prefix of it.
    #[arg(value_name = "INTENT | ID", required_unless_present = "last")]
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
    #[arg(long, value_name = "SCORE", value_parser = share)]
    min_score: Option<f32>,
    /// Only sessions of this repository, given by name or by a path inside it.
    #[arg(long, visible_alias = "project-path", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// What to search with: Backstory's own index, qmd (else the index), or qmd only if it is installed.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// Search Backstory's own index by words (lexical), by meaning (semantic), or both (hybrid).
    #[arg(long, value_parser = super::MODES, default_value = "hybrid")]
    mode: String,
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

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum EngineName {
    #[value(alias = "index")]
    Own,
    Qmd,
    Auto,
}

/// The answer of `fork --json`.
#[derive(Serialize)]
struct ForkJson {
    query: String,
    #[serde(flatten)]
    how: How,
    results: Vec<Candidate>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_session: Option<Forked>,
}

/// Lists what can be forked, or replaces this process by `claude`.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let wanted = wanted(&args.words, args.last);
    let found = intent::find(&Followed::search(context), &request(args, &wanted))?;
    let (ranked, how) = match found {
        Found::Ranked(ranked, how) => (ranked, how),
        Found::Nothing(guidance) => return not_found(context, &guidance, args.json),
    };
    let chosen = chosen(args, &ranked)?;
    if args.json {
        return json(context, args, &wanted, &ranked, how, chosen);
    }
    match chosen.or_else(|| ranked.first().filter(|found| found.is_named)) {
        Some(found) => start(&forked(context, args, found)?, args.print),
        None => show(context, args, &wanted, &ranked, &how),
    }
}

fn request(args: &Args, wanted: &SessionRef) -> intent::Request {
    intent::Request {
        wanted: wanted.clone(),
        limit: args.limit.max(rank(args).unwrap_or(1)),
        min_score: args.min_score,
        filter: SessionFilter { project: args.project.clone(), ..SessionFilter::default() },
        collection: args.collection.clone(),
        mode: super::mode(&args.mode),
        engine: args.engine.map(|engine| match engine {
            EngineName::Own => Engine::Own,
            EngineName::Qmd => Engine::Qmd,
            EngineName::Auto => Engine::Auto,
        }),
    }
}

/// The rank to fork, from 1, if one was given.
fn rank(args: &Args) -> Option<usize> {
    args.pick.or_else(|| args.fork_index?.checked_add(1)).or_else(|| args.auto_fork.then_some(1))
}

fn forked(context: &Context, args: &Args, found: &Ranked) -> Result<Fork, Error> {
    fork(context, found.session()?, &fork_request(args))
}

fn fork_request(args: &Args) -> Request {
    Request { into: args.into.clone(), at: args.at.clone(), extra: args.extra.clone() }
}

/// The task of a worker in the fork; a session given by its id comes with none.
fn intent<'a>(found: &Ranked, query: &'a str) -> Result<&'a str, Error> {
    if !found.is_named {
        return Ok(query);
    }
    let task = format!("give one: backstory run --fork {} <task>", found.id);
    Err(Error::new(Kind::Usage, "a session given by its id comes without a task to work on").hint(task))
}

fn json(
    context: &Context,
    args: &Args,
    wanted: &SessionRef,
    ranked: &[Ranked],
    how: How,
    chosen: Option<&Ranked>,
) -> Result<(), Failure> {
    let query = query(wanted);
    let forked_session = match chosen {
        Some(found) => Some(work(context, found.session()?, &fork_request(args), intent(found, &query)?)?),
        None => None,
    };
    let rank = chosen.and(rank(args));
    let results = listed(context, args, ranked);
    super::json(&ForkJson {
        query,
        how,
        count: results.len(),
        results,
        forked_index: rank.map(|rank| rank - 1),
        forked_rank: rank,
        forked_session,
    })
}

fn listed(context: &Context, args: &Args, ranked: &[Ranked]) -> Vec<Candidate> {
    let mut results = candidates(context, ranked);
    if args.no_snippets {
        for candidate in &mut results {
            candidate.snippet = None;
        }
    }
    results
}

/// Prints the newest sessions where none was found, as JSON in place of the answer, and returns the error.
fn not_found(context: &Context, guidance: &Guidance, as_json: bool) -> Result<(), Failure> {
    if as_json {
        super::json(&guidance_json(guidance)?)?;
    } else {
        let mut out = Output::plain();
        for session in &guidance.fallback_sessions {
            let title = safe(session.title.as_deref().unwrap_or("(no title)"));
            let when = age(context.now, session.last_modified);
            writeln!(out, "{}  {when}  {}", session.session_id, fit(&title, out.width().saturating_sub(50)))?;
        }
        out.finish()?;
    }
    let error = Error::new(Kind::NotFound, guidance.message.clone());
    Err(guidance.next_steps.iter().fold(error, |error, step| error.next(step.clone())).into())
}

/// The guidance as JSON, with its next steps as commands.
fn guidance_json(guidance: &Guidance) -> Result<serde_json::Value, Failure> {
    let mut json = serde_json::to_value(guidance).map_err(std::io::Error::other)?;
    json["next_steps"] = guidance.next_steps.iter().map(as_command).collect();
    Ok(json)
}

/// Replaces this process by the fork's `claude`, or prints the command for it.
pub(crate) fn start(fork: &Fork, print: bool) -> Result<(), Failure> {
    if print {
        return line(&fork.for_a_shell()?);
    }
    let cause = become_claude(fork.prepare()?);
    Err(fork.not_started(&cause).into())
}

/// The session with the rank that was given, if any.
fn chosen<'a>(args: &Args, ranked: &'a [Ranked]) -> Result<Option<&'a Ranked>, Error> {
    let Some(rank) = rank(args) else { return Ok(None) };
    let found = rank.checked_sub(1).and_then(|at| ranked.get(at));
    found.map(Some).ok_or_else(|| {
        Error::new(Kind::Usage, format!("there is no rank {rank}; the last one is {}", ranked.len()))
    })
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

fn query(wanted: &SessionRef) -> String {
    match wanted {
        SessionRef::Last => String::new(),
        SessionRef::Named(words) => words.clone(),
    }
}

fn show(
    context: &Context,
    args: &Args,
    wanted: &SessionRef,
    ranked: &[Ranked],
    how: &How,
) -> Result<(), Failure> {
    let mut out = super::paged(context);
    for candidate in listed(context, args, ranked) {
        show_one(context, &mut out, &candidate)?;
    }
    let dim = Style::new().dimmed();
    if let Some(why) = &how.qmd_error {
        let who = how.qmd_command.map_or("Backstory's own index", |step| step.as_str());
        writeln!(out, "{dim}Answered by {who}: {}{dim:#}", safe(why))?;
    }
    if !context.config().is_demo {
        let words = app::quoted(query(wanted)).unwrap_or_else(|| "<the same words>".to_owned());
        writeln!(out, "{dim}Fork one of them: backstory fork {words} --pick 1{dim:#}")?;
    }
    Ok(out.finish()?)
}

fn show_one(context: &Context, out: &mut Output, candidate: &Candidate) -> Result<(), Failure> {
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
