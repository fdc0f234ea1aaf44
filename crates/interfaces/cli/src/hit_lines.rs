//! A hit of `search` on a terminal: title, facts, the text that was found, and the other places of its session.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::Context;
use app::search::hit::FurtherPlace;
use app::search::{ChunkKind, Hit, SourceKind};
use app::sessions::list::OriginName;
use model::SessionId;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::plain_snippet::without_markdown;
use crate::snippet::{from_shortly_before, marked, marked_line, marked_lines};
use crate::text::{age_or_date, fit, safe};
use crate::wrap::wrapped;

/// Where the cited text is.
pub(crate) enum Place {
    /// In the session's own transcript, or in that of one that contains the same record: as `show` takes it.
    Cited { is_own: bool, place: String },
    /// In another file, such as a sub-agent's.
    Elsewhere,
}

impl Place {
    pub(crate) fn of(hit: &Hit) -> Self {
        let file = hit.file.file_stem().and_then(|stem| stem.to_str());
        let holder = hit.session_id.iter().chain(&hit.also_in).find(|id| Some(id.as_str()) == file);
        match holder.filter(|_| hit.source == SourceKind::ClaudeSessions && !is_lost(hit)) {
            Some(id) => Self::Cited {
                is_own: Some(id) == hit.session_id.as_ref(),
                place: format!("{}:{}", id.short(), hit.line),
            },
            None => Self::Elsewhere,
        }
    }
}

/// Whether a hit is of a session that was deleted and has no copy.
pub(crate) fn is_lost(hit: &Hit) -> bool {
    hit.file_missing
        && hit.source == SourceKind::ClaudeSessions
        && matches!(hit.origin, None | Some(OriginName::Ghost))
}

/// Which parts of a hit are shown besides its rank and title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The facts of its session.
    Facts,
    /// The facts, and the text that was found.
    Text,
}

/// Prints a hit and a blank line.
pub(crate) fn print_one(context: &Context, out: &mut Output, hit: &Hit, shown: Shown) -> Result<(), Failure> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let style = AnsiColor::Cyan.on_default();
    let width = out.width();
    let title = hit.title.as_deref().map_or_else(|| untitled(hit), ToOwned::to_owned);
    let title = fit(&safe(&title), width.saturating_sub(6));
    let rank = if last_search::is_kept(context) { format!("@{}", hit.rank) } else { hit.rank.to_string() };
    writeln!(out, "{style}{rank:>4}{style:#}  {bold}{title}{bold:#}")?;
    let id = || hit.session_id.as_ref().map_or("notes", SessionId::short).to_owned();
    let place = Place::of(hit);
    let cited = match &place {
        Place::Cited { is_own: true, place } => place.clone(),
        Place::Cited { .. } | Place::Elsewhere => id(),
    };
    let kind = kind_word(hit.kind);
    let mut tail = Vec::new();
    if hit.origin.is_some() || is_lost(hit) {
        tail.push(age_or_date(context.now, hit.last_modified.or(hit.at), || context.zone()));
    }
    tail.extend(
        hit.deleted_at.map(|at| format!("deleted {}", age_or_date(context.now, Some(at), || context.zone()))),
    );
    if is_lost(hit) {
        tail.push("deleted, no copy".to_owned());
    }
    tail.push(match place {
        Place::Cited { is_own: false, place } => format!("{kind} at {place}"),
        Place::Cited { .. } | Place::Elsewhere => kind,
    });
    let more = (hit.more > 0 && hit.places.is_empty() && !is_lost(hit)).then_some(hit.more);
    if !hit.also_in.is_empty() {
        let ids: Vec<&str> = hit.also_in.iter().take(3).map(SessionId::short).collect();
        tail.push(format!("also in {}", ids.join(", ")));
    }
    let names = [hit.project.as_deref(), hit.branch.as_deref()].map(|name| name.map(safe));
    let names: Vec<String> = names.into_iter().flatten().collect();
    for line in facts_with_more(&cited, &names, &tail, more, width.saturating_sub(6)) {
        writeln!(out, "      {dim}{line}{dim:#}")?;
    }
    if let Some(annotated) = &hit.annotated {
        writeln!(out, "      {}", fit(&safe(annotated), width.saturating_sub(6)))?;
    }
    if let Some(snippet) = hit.snippet.as_ref().filter(|_| shown == Shown::Text) {
        let (snippet, marks) = readable(hit.kind, snippet, &hit.marks);
        for line in marked(&snippet, &marks, width.saturating_sub(6)) {
            writeln!(out, "      {line}")?;
        }
    }
    if let Some(later) = hit.later.as_ref().filter(|_| shown == Shown::Text && !is_lost(hit)) {
        print_later(out, hit, later)?;
    }
    for further in &hit.places {
        print_place(out, hit, further)?;
    }
    Ok(writeln!(out)?)
}

/// A snippet as it is read on a terminal. In code and commands the same marks are no Markdown.
fn readable(kind: ChunkKind, snippet: &str, marks: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    match kind {
        ChunkKind::Command | ChunkKind::Pattern | ChunkKind::Edit | ChunkKind::Write | ChunkKind::Error => {
            (snippet.to_owned(), marks.to_vec())
        }
        _ => without_markdown(snippet, marks),
    }
}

/// What a text is, for people.
fn kind_word(kind: ChunkKind) -> String {
    match kind {
        ChunkKind::Purpose => "about a command".to_owned(),
        ChunkKind::AgentPrompt => "task of a sub-agent".to_owned(),
        ChunkKind::Delegation => "sub-agent".to_owned(),
        ChunkKind::Slash => "slash command".to_owned(),
        ChunkKind::Todo => "to-do".to_owned(),
        ChunkKind::Queued => "queued prompt".to_owned(),
        kind => kind.as_str().replace('_', " "),
    }
}

