//! A conversation for reading on a terminal: the Markdown of answers rendered, what people wrote as they wrote it, a run of
//! tool calls in one line, edits as diffs.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::WorkDone;
use app::sessions::show::{OmittedParts, Piece, Role, ShownMessage};
use jiff::tz::TimeZone;
use model::Session;

use super::{LastSpeaker, Renderer, header};
use crate::prose::{self, Marks, StyledLine};
use crate::text::{counted, safe, safe_lines};
use crate::wrap::Wrap;

/// The most lines of a tool's work that are shown.
const TOOL_LINES: usize = 12;

/// The most lines of a tool's work that are shown where its line is cited.
const CITED_LINES: usize = 60;

/// How many of them come before the first with a marked word.
const BEFORE: usize = 10;

/// How a conversation is shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    /// The cells of a line.
    pub(crate) width: usize,
    /// Whether Markdown is rendered; without colours it is easier to read as it was written.
    pub(crate) is_rendered: bool,
    /// The line of the transcript that is marked.
    pub(crate) cited: Option<u64>,
    /// The words that are marked.
    pub(crate) marks: Marks,
    /// Whether each message has its place beside it.
    pub(crate) has_places: bool,
    /// Whether edits are shown whole.
    pub(crate) has_whole_edits: bool,
}

/// Renders a conversation for a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    last: LastSpeaker,
    zone: TimeZone,
    look: Look,
    work: WorkDone,
    session: String,
    /// The line of the transcript that is marked, until it was.
    cited: Option<u64>,
    /// Whether the message that is written is the marked one.
    is_cited: bool,
    calls: Calls,
}

/// The tools called since the last text, in the order of their first call.
#[derive(Debug, Default)]
struct Calls(Vec<(String, usize)>);

impl Terminal {
    /// A renderer that shows times in `zone`, and in the head what the session left behind.
    pub(crate) fn new(zone: TimeZone, look: Look, work: WorkDone) -> Self {
        let (last, calls) = Default::default();
        let (session, is_cited) = (String::new(), false);
        Self { last, zone, cited: look.cited, look, work, session, is_cited, calls }
    }

    fn mark(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let Some(line) = self.cited.filter(|cited| message.line.is_some_and(|line| line >= *cited)) else {
            self.is_cited = false;
            return Ok(());
        };
        (self.cited, self.is_cited) = (None, true);
        // What was called before is above the mark.
        self.calls.print(out)?;
        let style = AnsiColor::Yellow.on_default().bold();
        writeln!(out, "{style}▶ line {line}{style:#}")
    }

    fn piece(&mut self, out: &mut dyn Write, role: Role, piece: &Piece) -> io::Result<()> {
        let dim = Style::new().dimmed();
        match piece {
            Piece::ToolUse { name, input, .. } if input.is_empty() => {
                self.calls.add(name);
                Ok(())
            }
            Piece::Text { text } => {
                self.calls.print(out)?;
                self.text(out, role, text)
            }
            Piece::Thinking { text } => {
                self.calls.print(out)?;
                writeln!(out, "{dim}(thinking) {}{dim:#}", self.wrapped(text))
            }
            Piece::ToolUse { name, input, .. } => {
                self.calls.print(out)?;
                call(out, name, input, self.look.has_whole_edits || self.is_cited)
            }
            Piece::ToolResult { text, is_error, .. } if self.is_cited => {
                self.cited_result(out, text, *is_error)
            }
            Piece::ToolResult { text, is_error, .. } => {
                let style = if *is_error { AnsiColor::Red.on_default() } else { dim };
                folded(out, &safe_lines(text.trim()), TOOL_LINES, |_| style)
            }
            Piece::Image => writeln!(out, "{dim}(image){dim:#}"),
        }
    }

    /// Writes what was said: the model writes Markdown, a person what they mean.
    fn text(&self, out: &mut dyn Write, role: Role, text: &str) -> io::Result<()> {
        let is_markdown = matches!(role, Role::Assistant | Role::Note);
        if self.look.is_rendered && is_markdown {
            let lines = prose::lines(text, self.look.width).into_iter();
            return lines.map(|line| line.marked(&self.look.marks)).try_for_each(|line| line.write(out));
        }
        let lines = self.wrapped(text);
        let lines = lines.split('\n').map(|line| StyledLine::verbatim(line).marked(&self.look.marks));
        lines.into_iter().try_for_each(|line| line.write(out))
    }

    /// The lines of a cited output around the first one with a marked word.
    fn cited_result(&self, out: &mut dyn Write, text: &str, is_error: bool) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let style = if is_error { AnsiColor::Red.on_default() } else { Style::new() };
        let text = safe_lines(text.trim());
        let lines: Vec<&str> = text.lines().collect();
        let found = lines.iter().position(|line| self.look.marks.are_in(line)).unwrap_or(0);
        // A single line more is shown rather than counted.
        let most = if lines.len() <= CITED_LINES + 1 { lines.len() } else { CITED_LINES };
        let first = found.saturating_sub(BEFORE).min(lines.len() - most);
        if first > 0 {
            writeln!(out, "{dim}  … {} before{dim:#}", counted(first, "line"))?;
        }
        for line in &lines[first..first + most] {
            write!(out, "  ")?;
            StyledLine::of(line, style).marked(&self.look.marks).write(out)?;
        }
        match lines.len() - first - most {
            0 => Ok(()),
            more => writeln!(out, "{dim}  … {}{dim:#}", counted(more, "more line")),
        }
    }

    fn wrapped(&self, text: &str) -> String {
        Wrap::new(self.look.width).add(&safe_lines(text.trim()))
    }
}

