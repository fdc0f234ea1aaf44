//! The lines that are appended to a transcript of OpenClaw's, in the JSON that OpenClaw writes.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use model::SessionId;
use serde::Serialize;
use serde_json::{Value, json};

use super::log_line::VERSION;

/// A line to append to a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum NewLine {
    /// A message of the person.
    User {
        /// The text.
        text: String,
    },
    /// A message of the model, with all that OpenClaw keeps of it.
    Assistant {
        /// Its blocks.
        content: Value,
        /// The API, the provider and the model.
        model: [String; 3],
        /// Tokens and cost; zeros where it is null.
        usage: Value,
    },
    /// What was sent to a chat by other means than an answer, as OpenClaw mirrors it.
    Mirror {
        /// The text.
        text: String,
    },
    /// The result of a tool.
    ToolResult {
        /// The id of the call.
        call: String,
        /// The name of the tool.
        tool: String,
        /// The text.
        text: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// A compaction.
    Compaction {
        /// The summary of what it put away.
        summary: String,
        /// The first line that is kept.
        first_kept: String,
        /// The tokens before.
        tokens_before: u64,
    },
    /// The summary of a branch that was left.
    BranchSummary {
        /// The line it was left at.
        from: String,
        /// The summary.
        summary: String,
    },
    /// A line of an extension.
    Custom {
        /// What the extension calls it.
        kind: String,
        /// Its data.
        data: Value,
    },
}

/// A line as JSON, with the fields in OpenClaw's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonLine<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[expect(
        clippy::option_option,
        reason = "a parent that is `null` is written, one that is absent is not"
    )]
    parent_id: Option<Option<&'a str>>,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<JsonMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_kept_entry_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonMessage<'a> {
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    content: Blocks<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<JsonUsage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    timestamp: i64,
}

#[derive(Default, Serialize)]
#[serde(untagged)]
enum Blocks<'a> {
    #[default]
    None,
    Text([TextBlock<'a>; 1]),
    Given(&'a Value),
}

#[derive(Serialize)]
struct TextBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonUsage {
    input: Value,
    output: Value,
    cache_read: Value,
    cache_write: Value,
    total_tokens: Value,
    cost: JsonCost,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonCost {
    input: Value,
    output: Value,
    cache_read: Value,
    cache_write: Value,
    total: Value,
}

impl JsonUsage {
    fn new(usage: &Value) -> Self {
        let number = |value: &Value| if value.is_number() { value.clone() } else { json!(0) };
        let cost = &usage["cost"];
        Self {
            input: number(&usage["input"]),
            output: number(&usage["output"]),
            cache_read: number(&usage["cacheRead"]),
            cache_write: number(&usage["cacheWrite"]),
            total_tokens: number(&usage["totalTokens"]),
            cost: JsonCost {
                input: number(&cost["input"]),
                output: number(&cost["output"]),
                cache_read: number(&cost["cacheRead"]),
                cache_write: number(&cost["cacheWrite"]),
                total: number(&cost["total"]),
            },
        }
    }
}

impl<'a> JsonLine<'a> {
    /// The first line of a transcript.
    pub(super) fn header(session: &'a SessionId, directory: &'a Path, now: Timestamp) -> Self {
        Self {
            version: Some(VERSION),
            cwd: Some(directory.to_string_lossy()),
            ..Self::new("session", session.as_str(), now)
        }
    }

    /// A line of this kind without content.
    fn new(kind: &'a str, id: &'a str, now: Timestamp) -> Self {
        Self {
            kind,
            version: None,
            custom_type: None,
            data: None,
            id,
            parent_id: None,
            timestamp: format!("{now:.3}"),
            cwd: None,
            message: None,
            from_id: None,
            summary: None,
            first_kept_entry_id: None,
            tokens_before: None,
        }
    }

    /// The text of the line with its newline.
    pub(super) fn line(&self) -> String {
        // Texts and numbers are always JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

fn text_block(text: &str) -> Blocks<'_> {
    Blocks::Text([TextBlock { kind: "text", text }])
}

impl NewLine {
    /// The text of the line with its newline.
    pub(super) fn to_json_line(&self, id: &str, parent: Option<&str>, now: Timestamp) -> String {
        let at = now.as_millisecond();
        let mut line = JsonLine { parent_id: Some(parent), ..JsonLine::new("message", id, now) };
        match self {
            Self::User { text } => {
                let message = JsonMessage {
                    role: "user",
                    content: text_block(text),
                    timestamp: at,
                    ..Default::default()
                };
                line.message = Some(message);
            }
            Self::Assistant { content, model: [api, provider, model], usage } => {
                line.message = Some(JsonMessage {
                    role: "assistant",
                    content: Blocks::Given(content),
                    api: Some(api),
                    provider: Some(provider),
                    model: Some(model),
                    usage: Some(JsonUsage::new(usage)),
                    stop_reason: Some("stop"),
                    timestamp: at,
                    ..Default::default()
                });
            }
            Self::Mirror { text } => {
                line.message = Some(JsonMessage {
                    role: "assistant",
                    content: text_block(text),
                    api: Some("openai-responses"),
                    provider: Some("openclaw"),
                    model: Some("delivery-mirror"),
                    usage: Some(JsonUsage::new(&Value::Null)),
                    stop_reason: Some("stop"),
                    timestamp: at,
                    ..Default::default()
                });
            }
            Self::ToolResult { call, tool, text, is_error } => {
                line.message = Some(JsonMessage {
                    role: "toolResult",
                    tool_call_id: Some(call),
                    tool_name: Some(tool),
                    content: text_block(text),
                    is_error: Some(*is_error),
                    timestamp: at,
                    ..Default::default()
                });
            }
            Self::Compaction { summary, first_kept, tokens_before } => {
                line.kind = "compaction";
                line.summary = Some(summary);
                line.first_kept_entry_id = Some(first_kept);
                line.tokens_before = Some(*tokens_before);
            }
            Self::BranchSummary { from, summary } => {
                line.kind = "branch_summary";
                line.from_id = Some(from);
                line.summary = Some(summary);
            }
            Self::Custom { kind, data } => {
                line.kind = "custom";
                line.custom_type = Some(kind);
                line.data = Some(data);
            }
        }
        line.line()
    }
}
