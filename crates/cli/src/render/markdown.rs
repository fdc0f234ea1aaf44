//! A conversation as Markdown, with the head that other programs look for: `Session ID`,
//! `Working Directory`, `Date`.

use std::io::{self, Write};

use app::show::{Piece, Shown};
use model::Session;

use super::{LastSpeaker, Look};
use crate::text::{safe, safe_lines};

/// For files that people and indexers read.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    last: LastSpeaker,
}

impl Look for Markdown {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        out.write_all(app::export::head(session).as_bytes())
    }

    fn message(&mut self, out: &mut dyn Write, message: &Shown) -> io::Result<()> {
        if let Some(speaker) = self.last.changes(message) {
            writeln!(out, "\n## {}", safe(&speaker))?;
        }
        message.parts.iter().try_for_each(|piece| self::piece(out, piece))
    }

    fn end(&mut self, _: &mut dyn Write, _: u64) -> io::Result<()> {
        Ok(())
    }
}

fn piece(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    match piece {
        Piece::Text { text } => writeln!(out, "\n{}", safe_lines(text.trim())),
        Piece::Thinking { text } => {
            writeln!(out)?;
            safe_lines(text.trim()).lines().try_for_each(|line| writeln!(out, "> {line}"))
        }
        Piece::ToolUse { name, input } => {
            writeln!(out, "\n**{}**", safe(name))?;
            fenced(out, input)
        }
        Piece::ToolResult { text, .. } => fenced(out, text),
        Piece::Image => writeln!(out, "\n*(a picture)*"),
    }
}

/// A block of code, fenced by more backticks than stand in it.
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
