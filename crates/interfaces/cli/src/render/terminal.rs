//! A conversation for reading on a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::show::{Piece, Role, Shown};
use jiff::tz::TimeZone;
use model::Session;

use super::{LastSpeaker, Renderer};
use crate::text::{safe, safe_lines};

/// Renders a conversation for a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    last: LastSpeaker,
    zone: TimeZone,
}

impl Terminal {
    /// A renderer that shows times in `zone`.
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { last: LastSpeaker::default(), zone }
    }
}

impl Renderer for Terminal {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        let bold = Style::new().bold();
        writeln!(out, "{bold}{}{bold:#}", safe(session.title.as_deref().unwrap_or("(no title)")))?;
        let dim = Style::new().dimmed();
        let place = session.cwd.as_deref().map_or_else(String::new, |cwd| format!("  {}", cwd.display()));
        let branch = session.branch.as_deref().map_or_else(String::new, |branch| format!("  {branch}"));
        writeln!(out, "{dim}{}{}{}{dim:#}", session.id, safe(&place), safe(&branch))
    }

    fn message(&mut self, out: &mut dyn Write, message: &Shown) -> io::Result<()> {
        if let Some(speaker) = self.last.changes(message) {
            let colour = if message.role == Role::User { AnsiColor::Cyan } else { AnsiColor::Green };
            let style = colour.on_default().bold();
            let at =
                message.at.map(|at| at.to_zoned(self.zone.clone()).strftime("  %Y-%m-%d %H:%M").to_string());
            let at = at.unwrap_or_default();
            let dim = Style::new().dimmed();
            writeln!(out, "\n{style}{}{style:#}{dim}{at}{dim:#}", safe(&speaker))?;
        }
        message.parts.iter().try_for_each(|piece| self::piece(out, piece))
    }

    fn end(&mut self, out: &mut dyn Write, left_out: u64) -> io::Result<()> {
        let dim = Style::new().dimmed();
        match left_out {
            0 => Ok(()),
            1 => writeln!(out, "\n{dim}1 message of another branch; --all shows it{dim:#}"),
            _ => writeln!(out, "\n{dim}{left_out} messages of other branches; --all shows them{dim:#}"),
        }
    }
}

fn piece(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    let dim = Style::new().dimmed();
    match piece {
        Piece::Text { text } => writeln!(out, "{}", safe_lines(text.trim())),
        Piece::Thinking { text } => writeln!(out, "{dim}{}{dim:#}", safe_lines(text.trim())),
        Piece::ToolUse { name, input } => {
            let yellow = AnsiColor::Yellow.on_default();
            writeln!(out, "{yellow}» {}{yellow:#} {}", safe(name), safe_lines(input.trim()))
        }
        Piece::ToolResult { text, is_error } => {
            let style = if *is_error { AnsiColor::Red.on_default() } else { dim };
            safe_lines(text.trim()).lines().try_for_each(|line| writeln!(out, "{style}  {line}{style:#}"))
        }
        Piece::Image => writeln!(out, "{dim}(image){dim:#}"),
    }
}
