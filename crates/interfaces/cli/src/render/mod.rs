//! The renderers of conversations. Each writes message by message, so that memory does not grow with the length.

mod extract;
mod header;
mod html;
mod json;
mod markdown;
mod terminal;

use std::io::{self, Write};

use app::sessions::show::{OmittedParts, Role, ShownMessage};
use model::Session;

pub(crate) use extract::{Extract, Extracted, Only};
pub(crate) use html::Html;
pub(crate) use json::Json;
pub(crate) use markdown::Markdown;
pub(crate) use terminal::{Look, Terminal};

/// Writes a conversation in one format.
pub(crate) trait Renderer {
    /// Writes what comes before the first message.
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()>;
    /// Writes one message.
    fn message(&mut self, out: &mut dyn Write, message: &ShownMessage) -> io::Result<()>;
    /// Writes what comes after the last message.
    fn end(&mut self, out: &mut dyn Write, left_out: OmittedParts) -> io::Result<()>;
}

/// The names of the speakers.
const SPEAKERS: [&str; 4] = [USER, ASSISTANT, TOOL, NOTE];
const USER: &str = "User";
const ASSISTANT: &str = "Assistant";
const TOOL: &str = "Tool";
const NOTE: &str = "Note";

/// The name of a message's speaker.
fn speaker(message: &ShownMessage) -> String {
    let role = match message.role {
        Role::User => USER,
        Role::Assistant => ASSISTANT,
        Role::Tool => TOOL,
        Role::Note => NOTE,
    };
    match message.subagent.as_ref().or(message.how.as_ref()) {
        Some(what) => format!("{role} ({what})"),
        None => role.to_owned(),
    }
}

/// The speaker of the previous message, so that several records of one answer share a heading.
#[derive(Debug, Default)]
struct LastSpeaker(Option<String>);

impl LastSpeaker {
    /// The heading of a message, if its speaker is not the previous one.
    fn changes(&mut self, message: &ShownMessage) -> Option<String> {
        let now = speaker(message);
        // A tool's result belongs to the answer that called the tool.
        let continues = message.role == Role::Tool && self.0.is_some();
        if continues || self.0.as_ref() == Some(&now) {
            return None;
        }
        self.0 = Some(now.clone());
        Some(now)
    }
}
