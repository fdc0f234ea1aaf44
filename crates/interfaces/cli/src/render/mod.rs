//! The ways a conversation can look. Each writes message by message, so that any length takes no memory.

mod html;
mod json;
mod markdown;
mod terminal;

use std::io::{self, Write};

use app::sessions::show::Shown;
use model::Session;

pub(crate) use html::Html;
pub(crate) use json::Json;
pub(crate) use markdown::Markdown;
pub(crate) use terminal::Terminal;

/// A look: what is written before, for each message, and after.
pub(crate) trait Look {
    /// Before the first message.
    fn begin(&mut self, out: &mut dyn Write, session: &Session) -> io::Result<()>;
    /// A message.
    fn message(&mut self, out: &mut dyn Write, message: &Shown) -> io::Result<()>;
    /// After the last message; so many of other branches were left out.
    fn end(&mut self, out: &mut dyn Write, left_out: u64) -> io::Result<()>;
}

/// Who can speak, for people.
const SPEAKERS: [&str; 4] = [USER, ASSISTANT, TOOL, NOTE];
const USER: &str = "User";
const ASSISTANT: &str = "Assistant";
const TOOL: &str = "Tool";
const NOTE: &str = "Note";

/// Who speaks, for people.
fn speaker(message: &Shown) -> String {
    let role = match message.role {
        "user" => USER,
        "assistant" => ASSISTANT,
        "tool" => TOOL,
        _ => NOTE,
    };
    match &message.subagent {
        Some(agent) => format!("{role} ({agent})"),
        None => role.to_owned(),
    }
}

/// Remembers who spoke last: several records are one answer, and one heading is enough.
#[derive(Debug, Default)]
struct LastSpeaker(Option<String>);

impl LastSpeaker {
    /// The heading of a message, when somebody else spoke before.
    fn changes(&mut self, message: &Shown) -> Option<String> {
        let now = speaker(message);
        // What a tool answers belongs to the answer that asked it.
        let continues = message.role == "tool" && self.0.is_some();
        if continues || self.0.as_ref() == Some(&now) {
            return None;
        }
        self.0 = Some(now.clone());
        Some(now)
    }
}