impl Renderer for Terminal {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        session.id.short().clone_into(&mut self.session);
        header::write(out, session, &self.work, &self.zone, self.look.width)
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let speaker = self.last.changes(message);
        if let Some(speaker) = speaker.or_else(|| self.look.has_places.then(|| super::speaker(message))) {
            self.calls.print(out)?;
            let colour = if message.role == Role::User { AnsiColor::Cyan } else { AnsiColor::Green };
            let style = colour.on_default().bold();
            let at =
                message.at.map(|at| at.to_zoned(self.zone.clone()).strftime("  %Y-%m-%d %H:%M").to_string());
            let at = at.unwrap_or_default();
            let place = message.line.filter(|_| self.look.has_places);
            let place = place.map(|line| format!("  {}:{line}", self.session)).unwrap_or_default();
            let dim = Style::new().dimmed();
            writeln!(out, "\n{style}{}{style:#}{dim}{at}{place}{dim:#}", safe(&speaker))?;
        }
        self.mark(out, message)?;
        message.parts.iter().try_for_each(|piece| self.piece(out, message.role, piece))
    }

    fn end(&mut self, out: &mut dyn Write, left_out: OmittedParts) -> io::Result<()> {
        self.calls.print(out)?;
        let dim = Style::new().dimmed();
        match left_out.messages {
            0 => Ok(()),
            1 => writeln!(out, "\n{dim}1 message of another branch; --all shows it{dim:#}"),
            count => writeln!(out, "\n{dim}{count} messages of other branches; --all shows them{dim:#}"),
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

/// A tool's call; the lines of an edit are coloured as in a diff, and all shown where it `is_whole`.
fn call(out: &mut dyn Write, name: &str, input: &str, is_whole: bool) -> io::Result<()> {
    let yellow = AnsiColor::Yellow.on_default();
    let input = safe_lines(input.trim());
    let (first, rest) = input.split_once('\n').unwrap_or((&input, ""));
    writeln!(out, "{yellow}» {}{yellow:#} {first}", safe(name))?;
    let most = if is_whole { usize::MAX - 1 } else { TOOL_LINES };
    folded(out, rest, most, |line| match line.as_bytes() {
        [b'-', ..] => AnsiColor::Red.on_default(),
        [b'+', ..] => AnsiColor::Green.on_default(),
        [b'@', b'@', ..] => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    })
}

/// The first lines of a text, and how many more there are.
fn folded(out: &mut dyn Write, text: &str, most: usize, style: impl Fn(&str) -> Style) -> io::Result<()> {
    let lines = text.lines().count();
    // A single line more is shown rather than counted.
    let shown = if lines <= most + 1 { lines } else { most };
    text.lines().take(shown).try_for_each(|line| {
        let style = style(line);
        writeln!(out, "{style}  {line}{style:#}")
    })?;
    let dim = Style::new().dimmed();
    match lines - shown {
        0 => Ok(()),
        more => writeln!(out, "{dim}  … {}{dim:#}", counted(more, "more line")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: u64, role: Role, parts: Vec<Piece>) -> ShownMessage {
        ShownMessage { role, subagent: None, uuid: None, line: Some(line), at: None, how: None, parts }
    }

    fn text(text: &str) -> Piece {
        Piece::Text { text: text.to_owned() }
    }

    fn tool(name: &str, input: &str) -> Piece {
        Piece::ToolUse { name: name.to_owned(), input: input.to_owned(), id: String::new() }
    }

    fn printed(cited: Option<u64>, messages: &[ShownMessage]) -> String {
        let look = Look { width: 24, cited, ..Look::default() };
        printed_so(look, messages)
    }

    fn printed_so(look: Look, messages: &[ShownMessage]) -> String {
        let mut look = Terminal::new(TimeZone::UTC, look, WorkDone::default());
        let mut out = Vec::new();
        for message in messages {
            look.message(&mut out, message).unwrap();
        }
        look.end(&mut out, OmittedParts::default()).unwrap();
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
    fn calls_before_the_cited_line_are_above_its_mark() {
        let messages = [
            shown(1, Role::Assistant, vec![tool("Grep", ""), tool("Read", "")]),
            shown(2, Role::Assistant, vec![text("Found.")]),
        ];
        assert_eq!(
            printed(Some(2), &messages),
            "\nAssistant\n  … 2 tool calls: Grep, Read\n▶ line 2\nFound.\n"
        );
    }

    #[test]
    fn a_cited_output_is_shown_around_what_was_found() {
        let mut lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
        "fatal: bad object".clone_into(&mut lines[149]);
        let result = Piece::ToolResult { text: lines.join("\n"), is_error: false, call: String::new() };
        let marks = Marks::of_question("fatal");
        let look = Look { width: 24, cited: Some(4), marks, ..Look::default() };
        let messages =
            [shown(2, Role::Assistant, vec![tool("Bash", "")]), shown(4, Role::Tool, vec![result])];
        let found = printed_so(look, &messages);
        assert!(
            found.starts_with("\nAssistant\n  … Bash\n▶ line 4\n  … 139 lines before\n  line 140\n"),
            "{found}"
        );
        assert!(found.contains("\n  fatal: bad object\n"), "{found}");
        assert!(
            found.ends_with("  line 199\n  … 1 more line\n") || found.ends_with("  line 200\n"),
            "{found}"
        );
    }

    #[test]
    fn long_output_is_folded() {
        let lines = |count: usize| vec!["out"; count].join("\n");
        let result = |count| {
            let result = Piece::ToolResult { text: lines(count), is_error: false, call: String::new() };
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
