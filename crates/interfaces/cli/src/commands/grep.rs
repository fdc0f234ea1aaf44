//! `search --grep`: prints the lines of transcripts that match a pattern, session by session.

use std::io::Write as _;

use anstyle::Style;
use app::Context;
use app::search::grep::{Answer, LineMatch, Matches, Request, grep};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::progress::Followed;
use crate::snippet::{from_shortly_before, marked_line};
use crate::text::{age_or_date, counted, fit, safe};
use crate::wrap::hanging;

/// The least of a line that is shown, however narrow the terminal is, in cells.
const NARROWEST: usize = 20;

/// Prints the lines that match.
pub(crate) fn run(context: &Context, request: &Request, json: bool) -> Result<(), Failure> {
    let followed = Followed::interruptible(context);
    let answer = grep(&followed, request)?;
    drop(followed);
    if json {
        return super::json(&answer);
    }
    last_search::save_lines(context, &answer);
    print(context, &answer)
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let dim = Style::new().dimmed();
    for found in &answer.sessions {
        print_session(context, &mut out, found)?;
    }
    let (lines, sessions) = (counted(answer.lines, "line"), counted(answer.searched, "session"));
    let holding = answer.sessions.len();
    let shown: usize = answer.sessions.iter().map(|found| found.matches.len()).sum();
    let cut = if answer.truncated {
        format!("; the first {shown} are shown, --limit shows more")
    } else {
        String::new()
    };
    if answer.lines == 0 {
        writeln!(out, "Nothing in {sessions} matches `{}`.", safe(&answer.pattern))?;
    } else {
        let place = if answer.truncated {
            sessions
        } else {
            format!("{} ({sessions} read)", counted(holding, "session"))
        };
        let found = format!("{lines} in {place}{cut}");
        writeln!(out, "{dim}{}{dim:#}", hanging(&found, out.terminal_width(), 0, 2))?;
    }
    if answer.unreadable > 0 {
        writeln!(out, "{dim}{} could not be read{dim:#}", counted(answer.unreadable, "file"))?;
    }
    if answer.too_long_lines > 0 {
        writeln!(out, "{dim}{}{dim:#}", super::too_long(answer.too_long_lines))?;
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
    let who = found.role.as_str();
    let room = out.width().saturating_sub(place.width() + who.len() + 6).max(NARROWEST);
    let start = found.text.len() - found.text.trim_start().len();
    let marks: Vec<(usize, usize)> =
        found.marks.iter().map(|(from, to)| (from.saturating_sub(start), to.saturating_sub(start))).collect();
    let text = &found.text[start..];
    let (text, marks) = match marks.first() {
        Some((_, end)) if *end > room => from_shortly_before(text, &marks),
        _ => (text.to_owned(), marks),
    };
    let text = marked_line(&text, &marks, room);
    Ok(writeln!(out, "  {dim}{place}  {who}{dim:#}  {text}")?)
}
