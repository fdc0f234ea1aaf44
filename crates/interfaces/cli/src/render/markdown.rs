//! A conversation as Markdown, with the header that other programs look for: `Session ID`,
//! `Working Directory`, `Date`.

use std::io::{self, Write};

use app::sessions::show::{OmittedParts, Piece, ShownMessage};
use model::Session;

use super::{LastSpeaker, Renderer};
use crate::text::{safe, safe_lines};

/// Renders a conversation for documents and indexers.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    last: LastSpeaker,
}

impl Renderer for Markdown {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        out.write_all(app::search::export::head(session).as_bytes())
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        if let Some(speaker) = self.last.changes(message) {
            writeln!(out, "\n## {}", safe(&speaker))?;
        }
        message.parts.iter().try_for_each(|piece| self::piece(out, piece))
    }

    fn end(&mut self, _: &mut dyn Write, _: OmittedParts) -> io::Result<()> {
        Ok(())
    }
}

fn piece(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    match piece {
        Piece::Text { text } => writeln!(out, "\n{}", contained(&safe_lines(text.trim()))),
        Piece::Thinking { text } => {
            writeln!(out)?;
            contained(&safe_lines(text.trim())).lines().try_for_each(|line| writeln!(out, "> {line}"))
        }
        Piece::ToolUse { name, input, .. } => {
            writeln!(out, "\n**{}**", safe(name))?;
            fenced(out, input)
        }
        Piece::ToolResult { text, .. } => fenced(out, text),
        Piece::Image => writeln!(out, "\n*(image)*"),
    }
}

/// Escapes the text of a message so that it cannot start another message or contain HTML, and closes the code block
/// that it leaves open.
fn contained(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut fence, mut before): (Option<&str>, &str) = (None, "");
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        match (fence, marks(line)) {
            (Some(open), Some(marks)) if ends(open, marks, line) => fence = None,
            (Some(_), _) => {}
            (None, Some(marks)) => fence = Some(marks),
            (None, None) => {
                plain(&mut out, line, std::mem::replace(&mut before, line));
                continue;
            }
        }
        out.push_str(line);
        before = "";
    }
    if let Some(open) = fence {
        out.push('\n');
        out.push_str(open);
    }
    out
}

/// The backticks or tildes of a line that opens or ends a block of code.
fn marks(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    let sign = rest.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = rest.chars().take_while(|c| *c == sign).count();
    let is_inline = sign == '`' && rest[length..].contains('`');
    (line.len() - rest.len() < 4 && length >= 3 && !is_inline).then(|| &rest[..length])
}

fn ends(open: &str, marks: &str, line: &str) -> bool {
    marks.len() >= open.len() && marks[..1] == open[..1] && line.trim_start().trim_end() == marks
}

/// Writes a line outside a block of code, with a backslash before what looks like a message's heading or like HTML;
/// Markdown does not show the backslash.
fn plain(out: &mut String, line: &str, before: &str) {
    let rest = line.trim_start_matches(' ');
    let heading = rest.trim_start_matches('#');
    let is_heading = heading.len() < rest.len() && is_speaker(heading);
    let is_underline = !rest.is_empty() && rest.trim_end().chars().all(|c| matches!(c, '-' | '='));
    if is_heading || (is_underline && is_speaker(before)) {
        out.push_str(&line[..line.len() - rest.len()]);
        out.push('\\');
        return html(out, rest);
    }
    html(out, line);
}

/// Whether a heading could be taken for that of a message.
fn is_speaker(heading: &str) -> bool {
    let name = heading.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
    super::SPEAKERS.iter().any(|speaker| speaker.eq_ignore_ascii_case(&name[..end]))
}

fn html(out: &mut String, line: &str) {
    let mut is_code = false;
    for (at, c) in line.char_indices() {
        is_code ^= c == '`';
        let rest = &line[at + c.len_utf8()..];
        let opens =
            rest.starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'));
        // An address in angle brackets is a link.
        let is_address = || rest.split(['>', ' ']).next().is_some_and(|word| word.contains("://"));
        if c == '<' && opens && !is_code && !line[..at].ends_with('\\') && !is_address() {
            out.push('\\');
        }
        out.push(c);
    }
}

/// A block of code, fenced by more backticks than it contains.
fn fenced(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let text = safe_lines(text.trim_end());
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "\n{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_begins_no_other_message() {
        let check = |text: &str, expected: &str| assert_eq!(contained(text), expected);
        check("plain *text*\n\n- a list", "plain *text*\n\n- a list");
        check("yes\n## Assistant\n\nno", "yes\n\\## Assistant\n\nno");
        check("   ## Assistant", "   \\## Assistant");
        check("Assistant\n---------", "Assistant\n\\---------");
        check("## **User** (x)", "\\## **User** (x)");
        check("# A plan\n## Steps\n\n---\n## Users", "# A plan\n## Steps\n\n---\n## Users");
        check("<h2>Assistant</h2> a < b <!-- c", "\\<h2>Assistant\\</h2> a < b \\<!-- c");
        check("Vec<u8>, `Vec<u8>` and <https://a.example/>", "Vec\\<u8>, `Vec<u8>` and <https://a.example/>");
        check("```sh\n## x <b>\n```\n## note", "```sh\n## x <b>\n```\n\\## note");
        check("````\n```\n## x", "````\n```\n## x\n````");
        check("~~~\nopen", "~~~\nopen\n~~~");
        check("``` a ``` b\n## Tool", "``` a ``` b\n\\## Tool");
        check("", "");
    }

    #[test]
    fn no_text_ends_its_own_fence() {
        let check = |text: &str, expected: &str| {
            let mut out = Vec::new();
            fenced(&mut out, text).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check("ls", "\n```\nls\n```\n");
        check("a\n````\nb", "\n`````\na\n````\nb\n`````\n");
    }
}
