//! A conversation as one JSON object: `{"session": …, "messages": […], "omitted_messages": …, "too_long_lines": …}`.

use std::io::{self, Write};

use app::sessions::show::{OmittedParts, ShownMessage};
use model::Session;

use super::Renderer;
use crate::json::json;

/// Renders a conversation for programs.
#[derive(Debug, Default)]
pub(crate) struct Json {
    written: bool,
}

impl Renderer for Json {
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()> {
        write!(out, "{{\"session\": {},\n\"messages\": [", json(session)?)
    }

    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
        write!(out, "{comma}\n{}", json(message)?)
    }

    fn end(&mut self, out: &mut dyn Write, left_out: OmittedParts) -> io::Result<()> {
        let OmittedParts { messages, too_long_lines } = left_out;
        writeln!(out, "\n],\n\"omitted_messages\": {messages},\n\"too_long_lines\": {too_long_lines}}}")
    }
}

#[cfg(test)]
mod tests {
    use app::sessions::show::{Answer, Piece, Role};
    use serde_json::{Value, to_value};

    use super::*;

    #[test]
    fn what_is_streamed_is_the_answer() {
        let answer = Answer {
            session: Session::new("s1".parse().unwrap()),
            messages: ["one", "two"].map(message).into(),
            omitted_messages: 3,
            too_long_lines: 2,
        };
        let (mut look, mut out) = (Json::default(), Vec::new());
        look.begin(&mut out, &answer.session).unwrap();
        answer.messages.iter().for_each(|message| look.message(&mut out, message).unwrap());
        let left_out =
            OmittedParts { messages: answer.omitted_messages, too_long_lines: answer.too_long_lines };
        look.end(&mut out, left_out).unwrap();
        let streamed: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(streamed, to_value(&answer).unwrap());
    }

    fn message(text: &str) -> ShownMessage {
        let parts = vec![Piece::Text { text: text.to_owned() }];
        ShownMessage { role: Role::User, subagent: None, uuid: None, line: None, at: None, how: None, parts }
    }
}
