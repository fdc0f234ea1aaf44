//! `before`: what compactions took from before the model.

use std::io::Write as _;

use anstyle::Style;
use app::Context;
use app::sessions::before::{Answer, DecisionKind, Request, before};
use jiff::Timestamp;

use crate::exit::Failure;
use crate::last_search;
use crate::text::{age_or_date, count, safe};
use crate::wrap::Wrap;

/// Show what a compaction cut away: decisions, files and commits, with their places.
///
/// No model is asked. Decisions are what you asked for, answered and approved; `backstory show ID:LINE` shows what was
/// said there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's id, or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID")]
    session: String,
    /// Only what this compaction cut away, counted from 1.
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    compaction: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what was cut away.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = last_search::session(context, &args.session)?.into_owned();
    let answer = before(context, &Request { session, compaction: args.compaction })?;
    if args.json {
        return super::json(&answer);
    }
    print(context, &answer)
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let Some(last) = answer.compactions.last() else {
        writeln!(out, "Session {} was never compacted: nothing was cut away.", answer.session_id)?;
        return Ok(out.finish()?);
    };
    let line_of = |place: &str| place.rsplit(':').next().unwrap_or_default().to_owned();
    let at = |at: Option<Timestamp>| age_or_date(context.now, at, || context.zone());
    let tokens = match (last.tokens_before, last.tokens_after) {
        (Some(before), Some(after)) => format!(", from {} to {} tokens", count(before), count(after)),
        (Some(before), None) => format!(", at {} tokens", count(before)),
        _ => String::new(),
    };
    let times = match answer.compactions.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    writeln!(out, "{bold}{}{bold:#} was compacted {times}, last {}{tokens}", answer.session_id, at(last.at))?;
    let width = out.width();
    if !answer.decisions.is_empty() {
        writeln!(out, "\n{bold}Decisions{bold:#}")?;
    }
    for decision in &answer.decisions {
        let what = match decision.kind {
            DecisionKind::Asked => "asked",
            DecisionKind::Answered => "answered",
            DecisionKind::Approved => "approved",
        };
        let place = line_of(&decision.place);
        writeln!(out, "{dim}:{place}  {}  {what}{dim:#}", at(decision.at))?;
        let text = safe(&decision.text);
        writeln!(out, "{}", Wrap::new(width).add(text.trim()))?;
    }
    if !answer.files.is_empty() {
        writeln!(out, "\n{bold}Files{bold:#}")?;
    }
    for file in &answer.files {
        let times = if file.changes == 1 { String::new() } else { format!("  ×{}", file.changes) };
        let path = safe(&file.path.display().to_string());
        writeln!(out, "{dim}:{}{dim:#}  {path}{dim}{times}{dim:#}", line_of(&file.place))?;
    }
    if !answer.commits.is_empty() {
        writeln!(out, "\n{bold}Commits{bold:#}")?;
    }
    for commit in &answer.commits {
        writeln!(
            out,
            "{dim}:{}{dim:#}  {}  {}",
            line_of(&commit.place),
            safe(&commit.hash),
            safe(&commit.subject)
        )?;
    }
    writeln!(
        out,
        "\n{dim}Read what was said there: backstory show {}:LINE{dim:#}",
        answer.session_id.short()
    )?;
    Ok(out.finish()?)
}
