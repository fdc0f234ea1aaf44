//! One kind of thing out of a conversation: what was asked, the code in the answers, or the commands that were run. In a pipe
//! nothing else is printed.

use std::io::{self, Write};

use anstyle::Style;
use app::sessions::show::{OmittedParts, Piece, Role, ShownMessage, is_housekeeping};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::Session;

use super::Renderer;
use crate::output::say_aside;
use crate::text::{safe, safe_lines};
use crate::wrap::wrapped;

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

impl Extracted {
    /// Whether it is taken from this piece of a message, whole or in part.
    fn takes(self, message: &ShownMessage, piece: &Piece) -> bool {
        match (self, piece) {
            // A command of the terminal itself asks for nothing.
            (Self::Prompts, Piece::Text { text }) => message.role == Role::User && !is_housekeeping(text),
            (Self::Code, Piece::Text { .. }) => message.role == Role::Assistant,
            (Self::Commands, Piece::ToolUse { name, .. }) => name == "Bash",
            _ => false,
        }
    }

    /// What to say where there is nothing to take out of what was asked for.
    fn nothing(self) -> &'static str {
        match self {
            Self::Prompts => "No prompts to show.",
            Self::Code => "No blocks of code to show.",
            Self::Commands => "No shell commands to show.",
        }
    }
}

/// Renders what is taken out.
#[derive(Debug)]
pub(crate) struct Extract {
    what: Extracted,
    /// For a person, each thing has its place above it, with times in this zone, and lines are this wide.
    for_person: Option<(TimeZone, usize)>,
    session: String,
    is_first: bool,
}

impl Extract {
    /// Takes one kind of thing out; for a person with places, times in a zone, and lines of a width.
    pub(crate) fn new(what: Extracted, for_person: Option<(TimeZone, usize)>) -> Self {
        Self { what, for_person, session: String::new(), is_first: true }
    }

    fn print(
        &mut self,
        out: &mut dyn Write,
        message: &ShownMessage,
        text: &str,
        about: &str,
    ) -> io::Result<()> {
        let is_line = self.what == Extracted::Commands && self.for_person.is_none();
        if !std::mem::take(&mut self.is_first) && !is_line {
            writeln!(out)?;
        }
        if self.for_person.is_some() {
            let dim = Style::new().dimmed();
            let line = message.line.map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(out, "{dim}{}{line}  {}{dim:#}", self.session, safe(about))?;
        }
        let text = safe_lines(text.trim_end());
        match &self.for_person {
            // Code and commands are to be copied as they are.
            Some((_, width)) if self.what == Extracted::Prompts => {
                writeln!(out, "{}", wrapped(&text, *width))
            }
            _ => writeln!(out, "{text}"),
        }
    }

    fn time(&self, at: Timestamp) -> String {
        match &self.for_person {
            Some((zone, _)) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
            None => String::new(),
        }
    }
}

