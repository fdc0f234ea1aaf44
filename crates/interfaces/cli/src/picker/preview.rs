//! The preview of a session: the messages around the place that was found, as lines of a given width.

use std::collections::BTreeSet;

use app::sessions::show::{Piece, Role, ShownMessage};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::prose::{self, Marks, StyledLine};
use crate::text::{safe, safe_lines};
use crate::wrap::Wrap;

/// How many lines, at most, the words of a question are looked for together.
const TOGETHER: usize = 4;

/// Who speaks in the preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    Person,
    Claude,
    /// Claude Code itself, as `show` names it.
    Note,
    /// Claude Code, with what was said before a compaction.
    Summary,
}

/// A message of the preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) speaker: Speaker,
    pub(crate) text: String,
    /// Whether it is the one that was found.
    pub(crate) is_cited: bool,
}

/// The passages of messages; the cited one is the first at or after `line`, and may be a summary.
pub(crate) fn passages(messages: &[ShownMessage], line: Option<u64>, is_summary: bool) -> Vec<Passage> {
    let cited = line
        .and_then(|line| messages.iter().position(|message| message.line.is_some_and(|known| known >= line)));
    let passage = |(at, message): (usize, &ShownMessage)| {
        let texts: Vec<&str> = message.parts.iter().filter_map(text).collect();
        let text = texts.join("\n");
        (!text.trim().is_empty()).then(|| Passage {
            speaker: speaker(message.role, is_summary && cited == Some(at)),
            text,
            is_cited: cited == Some(at),
        })
    };
    messages.iter().enumerate().filter_map(passage).collect()
}

fn text(piece: &Piece) -> Option<&str> {
    match piece {
        // Of what was thought only what is cited is here.
        Piece::Text { text } | Piece::Thinking { text } => Some(text.trim()),
        Piece::ToolUse { .. } | Piece::ToolResult { .. } | Piece::Image => None,
    }
}

fn speaker(role: Role, is_summary: bool) -> Speaker {
    match role {
        Role::User => Speaker::Person,
        Role::Note if is_summary => Speaker::Summary,
        Role::Note => Speaker::Note,
        Role::Assistant | Role::Tool => Speaker::Claude,
    }
}

/// The lines of a preview.
#[derive(Debug, Default)]
pub(crate) struct PreviewLines {
    pub(crate) lines: Vec<Line<'static>>,
    /// The index of the cited passage's first line, which says who speaks.
    pub(crate) cited: usize,
    /// The index of the line in it at which most words of the question come together.
    pub(crate) marked: usize,
}

impl PreviewLines {
    /// Where a screen of so many rows begins: at the cited passage if the marked line is then on it, else just before
    /// that line.
    pub(crate) fn begin(&self, rows: usize) -> usize {
        let is_near = self.marked - self.cited + TOGETHER.min(rows.div_ceil(2)) <= rows;
        let begin = if is_near { self.cited } else { self.marked.saturating_sub(2) };
        begin.min(self.lines.len().saturating_sub(rows))
    }
}

/// The lines of passages, with the words of the question marked.
pub(crate) fn lines(passages: &[Passage], question: &str, width: usize) -> PreviewLines {
    let marks = Marks::of_question(question);
    let (mut page, mut last) = (PreviewLines::default(), None);
    for passage in passages {
        let first = page.lines.len();
        // The cited one begins the screen, so that it says who speaks.
        if passage.is_cited || last != Some(passage.speaker) {
            page.lines.push(heading(passage.speaker));
            last = Some(passage.speaker);
        }
        let shown = match passage.speaker {
            Speaker::Person => verbatim(&passage.text, width),
            Speaker::Claude | Speaker::Note | Speaker::Summary => prose::lines(&passage.text, width),
        };
        page.lines.extend(shown.into_iter().map(|line| prose::screen_line(line.marked(&marks))));
        if passage.is_cited {
            (page.cited, page.marked) = (first, first + densest(&page.lines[first..], &marks));
        }
        page.lines.push(Line::default());
    }
    page
}

/// The index of the first line from which most words of a question come together; 0 where there are none.
fn densest(lines: &[Line<'_>], marks: &Marks) -> usize {
    let text = |line: &Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    // The first line is the heading, in which nothing is marked.
    let found = lines
        .iter()
        .enumerate()
        .map(|(at, line)| if at == 0 { BTreeSet::new() } else { marks.found_in(&text(line)) });
    let found: Vec<BTreeSet<usize>> = found.collect();
    let (mut best, mut most) = (0, 0);
    for (at, together) in found.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        let end = found.len().min(at + TOGETHER);
        let number = found[at..end].iter().fold(together.clone(), |all, more| &all | more).len();
        if number > most {
            (best, most) = (at, number);
        }
    }
    best
}

fn heading(speaker: Speaker) -> Line<'static> {
    let (name, colour) = match speaker {
        Speaker::Person => ("You", Color::Cyan),
        Speaker::Claude => ("Claude", Color::Green),
        Speaker::Note => ("Note", Color::Green),
        Speaker::Summary => ("Summary", Color::Green),
    };
    Line::from(Span::styled(name, Style::new().fg(colour).add_modifier(Modifier::BOLD)))
}

/// What a person wrote, as they wrote it.
fn verbatim(text: &str, width: usize) -> Vec<StyledLine> {
    let wrapped = Wrap::new(width.max(1)).add(&safe_lines(text));
    wrapped.lines().map(|line| StyledLine::verbatim(&safe(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: u64, role: Role, text: &str) -> ShownMessage {
        let parts = vec![Piece::Text { text: text.to_owned() }];
        ShownMessage { role, subagent: None, uuid: None, line: Some(line), at: None, how: None, parts }
    }

    fn text_of(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn the_cited_message_is_known_by_its_line() {
        let messages = [
            shown(3, Role::User, "Rotate the refresh token"),
            shown(5, Role::Assistant, "It is rotated now."),
            shown(9, Role::Assistant, ""),
        ];
        let passages = passages(&messages, Some(4), false);
        assert_eq!(passages.iter().map(|passage| passage.is_cited).collect::<Vec<_>>(), [false, true]);
        let page = lines(&passages, "rotate token", 12);
        let texts: Vec<_> = page.lines.iter().map(text_of).collect();
        assert_eq!(
            texts,
            ["You", "Rotate the", "refresh", "token", "", "Claude", "It is", "rotated now.", ""]
        );
        assert_eq!((page.cited, page.begin(4)), (5, 5));
    }

    #[test]
    fn the_preview_of_a_long_summary_begins_where_the_words_come_together() {
        let before: Vec<String> = (0..40).map(|at| format!("Branch {at} was merged.")).collect();
        let text =
            format!("{}\n\nThen the shadow branch\n\ngot its worktree.\n\nIt ends.", before.join("\n\n"));
        let passages = passages(&[shown(3, Role::Note, &text)], Some(3), true);
        let page = lines(&passages, "shadow branch worktree", 40);
        let screen: Vec<_> = page.lines.iter().skip(page.begin(6)).take(6).map(text_of).collect();
        assert!(screen[2] == "Then the shadow branch" && screen[4] == "got its worktree.", "{screen:?}");
        assert_eq!(text_of(&page.lines[page.cited]), "Summary");
        assert_eq!(page.begin(200), 0, "all of it has room");
    }
}
