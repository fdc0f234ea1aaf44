//! One message of a conversation as it is shown: only the parts that were asked for, without secrets.

use std::borrow::Cow;

use jiff::Timestamp;
use model::Subagent;
use schemars::JsonSchema;
use serde::Serialize;
use transcript::record::result_text;
use transcript::{Message, Part, Raw, Role};

use crate::Secrets;

/// The longest piece of a tool's work that is shown, in characters.
const TOOL_LENGTH: usize = 4000;

/// One message as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct ShownMessage {
    /// The message's author.
    pub role: Role,
    /// The sub-agent that speaks, if it is one.
    pub subagent: Option<String>,
    /// The id of the record.
    pub uuid: Option<String>,
    /// The number of its line in the transcript, from 1; absent where it was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// What is said and done.
    pub parts: Vec<Piece>,
}

impl ShownMessage {
    /// Whether it has more than the names of tools.
    pub(crate) fn says_something(&self) -> bool {
        !self.parts.iter().all(|piece| matches!(piece, Piece::ToolUse { input, .. } if input.is_empty()))
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "MessagePart")]
pub enum Piece {
    /// Text of the conversation.
    Text {
        /// The words; Markdown, mostly.
        text: String,
    },
    /// The model's reasoning.
    Thinking {
        /// The reasoning's text.
        text: String,
    },
    /// A tool is called.
    ToolUse {
        /// The tool's name.
        name: String,
        /// The command, path or question it is called with, else its whole input.
        input: String,
        /// The call's id; empty where there is none.
        #[serde(skip)]
        id: String,
    },
    /// A tool has answered.
    ToolResult {
        /// The beginning of its answer.
        text: String,
        /// Whether the tool failed.
        is_error: bool,
        /// The id of the call; empty where there is none.
        #[serde(skip)]
        call: String,
    },
    /// An image, which is not included.
    Image,
}

/// Which parts of messages are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartFilter {
    /// How much of what tools did is shown.
    pub(crate) tools: ToolDetail,
    /// Whether the model's reasoning is shown.
    pub(crate) thinking: bool,
    /// Whether secrets are shown.
    pub(crate) secrets: Secrets,
}

/// How much is shown of what tools did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolDetail {
    /// Nothing.
    None,
    /// The name of each tool that was called.
    Names,
    /// Calls with their input, and results.
    Full,
    /// The same, however long they are.
    Whole,
}

impl PartFilter {
    /// The redacted piece; `None` if it was not asked for.
    pub(crate) fn filtered(self, piece: Piece) -> Option<Piece> {
        let redacted = |text: String| self.secrets.redacted(Cow::Owned(text));
        match piece {
            Piece::Text { text } => Some(Piece::Text { text: redacted(text) }),
            Piece::Thinking { text } if self.thinking => Some(Piece::Thinking { text: redacted(text) }),
            Piece::ToolUse { name, input, id } => match self.tools {
                ToolDetail::None => None,
                ToolDetail::Names => Some(Piece::ToolUse { name, input: String::new(), id }),
                ToolDetail::Full | ToolDetail::Whole => {
                    Some(Piece::ToolUse { name, input: self.tools.cut(&redacted(input)), id })
                }
            },
            Piece::ToolResult { text, is_error, call } if self.tools.has_results() => {
                Some(Piece::ToolResult { text: self.tools.cut(&redacted(text)), is_error, call })
            }
            Piece::Thinking { .. } | Piece::ToolResult { .. } | Piece::Image => None,
        }
    }

    /// The message without what was not asked for; `None` when nothing is left.
    pub(crate) fn shown(self, message: &Message<'_>, agent: Option<&Subagent>) -> Option<ShownMessage> {
        Self::message(message, agent, message.parts.iter().filter_map(|part| self.piece(part)).collect())
    }

    /// A message with these pieces; `None` without any.
    pub(crate) fn message(
        message: &Message<'_>,
        agent: Option<&Subagent>,
        parts: Vec<Piece>,
    ) -> Option<ShownMessage> {
        let subagent = agent.map(|agent| agent.agent_type.as_ref().unwrap_or(&agent.id).clone());
        (!parts.is_empty()).then(|| ShownMessage {
            role: message.role,
            subagent: subagent.or_else(|| message.sidechain.then(|| "sub-agent".to_owned())),
            uuid: message.uuid.map(ToOwned::to_owned),
            line: None,
            at: message.at,
            parts,
        })
    }

    /// The redacted part; `None` if it was not asked for.
    pub(crate) fn piece(self, part: &Part<'_>) -> Option<Piece> {
        let redacted = |text: Cow<'_, str>| self.secrets.redacted(text);
        match part {
            Part::Text(text) => Some(Piece::Text { text: redacted(text.clone()) }),
            Part::Image => Some(Piece::Image),
            Part::Thinking(text) if self.thinking => Some(Piece::Thinking { text: redacted(text.clone()) }),
            Part::ToolUse { id, name, input } => {
                let input = match self.tools {
                    ToolDetail::None => return None,
                    ToolDetail::Names => String::new(),
                    ToolDetail::Full | ToolDetail::Whole => self.tools.cut(&redacted(call(*input))),
                };
                Some(Piece::ToolUse { name: (*name).to_owned(), input, id: (*id).to_owned() })
            }
            Part::ToolResult { id, content, is_error, .. } if self.tools.has_results() => {
                let text = self.tools.cut(&redacted(result_text(*content)));
                Some(Piece::ToolResult { text, is_error: *is_error, call: (*id).to_owned() })
            }
            Part::Thinking(_) | Part::ToolResult { .. } => None,
        }
    }
}

/// What a tool is called with: an edit as the file and its changed lines, else the field that says most.
fn call(input: Raw<'_>) -> Cow<'_, str> {
    const FIELDS: [&str; 8] =
        ["command", "file_path", "notebook_path", "pattern", "query", "url", "description", "prompt"];
    if let Some(edit) = edit(input) {
        return Cow::Owned(edit);
    }
    let telling = FIELDS.iter().find_map(|field| input.get(field).text());
    telling.unwrap_or(Cow::Borrowed(input.json()))
}

/// An edit's file and the lines it takes away (`-`) and adds (`+`); `None` for any other call.
pub(crate) fn edit(input: Raw<'_>) -> Option<String> {
    let path = input.get("file_path").text().or_else(|| input.get("notebook_path").text())?;
    let mut out = path.into_owned();
    let edits: Vec<Raw<'_>> = input.get("edits").elements().collect();
    let all = if edits.is_empty() { vec![input] } else { edits };
    let before = out.len();
    for edit in all {
        let lines = |field: &str, mark: char, out: &mut String| {
            let text = edit.get(field).text().unwrap_or_default();
            text.lines().for_each(|line| {
                out.push('\n');
                out.push(mark);
                out.push_str(line);
            });
        };
        lines("old_string", '-', &mut out);
        lines("new_string", '+', &mut out);
        lines("content", '+', &mut out);
        lines("new_source", '+', &mut out);
    }
    (out.len() > before).then_some(out)
}

impl ToolDetail {
    fn has_results(self) -> bool {
        matches!(self, Self::Full | Self::Whole)
    }

    /// A piece of a tool's work as long as it is shown.
    fn cut(self, text: &str) -> String {
        match text.char_indices().nth(TOOL_LENGTH) {
            Some((end, _)) if self != Self::Whole => format!("{}…", &text[..end]),
            _ => text.to_owned(),
        }
    }
}
