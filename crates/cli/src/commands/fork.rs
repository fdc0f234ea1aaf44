//! `fork`: ranks the sessions for an intent, and hands the terminal to the `claude` that continues a copy.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use app::fork::{Candidate, Fork, Request, candidates, fork};
use app::which::{Ranked, Which};
use app::{App, Error, Kind};
use serde::Serialize;

use super::resume::{found, line, wanted};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{age, fit, safe};

/// Find the sessions that know most about an intent, and continue a copy of one.
///
/// An id forks that session at once; words show ranked sessions, and `--pick` forks one of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What you want to do, or a session's id or the beginning of it.
    #[arg(value_name = "INTENT | ID", required_unless_present = "last")]
    words: Vec<String>,
    /// The session in which something happened last.
    #[arg(long, conflicts_with = "words")]
    last: bool,
    /// Fork the session of this rank.
    #[arg(long, value_name = "N")]
    pick: Option<usize>,
    /// Fork at this message: the fork knows nothing of what came after it.
    #[arg(long, value_name = "UUID")]
    at: Option<String>,
    /// Continue in this directory instead of the one the session started in.
    #[arg(long = "in", value_name = "DIR")]
    into: Option<PathBuf>,
    /// Show at most so many sessions.
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print the command instead of running it; with --at the fork's file is made, for the command needs it.
    #[arg(long)]
    print: bool,
    /// Print the ranked sessions as JSON.
    #[arg(long, conflicts_with_all = ["print", "pick"])]
    json: bool,
    /// What is passed on to `claude`.
    #[arg(last = true, value_name = "CLAUDE'S ARGUMENTS")]
    extra: Vec<OsString>,
}

/// The answer in JSON.
#[derive(Serialize)]
struct ForkJson {
    query: String,
    results: Vec<Candidate>,
}

/// Shows what can be forked, or becomes `claude`.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let wanted = wanted(&args.words, args.last);
    let limit = args.limit.max(args.pick.unwrap_or(1));
    let ranked = found(app, &wanted, limit)?;
    if args.json {
        let results = candidates(app, &ranked);
        return super::json(&ForkJson { query: query(&wanted), results });
    }
    match chosen(args, &ranked)? {
        Some(found) => {
            let request = Request { into: args.into.clone(), at: args.at.clone(), extra: args.extra.clone() };
            start(&fork(app, found.session()?, &request)?, args.print)
        }
        None => show(app, &wanted, &candidates(app, &ranked)),
    }
}

/// Becomes the fork's `claude`, or says how.
pub(crate) fn start(fork: &Fork, print: bool) -> Result<(), Failure> {
    if print {
        return line(&fork.for_a_shell()?);
    }
    Err(fork.run().into())
}

/// The session to fork: the picked one, or the only one that an id names.
fn chosen<'a>(args: &Args, ranked: &'a [Ranked]) -> Result<Option<&'a Ranked>, Error> {
    let Some(pick) = args.pick else {
        return Ok(ranked.first().filter(|found| found.is_named));
    };
    let found = pick.checked_sub(1).and_then(|at| ranked.get(at));
    found.map(Some).ok_or_else(|| {
        Error::new(Kind::Usage, format!("there is no rank {pick}; the last one is {}", ranked.len()))
    })
}

fn query(wanted: &Which) -> String {
    match wanted {
        Which::Last => String::new(),
        Which::Named(words) => words.clone(),
    }
}

fn show(app: &App, wanted: &Which, candidates: &[Candidate]) -> Result<(), Failure> {
    let mut out = super::paged(app);
    for candidate in candidates {
        show_one(app, &mut out, candidate)?;
    }
    let dim = Style::new().dimmed();
    let words = app::quoted(query(wanted));
    writeln!(out, "{dim}Fork one of them: backstory fork {words} --pick 1{dim:#}")?;
    Ok(out.finish()?)
}

fn show_one(app: &App, out: &mut Output, candidate: &Candidate) -> Result<(), Failure> {
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
        age(app.now, candidate.date),
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
