//! The head of a conversation for reading: its title, its facts, where it was, what it left behind.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::WorkDone;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};
use model::Session;
use unicode_width::UnicodeWidthStr as _;

use crate::text::{bytes, count, counted, dollars, duration, fit, safe, safe_lines};
use crate::wrap::Wrap;

/// The most commits that are listed.
const COMMITS: usize = 3;
/// The spaces between two facts.
const GAP: &str = "  ";

/// Writes the head.
pub(super) fn write(
    out: &mut dyn Write,
    session: &Session,
    work: &WorkDone,
    zone: &TimeZone,
    width: usize,
) -> io::Result<()> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let title = safe(session.title.as_deref().unwrap_or("(no title)"));
    writeln!(out, "{bold}{}{bold:#}", Wrap::new(width).add(&title))?;
    let known = in_lines(&facts(session, zone), width).into_iter().chain(in_lines(&place(session), width));
    for line in known.chain(files(&work.files, width)).chain(commits(&work.commits, width)) {
        writeln!(out, "{dim}{line}{dim:#}")?;
    }
    if let Some(deleted) = session.deleted_at {
        let date = deleted.to_zoned(zone.clone()).strftime("%Y-%m-%d");
        let text = format!(
            "Deleted by {date}; this is the archive's copy. Put it back: backstory restore {}",
            session.id.short()
        );
        writeln!(out, "{dim}{}{dim:#}", Wrap::new(width).add(&text))?;
    }
    if let Some(folder) = &session.unreadable_folder {
        let folder = safe(&folder.display().to_string());
        let text = format!("{folder} cannot be read; this is the archive's copy.");
        writeln!(out, "{dim}{}{dim:#}", Wrap::new(width).add(&text))?;
    }
    if session.missing_bytes > 0 {
        let missing = bytes(session.missing_bytes);
        let warn = AnsiColor::Yellow.on_default();
        let text = format!(
            "Only {} of it were copied before Claude Code deleted it; {missing} at its end are lost.",
            bytes(session.file_size)
        );
        writeln!(out, "{warn}{}{warn:#}", Wrap::new(width).add(&text))?;
    }
    let note = session.annotations.as_deref().and_then(|annotations| annotations.note.as_deref());
    note.map_or(Ok(()), |note| writeln!(out, "{}", Wrap::new(width).add(&safe_lines(note))))
}

/// Begin, duration, messages, cost, model and tags, as far as they are known.
fn facts(session: &Session, zone: &TimeZone) -> Vec<String> {
    let at = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
    let mut facts: Vec<String> = session.created.map(at).into_iter().collect();
    if let (Some(from), Some(to)) = (session.created, session.last_modified) {
        let minutes = to.since((Unit::Minute, from)).map_or(0, |span| span.get_minutes());
        facts.extend((minutes > 0).then(|| duration(minutes)));
    }
    facts.push(counted(count(session.visible_messages), "message"));
    facts.extend(session.cost_usd.map(|cost| format!("~{}", dollars(cost))));
    facts.extend(session.resumption.model.as_deref().map(|model| safe(short_model(model))));
    let tags = session.annotations.iter().flat_map(|annotations| &annotations.tags);
    facts.extend(tags.map(|tag| format!("#{}", safe(tag))));
    facts
}

/// A model's name without its maker and its date: `opus-4-5`.
fn short_model(name: &str) -> &str {
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((short, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => short,
        _ => name,
    }
}

/// The id, the directory and the branch.
fn place(session: &Session) -> Vec<String> {
    let mut place = vec![session.id.to_string()];
    place.extend(session.cwd.as_deref().map(|cwd| safe(&cwd.display().to_string())));
    place.extend(session.branch.as_deref().map(safe));
    place
}

/// Facts in lines of at most `width` cells, none of them broken.
fn in_lines(facts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        match lines.last_mut().filter(|line| line.width() + GAP.len() + fact.width() <= width) {
            Some(line) => {
                line.push_str(GAP);
                line.push_str(fact);
            }
            None => lines.push(fact.clone()),
        }
    }
    lines
}

/// The files that were changed, in one line: `3 files  src/a.rs, src/b.rs and 1 more`.
fn files(files: &[String], width: usize) -> Option<String> {
    if files.is_empty() {
        return None;
    }
    let mut line = counted(files.len(), "file") + GAP;
    let whole = format!("{line}{}", files.iter().map(|file| safe(file)).collect::<Vec<_>>().join(", "));
    if whole.width() <= width {
        return Some(whole);
    }
    for (at, file) in files.iter().enumerate() {
        let (file, before) = (safe(file), if at == 0 { "" } else { ", " });
        let left = files.len() - at - 1;
        let more = if left == 0 { 0 } else { " and  more".len() + left.to_string().len() };
        if at > 0 && line.width() + before.len() + file.width() + more > width {
            return Some(fit(&format!("{line} and {} more", left + 1), width));
        }
        line.push_str(before);
        line.push_str(&file);
    }
    Some(fit(&line, width))
}

/// The last commits, a line each, and how many there are.
fn commits(commits: &[(String, String)], width: usize) -> Vec<String> {
    let all = counted(commits.len(), "commit");
    let shown = &commits[commits.len().saturating_sub(COMMITS)..];
    let head = |at: usize| if at == 0 { all.clone() } else { " ".repeat(all.width()) };
    let line = |(at, (hash, subject)): (usize, &(String, String))| {
        fit(&format!("{}{GAP}{} {}", head(at), safe(hash), safe(subject)), width)
    };
    shown.iter().rev().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_short() {
        let check = |name: &str, expected: &str| assert_eq!(short_model(name), expected);
        check("claude-opus-4-5-20251101", "opus-4-5");
        check("claude-sonnet-5", "sonnet-5");
        check("glm-4.7", "glm-4.7");
        check("", "");
    }

    #[test]
    fn facts_are_not_broken() {
        let facts = ["2026-03-01 12:00", "3 h 20 min", "~$0.31"].map(str::to_owned);
        assert_eq!(in_lines(&facts, 30), ["2026-03-01 12:00  3 h 20 min", "~$0.31"]);
        assert_eq!(in_lines(&facts, 5), ["2026-03-01 12:00", "3 h 20 min", "~$0.31"]);
    }

    #[test]
    fn as_many_files_as_fit_are_named() {
        let check = |names: &[&str], width, expected: Option<&str>| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(files(&names, width).as_deref(), expected);
        };
        check(&[], 30, None);
        check(&["src/a.rs"], 30, Some("1 file  src/a.rs"));
        check(&["src/a.rs", "src/b.rs", "c.rs"], 33, Some("3 files  src/a.rs, src/b.rs, c.rs"));
        check(&["src/a.rs", "src/b.rs", "c.rs"], 32, Some("3 files  src/a.rs and 2 more"));
        check(&["src/a.rs", "src/b.rs", "c.rs"], 25, Some("3 files  src/a.rs and 2 …"));
        check(&["a/very/long/name.rs"], 18, Some("1 file  a/very/lo…"));
    }

    #[test]
    fn the_last_commits_are_listed() {
        let made = |number: usize| (format!("abc{number}"), format!("Subject {number}"));
        let all: Vec<(String, String)> = (1..=4).map(made).collect();
        assert_eq!(
            commits(&all, 40),
            ["4 commits  abc4 Subject 4", "           abc3 Subject 3", "           abc2 Subject 2"]
        );
        assert_eq!(commits(&all[..1], 20), ["1 commit  abc1 Subj…"]);
        assert_eq!(commits(&[], 40), Vec::<String>::new());
    }
}
