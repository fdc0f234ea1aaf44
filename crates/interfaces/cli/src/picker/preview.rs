//! The preview of a session: the messages around the place that was found, as lines of a given width.

use app::sessions::show::{Piece, Role, ShownMessage};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::prose::{self, Marks, StyledLine};
use crate::text::{safe, safe_lines};
use crate::wrap::Wrap;

/// A message of the preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Whether the person said it.
    pub(crate) is_user: bool,
    pub(crate) text: String,
    /// Whether it is the one that was found.
    pub(crate) is_cited: bool,
}

/// The passages of messages; the cited one is the first at or after `line`.
pub(crate) fn passages(messages: &[ShownMessage], line: Option<u64>) -> Vec<Passage> {
    let cited = line
        .and_then(|line| messages.iter().position(|message| message.line.is_some_and(|known| known >= line)));
    let passage = |(at, message): (usize, &ShownMessage)| {
        let texts: Vec<&str> = message.parts.iter().filter_map(text).collect();
        let text = texts.join("\n");
        (!text.trim().is_empty()).then(|| Passage {
            is_user: message.role == Role::User,
            text,
            is_cited: cited == Some(at),
        })
    };
    messages.iter().enumerate().filter_map(passage).collect()
}

fn text(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text { text } => Some(text.trim()),
        Piece::Thinking { .. } | Piece::ToolUse { .. } | Piece::ToolResult { .. } | Piece::Image => None,
    }
}

/// The lines of passages, with the words of the question marked, and the index of the cited one's first line.
pub(crate) fn lines(passages: &[Passage], question: &str, width: usize) -> (Vec<Line<'static>>, usize) {
    let marks = Marks::of_question(question);
    let (mut lines, mut cited, mut last) = (Vec::new(), 0, None);
    for passage in passages {
        if passage.is_cited {
            cited = lines.len();
        }
        if last != Some(passage.is_user) {
            lines.push(speaker(passage.is_user));
            last = Some(passage.is_user);
        }
        let shown =
            if passage.is_user { verbatim(&passage.text, width) } else { prose::lines(&passage.text, width) };
        lines.extend(shown.into_iter().map(|line| prose::screen_line(line.marked(&marks))));
        lines.push(Line::default());
    }
    (lines, cited)
}

fn speaker(is_user: bool) -> Line<'static> {
    let (name, colour) = if is_user { ("You", Color::Cyan) } else { ("Claude", Color::Green) };
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
        ShownMessage { role, subagent: None, uuid: None, line: Some(line), at: None, parts }
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
        let passages = passages(&messages, Some(4));
        assert_eq!(passages.iter().map(|passage| passage.is_cited).collect::<Vec<_>>(), [false, true]);
        let (lines, cited) = lines(&passages, "rotate token", 12);
        let texts: Vec<_> = lines.iter().map(text_of).collect();
        assert_eq!(
            texts,
            ["You", "Rotate the", "refresh", "token", "", "Claude", "It is", "rotated now.", ""]
        );
        assert_eq!(cited, 5);
    }
}
