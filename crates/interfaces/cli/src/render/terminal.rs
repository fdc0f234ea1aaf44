//! A conversation for reading on a terminal: prose wrapped between words, a run of tool calls in one line, edits as
//! diffs.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::show::{Piece, Role, ShownMessage};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};
use model::Session;

use super::{LastSpeaker, Renderer};
use crate::text::{bytes, count, dollars, duration, safe, safe_lines};
use crate::wrap::Wrap;

/// The most lines of a tool's work that are shown.
const TOOL_LINES: usize = 12;

/// Renders a conversation for a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    last: LastSpeaker,
    zone: TimeZone,
    width: usize,
    /// The line of the transcript that is marked, until it was.
    cited: Option<u64>,
    calls: Calls,
}

/// The tools called since the last text, in the order of their first call.
#[derive(Debug, Default)]
struct Calls(Vec<(String, usize)>);

impl Terminal {
    /// A renderer that shows times in `zone`, wraps at `width` cells, and marks the message at the `cited` line.
    pub(crate) fn new(zone: TimeZone, width: usize, cited: Option<u64>) -> Self {
        Self { last: LastSpeaker::default(), zone, width, cited, calls: Calls::default() }
    }

    /// Begin, duration, messages and cost, as far as they are known.
    fn facts(&self, session: &Session) -> String {
        let at = |at: Timestamp, format: &str| at.to_zoned(self.zone.clone()).strftime(format).to_string();
        let mut facts: Vec<String> =
            session.created.map(|created| at(created, "%Y-%m-%d %H:%M")).into_iter().collect();
        if let (Some(from), Some(to)) = (session.created, session.last_modified) {
            let minutes = to.since((Unit::Minute, from)).map_or(0, |span| span.get_minutes());
            facts.extend((minutes > 0).then(|| duration(minutes)));
        }
        facts.push(match session.visible_messages {
            1 => "1 message".to_owned(),
            messages => format!("{} messages", count(messages)),
        });
        facts.extend(session.cost_usd.map(|cost| format!("~{}", dollars(cost))));
        let tags = session.annotations.iter().flat_map(|annotations| &annotations.tags);
        facts.extend(tags.map(|tag| format!("#{}", safe(tag))));
        facts.join("  ")
    }

    fn mark(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let Some(line) = self.cited.filter(|cited| message.line.is_some_and(|line| line >= *cited)) else {
            return Ok(());
        };
        self.cited = None;
        let style = AnsiColor::Yellow.on_default().bold();
        writeln!(out, "{style}▶ line {line}{style:#}")
    }

    fn piece(&mut self, out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let wrapped = |text: &str| Wrap::new(self.width).add(&safe_lines(text.trim()));
        match piece {
            Piece::ToolUse { name, input } if input.is_empty() => {
                self.calls.add(name);
                Ok(())
            }
            Piece::Text { text } => {
                self.calls.print(out)?;
                writeln!(out, "{}", wrapped(text))
            }
            Piece::Thinking { text } => {
                self.calls.print(out)?;
                writeln!(out, "{dim}(thinking) {}{dim:#}", wrapped(text))
            }
            Piece::ToolUse { name, input } => call(out, name, input),
            Piece::ToolResult { text, is_error } => {
                let style = if *is_error { AnsiColor::Red.on_default() } else { dim };
                folded(out, &safe_lines(text.trim()), |_| style)
            }
            Piece::Image => writeln!(out, "{dim}(image){dim:#}"),
        }
    }
}

impl Renderer for Terminal {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let title = safe(session.title.as_deref().unwrap_or("(no title)"));
        writeln!(out, "{bold}{}{bold:#}", Wrap::new(self.width).add(&title))?;
        writeln!(out, "{dim}{}{dim:#}", self.facts(session))?;
        let place = session.cwd.as_deref().map_or_else(String::new, |cwd| format!("  {}", cwd.display()));
        let branch = session.branch.as_deref().map_or_else(String::new, |branch| format!("  {branch}"));
        let place = format!("{}{}{}", session.id, safe(&place), safe(&branch));
        writeln!(out, "{dim}{}{dim:#}", Wrap::new(self.width).add(&place))?;
        if session.missing_bytes > 0 {
            let missing = bytes(session.missing_bytes);
            let warn = AnsiColor::Yellow.on_default();
            let text = format!(
                "Only {} of it were copied before Claude Code deleted it; {missing} at its end are lost.",
                bytes(session.file_size)
            );
            writeln!(out, "{warn}{}{warn:#}", Wrap::new(self.width).add(&text))?;
        }
        let note = session.annotations.as_deref().and_then(|annotations| annotations.note.as_deref());
        note.map_or(Ok(()), |note| writeln!(out, "{}", Wrap::new(self.width).add(&safe_lines(note))))
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        if let Some(speaker) = self.last.changes(message) {
            self.calls.print(out)?;
            let colour = if message.role == Role::User { AnsiColor::Cyan } else { AnsiColor::Green };
            let style = colour.on_default().bold();
            let at =
                message.at.map(|at| at.to_zoned(self.zone.clone()).strftime("  %Y-%m-%d %H:%M").to_string());
            let at = at.unwrap_or_default();
            let dim = Style::new().dimmed();
            writeln!(out, "\n{style}{}{style:#}{dim}{at}{dim:#}", safe(&speaker))?;
        }
        self.mark(out, message)?;
        message.parts.iter().try_for_each(|piece| self.piece(out, piece))
    }

    fn end(&mut self, out: &mut dyn Write, left_out: u64) -> io::Result<()> {
        self.calls.print(out)?;
        let dim = Style::new().dimmed();
        match left_out {
            0 => Ok(()),
            1 => writeln!(out, "\n{dim}1 message of another branch; --all shows it{dim:#}"),
            _ => writeln!(out, "\n{dim}{left_out} messages of other branches; --all shows them{dim:#}"),
        }
    }
}

