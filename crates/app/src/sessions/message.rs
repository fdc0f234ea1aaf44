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
    /// What else there is to know of how it was said, in a few words: `not sent`, `ana over telegram`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
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
                    let input = self.tools.cut(&self.secrets.redacted_json(&input));
                    Some(Piece::ToolUse { name, input, id })
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
            how: message.how.as_deref().map(ToOwned::to_owned),
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
                    ToolDetail::Full | ToolDetail::Whole => self.tools.cut(&call(*input, self.secrets)),
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

/// What a tool is called with: an edit as the file and its changed lines, else the field that says most, else all as
/// JSON. Redacted, before marks are put in front of lines.
fn call(input: Raw<'_>, secrets: Secrets) -> String {
    const FIELDS: [&str; 8] =
        ["command", "file_path", "notebook_path", "pattern", "query", "url", "description", "prompt"];
    if let Some(edit) = edit(input, secrets) {
        return secrets.redacted(edit.into());
    }
    match FIELDS.iter().find_map(|field| input.get(field).text()) {
        Some(telling) => secrets.redacted(telling),
        None => secrets.redacted_json(input.json()),
    }
}

/// An edit's file and the lines it takes away (`-`) and adds (`+`), whose secrets are redacted; `None` for any other call.
pub(crate) fn edit(input: Raw<'_>, secrets: Secrets) -> Option<String> {
    const TEXTS: [(&str, char); 4] =
        [("old_string", '-'), ("new_string", '+'), ("content", '+'), ("new_source", '+')];
    let path = input.get("file_path").text().or_else(|| input.get("notebook_path").text())?;
    let mut out = path.into_owned();
    let edits: Vec<Raw<'_>> = input.get("edits").elements().collect();
    let all = if edits.is_empty() { vec![input] } else { edits };
    let before = out.len();
    for edit in all {
        for (field, mark) in TEXTS {
            let text = secrets.redacted(edit.get(field).text().unwrap_or_default());
            for line in text.lines() {
                out.push('\n');
                out.push(mark);
                out.push_str(line);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &serde_json::Value, expected: &str) {
        assert_eq!(call(Raw::new(&input.to_string()), Secrets::Redacted), expected);
    }

    /// The lines of a key that is made up.
    fn key(indent: &str) -> String {
        let lines = [
            "-----BEGIN RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA0mVkQ8s1q7Wc9Zt2LxYp4RbN6vKj3HdG",
            "Zk1Tf5Uo8Ei=",
            "-----END RSA PRIVATE KEY-----",
        ];
        lines.map(|line| format!("{indent}{line}")).join("\n")
    }

    #[test]
    fn an_edit_is_redacted_before_its_lines_are_marked() {
        for indent in ["", "  ", "      ", "\t", "# ", "> ", "     3\t", "    # ", "k.pem-3-"] {
            let old = format!("key: |\n{}\nlast: 1", key(indent));
            let input = serde_json::json!({"file_path": "a.yml", "old_string": old, "new_string": "last: 2"});
            check(&input, &format!("a.yml\n-key: |\n-{indent}[redacted:private-key]\n-last: 1\n+last: 2"));
        }
        let input = serde_json::json!({"file_path": "a.py", "edits": [{"old_string": "key-0f1e2d3c4b5a69788796a5b4c3d2e1f0", "new_string": ""}]});
        check(&input, "a.py\n-[redacted:mailgun-key]");
    }

    #[test]
    fn strings_of_other_inputs_are_decoded_first() {
        let note = |text: &str| serde_json::json!({"note": text});
        check(&note("first\nパスワードは neko1234"), r#"{"note":"first\nパスワードは [redacted:password]"}"#);
        let escaped = r#"{"note":"\u30d1\u30b9\u30ef\u30fc\u30c9\u306f neko1234"}"#;
        assert_eq!(
            call(Raw::new(escaped), Secrets::Redacted),
            r#"{"note":"パスワードは [redacted:password]"}"#
        );
        assert_eq!(call(Raw::new(escaped), Secrets::Shown), escaped);
        check(
            &note("set -e\necho 'root:Stone1234' | chpasswd\necho \"done\""),
            r#"{"note":"set -e\necho 'root:[redacted:command-password]' | chpasswd\necho \"done\""}"#,
        );
        check(&serde_json::json!({"password": "hunter22"}), r#"{"password":"[redacted:password]"}"#);
    }
}