impl Renderer for Extract {
    fn begin(&mut self, _: &mut dyn Write, session: &Session) -> io::Result<()> {
        session.id.short().clone_into(&mut self.session);
        Ok(())
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let what = self.what;
        for piece in message.parts.iter().filter(|piece| what.takes(message, piece)) {
            match (what, piece) {
                (Extracted::Prompts, Piece::Text { text }) => {
                    let at = message.at.map(|at| self.time(at));
                    self.print(out, message, text, &at.unwrap_or_default())?;
                }
                (Extracted::Code, Piece::Text { text }) => {
                    for (language, code) in code_blocks(text) {
                        self.print(out, message, &code, language)?;
                    }
                }
                (_, Piece::ToolUse { input, .. }) => self.print(out, message, input, "")?,
                _ => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, _: OmittedParts) -> io::Result<()> {
        if !self.is_first {
            return Ok(());
        }
        let nothing = self.what.nothing();
        if self.for_person.is_some() {
            return writeln!(out, "{nothing}");
        }
        say_aside(nothing);
        Ok(())
    }
}

/// A document that has only one kind of thing of each message.
#[derive(Debug)]
pub(crate) struct Only<R> {
    what: Extracted,
    document: R,
}

impl<R> Only<R> {
    /// What is left of a document.
    pub(crate) fn new(what: Extracted, document: R) -> Self {
        Self { what, document }
    }
}

impl<R: Renderer> Renderer for Only<R> {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        self.document.begin(out, session)
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let parts: Vec<Piece> =
            message.parts.iter().filter(|piece| self.what.takes(message, piece)).cloned().collect();
        if parts.is_empty() {
            return Ok(());
        }
        self.document.message(out, &ShownMessage { parts, ..message.clone() })
    }

    fn end(&mut self, out: &mut dyn Write, left_out: OmittedParts) -> io::Result<()> {
        self.document.end(out, left_out)
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
    fn prompts_have_their_place_and_the_persons_time_and_break_between_words() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let mut look = Extract::new(Extracted::Prompts, Some((zone, 20)));
        let mut out = Vec::new();
        look.begin(&mut out, &Session::new("3601d36e-b6c0".parse().unwrap())).unwrap();
        let parts = vec![Piece::Text { text: "Why does the parser fail at line four?".to_owned() }];
        let at = "2026-03-01T23:30:00Z".parse().ok();
        let message = ShownMessage {
            role: Role::User,
            subagent: None,
            uuid: None,
            line: Some(7),
            at,
            how: None,
            parts,
        };
        look.message(&mut out, &message).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert_eq!(text, "3601d36e:7  2026-03-02 01:30\nWhy does the parser\nfail at line four?\n");
    }

    #[test]
    fn commands_of_the_terminal_are_no_prompts() {
        let mut look = Extract::new(Extracted::Prompts, None);
        let mut out = Vec::new();
        for text in ["/exit", "/review 181", "/model opus"] {
            let parts = vec![Piece::Text { text: text.to_owned() }];
            let message = ShownMessage {
                role: Role::User,
                subagent: None,
                uuid: None,
                line: None,
                at: None,
                how: None,
                parts,
            };
            look.message(&mut out, &message).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), "/review 181\n");
    }

    #[test]
    fn a_document_has_only_what_is_taken_out() {
        let said = |role, parts| ShownMessage {
            role,
            subagent: None,
            uuid: None,
            line: Some(7),
            at: None,
            how: None,
            parts,
        };
        let text = |text: &str| Piece::Text { text: text.to_owned() };
        let call = |name: &str, input: &str| {
            let (name, input) = (name.to_owned(), input.to_owned());
            Piece::ToolUse { name, input, id: String::new() }
        };
        let messages = [
            said(Role::User, vec![text("/exit"), text("Mend it")]),
            said(Role::Assistant, vec![text("I will."), call("Bash", "cargo test"), call("Read", "a.rs")]),
        ];
        let taken = |what| {
            let (mut look, mut out) = (Only::new(what, super::super::Json::default()), Vec::new());
            look.begin(&mut out, &Session::new("s1".parse().unwrap())).unwrap();
            for message in &messages {
                look.message(&mut out, message).unwrap();
            }
            look.end(&mut out, OmittedParts::default()).unwrap();
            let all: serde_json::Value = serde_json::from_slice(&out).unwrap();
            let all = all["messages"].as_array().unwrap().clone();
            all.iter().map(|message| (message["line"].clone(), message["parts"].clone())).collect::<Vec<_>>()
        };
        let prompts = serde_json::json!([{"type": "text", "text": "Mend it"}]);
        assert_eq!(taken(Extracted::Prompts), [(7.into(), prompts)]);
        let commands = taken(Extracted::Commands);
        assert_eq!(commands.len(), 1);
        assert_eq!(
            (&commands[0].1[0]["input"], commands[0].1.as_array().map(Vec::len)),
            (&"cargo test".into(), Some(1))
        );
    }

    #[test]
    fn a_block_ends_at_its_own_fence() {
        let text = "Run:\n```sh\ncargo test\n```\nor\n````md\n```\ninner\n```\n````\nand\n```\ncut off";
        let found = code_blocks(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(language, code)| (*language, code.as_str())).collect();
        assert_eq!(found, [("sh", "cargo test"), ("md", "```\ninner\n```"), ("", "cut off")]);
    }
}