impl Calls {
    fn add(&mut self, name: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => *times += 1,
            None => self.0.push((name.to_owned(), 1)),
        }
    }

    /// Prints the calls in one line and forgets them.
    fn print(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let calls = std::mem::take(&mut self.0);
        let all: usize = calls.iter().map(|(_, times)| times).sum();
        let names: Vec<String> = calls
            .iter()
            .map(|(name, times)| if *times == 1 { safe(name) } else { format!("{} ×{times}", safe(name)) })
            .collect();
        let dim = Style::new().dimmed();
        match all {
            0 => Ok(()),
            1 => writeln!(out, "{dim}  … {}{dim:#}", names.join(", ")),
            _ => writeln!(out, "{dim}  … {all} tool calls: {}{dim:#}", names.join(", ")),
        }
    }
}

/// A tool's call; the lines of an edit are coloured as in a diff.
fn call(out: &mut dyn Write, name: &str, input: &str) -> io::Result<()> {
    let yellow = AnsiColor::Yellow.on_default();
    let input = safe_lines(input.trim());
    let (first, rest) = input.split_once('\n').unwrap_or((&input, ""));
    writeln!(out, "{yellow}» {}{yellow:#} {first}", safe(name))?;
    folded(out, rest, |line| match line.chars().next() {
        Some('-') => AnsiColor::Red.on_default(),
        Some('+') => AnsiColor::Green.on_default(),
        _ => Style::new(),
    })
}

/// The first lines of a text, and how many more there are.
fn folded(out: &mut dyn Write, text: &str, style: impl Fn(&str) -> Style) -> io::Result<()> {
    let lines = text.lines().count();
    // A single line more is shown rather than counted.
    let shown = if lines <= TOOL_LINES + 1 { lines } else { TOOL_LINES };
    text.lines().take(shown).try_for_each(|line| {
        let style = style(line);
        writeln!(out, "{style}  {line}{style:#}")
    })?;
    let dim = Style::new().dimmed();
    match lines - shown {
        0 => Ok(()),
        more => writeln!(out, "{dim}  … {more} more lines{dim:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: u64, role: Role, parts: Vec<Piece>) -> ShownMessage {
        ShownMessage { role, subagent: None, uuid: None, line: Some(line), at: None, parts }
    }

    fn text(text: &str) -> Piece {
        Piece::Text { text: text.to_owned() }
    }

    fn tool(name: &str, input: &str) -> Piece {
        Piece::ToolUse { name: name.to_owned(), input: input.to_owned() }
    }

    fn printed(cited: Option<u64>, messages: &[ShownMessage]) -> String {
        let (mut look, mut out) = (Terminal::new(TimeZone::UTC, 24, cited), Vec::new());
        for message in messages {
            look.message(&mut out, message).unwrap();
        }
        look.end(&mut out, 0).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn a_run_of_tool_calls_is_one_line() {
        let messages = [
            shown(1, Role::User, vec![text("Why is lint failing?")]),
            shown(2, Role::Assistant, vec![text("Let me look."), tool("Grep", "")]),
            shown(4, Role::Assistant, vec![tool("Read", ""), tool("Grep", "")]),
            shown(6, Role::Assistant, vec![text("An unused import breaks the build.")]),
            shown(7, Role::Assistant, vec![tool("Edit", "")]),
        ];
        assert_eq!(
            printed(None, &messages),
            "\nUser\nWhy is lint failing?\n\nAssistant\nLet me look.\n  … 3 tool calls: Grep ×2, Read\nAn unused import breaks\nthe build.\n  … Edit\n"
        );
    }

    #[test]
    fn the_cited_line_is_marked_once() {
        let said = |line| shown(line, Role::User, vec![text("x")]);
        assert_eq!(printed(Some(5), &[said(3), said(6), said(7)]), "\nUser\nx\n▶ line 5\nx\nx\n");
    }

    #[test]
    fn long_output_is_folded() {
        let lines = |count: usize| vec!["out"; count].join("\n");
        let result = |count| {
            let result = Piece::ToolResult { text: lines(count), is_error: false };
            printed(None, &[shown(1, Role::Assistant, vec![tool("Bash", "make"), result])])
        };
        assert!(result(13).ends_with("  out\n  out\n"));
        assert!(result(40).ends_with("  out\n  … 28 more lines\n"));
    }

    #[test]
    fn an_edit_is_a_diff() {
        let edit = tool("Edit", "a.rs\n-old\n+new");
        assert_eq!(
            printed(None, &[shown(1, Role::Assistant, vec![edit])]),
            "\nAssistant\n» Edit a.rs\n  -old\n  +new\n"
        );
    }
}