/// The facts of a hit, and how many more places its session has: in as many words as fit one line.
fn facts_with_more(
    cited: &str,
    names: &[String],
    tail: &[String],
    more: Option<u32>,
    width: usize,
) -> Vec<String> {
    let Some(more) = more else { return facts(cited, names.to_vec(), tail, width) };
    let saying = |words: &str| {
        let tail: Vec<String> =
            tail.iter().cloned().chain([format!("+{more} more{words} (--all-hits)")]).collect();
        facts(cited, names.to_vec(), &tail, width)
    };
    let whole = saying(" in this session");
    if whole.len() == 1 { whole } else { saying("") }
}

/// The facts of a hit in one line, or two where they are long: what every hit has is never cut for a long name.
fn facts(cited: &str, names: Vec<String>, tail: &[String], width: usize) -> Vec<String> {
    const LEAST: usize = 12;
    let gaps = 2 * (names.len() + tail.len());
    let fixed = cited.width() + tail.iter().map(|fact| fact.width()).sum::<usize>() + gaps;
    let line = |names: Vec<String>, tail: &[String]| {
        let all: Vec<&str> = std::iter::once(cited)
            .chain(names.iter().map(String::as_str))
            .chain(tail.iter().map(String::as_str))
            .collect();
        all.join("  ")
    };
    let whole = line(names.clone(), tail);
    if whole.width() <= width {
        return vec![whole];
    }
    let room = width.saturating_sub(fixed);
    if fixed <= width && room >= LEAST * names.len() {
        let mut left = room;
        let mut cut = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let others = names.len() - at - 1;
            let shown = fit(name, left.saturating_sub(LEAST * others).max(LEAST));
            left = left.saturating_sub(shown.width());
            cut.push(shown);
        }
        return vec![fit(&line(cut, tail), width)];
    }
    let wrapped = wrapped(&tail.join("  "), width);
    let first = fit(&line(names, &[]), width);
    std::iter::once(first).chain(wrapped.lines().map(ToOwned::to_owned)).collect()
}

/// Prints the place where a hit may have been corrected, in two lines from the beginning of its snippet.
fn print_later(out: &mut Output, hit: &Hit, later: &FurtherPlace) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let label = format!("later: {}", place_of(hit, later));
    let lead = format!("{label}  ");
    let (snippet, marks) = readable(later.kind, later.snippet.as_deref().unwrap_or_default(), &later.marks);
    let marks: Vec<(usize, usize)> =
        marks.iter().map(|(from, to)| (from + lead.len(), to + lead.len())).collect();
    for line in marked_lines(&(lead + &snippet), &marks, out.width().saturating_sub(6), 2) {
        match line.strip_prefix(&label) {
            Some(rest) => writeln!(out, "      {dim}{label}{dim:#}{rest}")?,
            None => writeln!(out, "      {line}")?,
        }
    }
    Ok(())
}

/// A place of a session, as `show` takes it.
fn place_of(hit: &Hit, further: &FurtherPlace) -> String {
    let is_own =
        hit.session_id.as_ref().is_some_and(|id| further.file.file_stem() == Some(id.as_str().as_ref()));
    let id = hit.session_id.as_ref().map(SessionId::short).unwrap_or_default();
    if is_own { format!("{id}:{}", further.line) } else { "a sub-agent".to_owned() }
}

/// Prints a further place of a session in one line.
fn print_place(out: &mut Output, hit: &Hit, further: &FurtherPlace) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let place = place_of(hit, further);
    let room = out.width().saturating_sub(6 + place.width() + 2).max(20);
    let (snippet, marks) =
        readable(further.kind, further.snippet.as_deref().unwrap_or_default(), &further.marks);
    let (text, marks) = from_shortly_before(&snippet, &marks);
    let line = marked_line(&text, &marks, room);
    Ok(writeln!(out, "      {dim}{place}{dim:#}  {line}")?)
}

/// What is printed of a hit without a title.
fn untitled(hit: &Hit) -> String {
    match hit.source {
        SourceKind::ClaudeSessions if hit.file_missing => "(deleted before its title was read)".to_owned(),
        SourceKind::ClaudeSessions => "(no title)".to_owned(),
        SourceKind::Sessions => {
            let id = hit.session_id.as_ref().map(SessionId::as_str).unwrap_or_default();
            format!("OpenClaw conversation {id}")
        }
        SourceKind::Memory => hit.file.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_way_to_the_date_and_the_kind() {
        let check = |names: &[&str], tail: &[&str], width: usize, expected: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            assert_eq!(
                facts("b6b20c21:569", owned(names), &owned(tail), width),
                expected,
                "{names:?} {width}"
            );
        };
        check(&["shop", "main"], &["8 Feb", "prompt"], 54, &["b6b20c21:569  shop  main  8 Feb  prompt"]);
        check(
            &["shop", "fix/the-refresh-token-of-the-gateway"],
            &["8 Feb", "prompt"],
            60,
            &["b6b20c21:569  shop  fix/the-refresh-token-of…  8 Feb  prompt"],
        );
        check(
            &["shop", "fix/the-refresh-token-of-the-gateway"],
            &["8 Feb", "prompt", "+7 more in this session (--all-hits)"],
            54,
            &[
                "b6b20c21:569  shop  fix/the-refresh-token-of-the-gate…",
                "8 Feb  prompt  +7 more in this session (--all-hits)",
            ],
        );
        check(&[], &["8 Feb", "prompt"], 10, &["b6b20c21:…", "8 Feb", "prompt"]);
    }
}
