//! `before`: what compactions took from before the model.

use std::io::Write as _;

use anstyle::Style;
use app::Context;
use app::sessions::before::{Answer, DecisionKind, Request, before};
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::last_search;
use crate::picker::{self, Purpose};
use crate::text::{age_or_date, ago, count, safe};
use crate::wrap::{Wrap, hanging};

/// Show what a compaction cut away: decisions, files and commits, with their places.
///
/// No model is asked. Decisions are what you asked for, answered and approved; `backstory show ID:LINE` shows what was
/// said there. Without an id, choose a session on the terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's id, or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Only what this compaction cut away, counted from 1.
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    compaction: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what was cut away.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = match &args.session {
        Some(id) => last_search::session(context, id)?.into_owned(),
        None => picker::session(context, Purpose::Take("show what was cut away"), "is:compacted ")?
            .session
            .to_string(),
    };
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
        let never =
            format!("Session {} was never compacted: nothing was cut away.", answer.session_id.short());
        writeln!(out, "{never}")?;
        return Ok(out.finish()?);
    };
    let at = |at: Option<Timestamp>| age_or_date(context.now, at, || context.zone());
    let tokens = match (last.tokens_before, last.tokens_after) {
        (Some(before), Some(after)) => format!(", from {} to {} tokens", count(before), count(after)),
        (Some(before), None) => format!(", at {} tokens", count(before)),
        _ => String::new(),
    };
    let when = ago(context.now, last.at, || context.zone());
    let times = match answer.compactions.len() {
        1 => format!("once, {when}"),
        times => format!("{times} times, last {when}"),
    };
    let id = answer.session_id.short();
    let what = format!(" was compacted {times}{tokens}");
    let what = hanging(&what, out.terminal_width(), id.width(), 2);
    writeln!(out, "{bold}{id}{bold:#}{what}")?;
    let width = out.width();
    let place = |place: &str| match place.strip_prefix(answer.session_id.as_str()) {
        Some(line) => format!("{}{line}", answer.session_id.short()),
        None => place.to_owned(),
    };
    if !answer.decisions.is_empty() {
        writeln!(out, "\n{bold}Decisions{bold:#}")?;
    }
    for decision in &answer.decisions {
        let what = match decision.kind {
            DecisionKind::Asked => "asked",
            DecisionKind::Answered => "answered",
            DecisionKind::Approved => "approved",
        };
        writeln!(out, "{dim}{}  {}  {what}{dim:#}", place(&decision.place), at(decision.at))?;
        let text = safe(&decision.text);
        writeln!(out, "{}", Wrap::new(width).add(text.trim()))?;
    }
    if !answer.files.is_empty() {
        writeln!(out, "\n{bold}Files{bold:#}")?;
    }
    for file in &answer.files {
        let times = if file.changes == 1 { String::new() } else { format!("  ×{}", file.changes) };
        let path = safe(&file.path.display().to_string());
        let place = place(&file.place);
        let path = hanging(&path, out.terminal_width(), place.width() + 2, 2);
        writeln!(out, "{dim}{place}{dim:#}  {path}{dim}{times}{dim:#}")?;
    }
    if !answer.commits.is_empty() {
        writeln!(out, "\n{bold}Commits{bold:#}")?;
    }
    for commit in &answer.commits {
        let place = place(&commit.place);
        let what = format!("{}  {}", safe(&commit.hash), safe(&commit.subject));
        let what = hanging(&what, out.terminal_width(), place.width() + 2, 2);
        writeln!(out, "{dim}{place}{dim:#}  {what}")?;
    }
    let places = answer.decisions.iter().map(|decision| &decision.place);
    if let Some(first) = places.chain(answer.files.iter().map(|file| &file.place)).next() {
        writeln!(out, "\n{dim}Read it: backstory show {}{dim:#}", place(first))?;
    }
    Ok(out.finish()?)
}
