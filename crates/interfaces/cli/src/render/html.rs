//! A conversation as one HTML page: no script, nothing loaded from elsewhere, every text escaped.

use std::io::{self, Write};

use app::sessions::show::{OmittedParts, Piece, ShownMessage};
use model::Session;

use super::{LastSpeaker, Renderer};
use crate::text::safe_lines;

const STYLE: &str = include_str!("page.css");

/// Renders a conversation for a browser.
#[derive(Debug, Default)]
pub(crate) struct Html {
    last: LastSpeaker,
}

impl Renderer for Html {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        let title = escaped(session.title.as_deref().unwrap_or("(no title)"));
        let place = session.cwd.as_deref().map(|cwd| escaped(&cwd.display().to_string())).unwrap_or_default();
        let date = session.created.map(|date| date.to_string()).unwrap_or_default();
        write!(
            out,
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             <p>{} · {place} · {date}</p>\n",
            session.id
        )
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        if let Some(speaker) = self.last.changes(message) {
            writeln!(out, "<h2 class=\"{}\">{}</h2>", message.role.as_str(), escaped(&speaker))?;
        }
        message.parts.iter().try_for_each(|piece| self::piece(out, piece))
    }

    fn end(&mut self, out: &mut dyn Write, _: OmittedParts) -> io::Result<()> {
        writeln!(out, "</body>\n</html>")
    }
}

fn piece(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    match piece {
        Piece::Text { text } => writeln!(out, "<div>{}</div>", escaped(text.trim())),
        Piece::Thinking { text } => writeln!(out, "<blockquote>{}</blockquote>", escaped(text.trim())),
        Piece::ToolUse { name, input, .. } => {
            writeln!(out, "<pre><b>{}</b> {}</pre>", escaped(name), escaped(input.trim()))
        }
        Piece::ToolResult { text, is_error, .. } => {
            let class = if *is_error { " class=\"error\"" } else { "" };
            writeln!(out, "<pre{class}>{}</pre>", escaped(text.trim_end()))
        }
        Piece::Image => writeln!(out, "<p>(image)</p>"),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in safe_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            escaped("<a href='x' b=\"y\">&\u{1b}"),
            "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp; "
        );
    }
}
