//! `search --grep`: prints the lines of transcripts that match a pattern, session by session.

use std::io::Write as _;

use anstyle::Style;
use app::Context;
use app::search::grep::{Answer, LineMatch, Matches, Request, grep};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::snippet::{marked, shortly_before};
use crate::text::{age_or_date, fit, safe};

/// The least of a line that is shown, however narrow the terminal is, in cells.
const NARROWEST: usize = 20;

/// Prints the lines that match.
pub(crate) fn run(context: &Context, request: &Request, json: bool) -> Result<(), Failure> {
    let followed = Followed::interruptible(context);
    let answer = grep(&followed, request)?;
    drop(followed);
    if json { super::json(&answer) } else { print(context, &answer) }
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let dim = Style::new().dimmed();
    for found in &answer.sessions {
        print_session(context, &mut out, found)?;
    }
    let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (lines, sessions) = (counted(answer.lines, "line"), counted(answer.searched as u64, "session"));
    let shown: usize = answer.sessions.iter().map(|found| found.matches.len()).sum();
    let cut = if answer.truncated {
        format!("; the first {shown} are shown, --limit shows more")
    } else {
        String::new()
    };
    if answer.lines == 0 {
        writeln!(out, "Nothing in {sessions} matches `{}`.", safe(&answer.pattern))?;
    } else {
        writeln!(out, "{dim}{lines} in {sessions}{cut}{dim:#}")?;
    }
    if answer.unreadable > 0 {
        writeln!(out, "{dim}{} could not be read{dim:#}", counted(answer.unreadable as u64, "file"))?;
    }
    Ok(out.finish()?)
}

fn print_session(context: &Context, out: &mut Output, found: &Matches) -> Result<(), Failure> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let id = found.session_id.short();
    let title = safe(found.title.as_deref().unwrap_or("(no title)"));
    let about = [
        found.project.as_deref().map(safe).unwrap_or_default(),
        age_or_date(context.now, found.last_modified, || context.zone()),
    ];
    let about = about.join("  ");
    let room = out.width().saturating_sub(about.width() + 2).max(NARROWEST);
    writeln!(out, "{bold}{}{bold:#}  {dim}{about}{dim:#}", fit(&title, room))?;
    for line in &found.matches {
        print_line(out, id, line)?;
    }
    Ok(writeln!(out)?)
}

fn print_line(out: &mut Output, id: &str, found: &LineMatch) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let place = if found.subagent { "sub-agent".to_owned() } else { format!("{id}:{}", found.line) };
    let who = found.role.word();
    let room = out.width().saturating_sub(place.width() + who.len() + 6).max(NARROWEST);
    let start = match found.marks.first() {
        Some((_, end)) if *end > room => shortly_before(&found.text, found.marks[0].0),
        _ => found.text.len() - found.text.trim_start().len(),
    };
    let marks: Vec<(usize, usize)> =
        found.marks.iter().map(|(from, to)| (from.saturating_sub(start), to.saturating_sub(start))).collect();
    let text = marked(&found.text[start..], &marks, room).into_iter().next().unwrap_or_default();
    Ok(writeln!(out, "  {dim}{place}  {who}{dim:#}  {text}")?)
}
