//! One kind of thing out of a conversation: what was asked, the code in the answers, or the commands that were run. In a pipe
//! nothing else is printed.

use std::io::{self, Write};

use anstyle::Style;
use app::sessions::show::{Piece, Role, ShownMessage};
use model::Session;

use super::Renderer;
use crate::text::{safe, safe_lines};

/// What to take out of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extracted {
    /// What the person asked.
    Prompts,
    /// The blocks of code in the model's answers.
    Code,
    /// The shell commands that were run.
    Commands,
}

/// Renders what is taken out.
#[derive(Debug)]
pub(crate) struct Extract {
    what: Extracted,
    /// Whether each thing has its place above it.
    has_places: bool,
    session: String,
    is_first: bool,
}

impl Extract {
    /// Takes one kind of thing out; with places for a person.
    pub(crate) fn new(what: Extracted, has_places: bool) -> Self {
        Self { what, has_places, session: String::new(), is_first: true }
    }

    fn print(
        &mut self,
        out: &mut dyn Write,
        message: &ShownMessage,
        text: &str,
        about: &str,
    ) -> io::Result<()> {
        let is_line = self.what == Extracted::Commands && !self.has_places;
        if !std::mem::take(&mut self.is_first) && !is_line {
            writeln!(out)?;
        }
        if self.has_places {
            let dim = Style::new().dimmed();
            let line = message.line.map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(out, "{dim}{}{line}  {}{dim:#}", self.session, safe(about))?;
        }
        writeln!(out, "{}", safe_lines(text.trim_end()))
    }
}

impl Renderer for Extract {
    fn begin(&mut self, _: &mut dyn Write, session: &Session) -> io::Result<()> {
        session.id.short().clone_into(&mut self.session);
        Ok(())
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        for piece in &message.parts {
            match (self.what, piece) {
                (Extracted::Prompts, Piece::Text { text }) if message.role == Role::User => {
                    let at = message.at.map(|at| at.strftime("%Y-%m-%d %H:%M UTC").to_string());
                    self.print(out, message, text, &at.unwrap_or_default())?;
                }
                (Extracted::Code, Piece::Text { text }) if message.role == Role::Assistant => {
                    for (language, code) in code_blocks(text) {
                        self.print(out, message, &code, language)?;
                    }
                }
                (Extracted::Commands, Piece::ToolUse { name, input }) if name == "Bash" => {
                    self.print(out, message, input, "")?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// The fenced blocks of a Markdown text, each with its language.
fn code_blocks(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    // The fence that closes the open block, its language and its lines.
    let mut open: Option<(&str, &str, Vec<&str>)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match &mut open {
            None if marks >= 3 => open = Some((&trimmed[..marks], trimmed[marks..].trim(), Vec::new())),
            None => {}
            Some((fence, ..)) if trimmed.trim_end() == *fence => {
                found.extend(open.take().map(|(_, language, lines)| (language, lines.join("\n"))));
            }
            Some((.., lines)) => lines.push(line),
        }
    }
    // An answer that was cut off ends within its block.
    found.extend(open.map(|(_, language, lines)| (language, lines.join("\n"))));
    found.retain(|(_, code)| !code.trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_at_its_own_fence() {
        let text = "Run:\n```sh\ncargo test\n```\nor\n````md\n```\ninner\n```\n````\nand\n```\ncut off";
        let found = code_blocks(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(language, code)| (*language, code.as_str())).collect();
        assert_eq!(found, [("sh", "cargo test"), ("md", "```\ninner\n```"), ("", "cut off")]);
    }
}
