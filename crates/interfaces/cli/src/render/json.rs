//! A conversation as one JSON object: `{"session": …, "messages": […], "omitted_messages": …}`.

use std::io::{self, Write};

use app::sessions::show::Shown;
use model::Session;

use super::Renderer;
use crate::text::json;

/// Renders a conversation for programs.
#[derive(Debug, Default)]
pub(crate) struct Json {
    written: bool,
}

impl Renderer for Json {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        write!(out, "{{\"session\": {},\n\"messages\": [", json(session)?)
    }

    fn message(&mut self, out: &mut dyn Write, message: &Shown) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
        write!(out, "{comma}\n{}", json(message)?)
    }

    fn end(&mut self, out: &mut dyn Write, omitted_messages: u64) -> io::Result<()> {
        writeln!(out, "\n],\n\"omitted_messages\": {omitted_messages}}}")
    }
}
