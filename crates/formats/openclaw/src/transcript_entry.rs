//! One line of an OpenClaw transcript (version 3): its texts and tool calls.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEntry {
    /// Its id in the tree; absent in transcripts of version 1.
    pub id: Option<String>,
    /// When the entry was made.
    pub at: Option<Timestamp>,
    /// The parts of the entry, in order.
    pub said: Vec<EntryPart>,
}

/// A text or tool call in an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryPart {
    /// A message of the person.
    Person(String),
    /// A message of the model.
    Model(String),
    /// The model's reasoning.
    Thought(String),
    /// A tool was called.
    Tool {
        /// The tool's name.
        name: String,
        /// The arguments of the call.
        arguments: Value,
    },
    /// A command the person ran.
    Command(String),
    /// A tool failed, and how.
    Failure(String),
    /// The summary of a part of the conversation.
    Summary(String),
    /// The conversation's title.
    Title(String),
}

/// A line of a transcript that is no JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableEntry;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    timestamp: Option<Value>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    summary: Option<Value>,
    #[serde(default)]
    name: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    command: Option<Value>,
    #[serde(rename = "isError", default)]
    is_error: Option<Value>,
}

impl TranscriptEntry {
    /// Parses a line; fails where it is not a JSON object.
    pub fn parse(line: &[u8]) -> Result<Self, UnreadableEntry> {
        let text = String::from_utf8_lossy(line);
        let fields: Line<'_> = serde_json::from_str(&text).map_err(|_| UnreadableEntry)?;
        let one = |text: Option<Value>, said: fn(String) -> EntryPart| text.and_then(string).map(said);
        let said = match fields.kind.as_deref() {
            Some("message") => fields.message.and_then(message).unwrap_or_default(),
            Some("compaction" | "branch_summary") => {
                one(fields.summary, EntryPart::Summary).into_iter().collect()
            }
            Some("session_info") => one(fields.name, EntryPart::Title).into_iter().collect(),
            _ => Vec::new(),
        };
        let at = fields.timestamp.and_then(string).and_then(|text| text.parse().ok());
        Ok(Self { id: fields.id.and_then(string), at, said })
    }
}

fn string(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

fn message(raw: &RawValue) -> Option<Vec<EntryPart>> {
    let message: Message<'_> = serde_json::from_str(raw.get()).ok()?;
    let content = || message.content.map(|raw| blocks(raw.get())).unwrap_or_default();
    Some(match message.role.as_deref()? {
        "user" => content().into_iter().filter_map(Block::text).map(EntryPart::Person).collect(),
        "assistant" => content().into_iter().filter_map(Block::into_part).collect(),
        "toolResult" if message.is_error == Some(Value::Bool(true)) => {
            content().into_iter().filter_map(Block::text).map(EntryPart::Failure).collect()
        }
        "bashExecution" => message.command.and_then(string).map(EntryPart::Command).into_iter().collect(),
        "branchSummary" | "compactionSummary" => {
            content().into_iter().filter_map(Block::text).map(EntryPart::Summary).collect()
        }
        _ => Vec::new(),
    })
}

/// A piece of a message's content; a content that is a text is one block of it.
struct Block(Value);

fn blocks(content: &str) -> Vec<Block> {
    match serde_json::from_str(content) {
        Ok(Value::Array(blocks)) => blocks.into_iter().map(Block).collect(),
        Ok(text @ Value::String(_)) => vec![Block(serde_json::json!({ "type": "text", "text": text }))],
        _ => Vec::new(),
    }
}

impl Block {
    fn text(mut self) -> Option<String> {
        (self.0["type"] == "text").then(|| string(self.0["text"].take())).flatten()
    }

    fn into_part(mut self) -> Option<EntryPart> {
        match self.0["type"].as_str()? {
            "text" => self.text().map(EntryPart::Model),
            "thinking" => string(self.0["thinking"].take()).map(EntryPart::Thought),
            "toolCall" => {
                let name = string(self.0["name"].take())?;
                Some(EntryPart::Tool { name, arguments: self.0["arguments"].take() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &Result<Vec<EntryPart>, UnreadableEntry>) {
        assert_eq!(&TranscriptEntry::parse(line.as_bytes()).map(|entry| entry.said), expected, "{line}");
    }

    #[test]
    fn messages_and_tool_calls_are_read() {
        let text = |text: &str| text.to_owned();
        check(r#"{"type":"session","version":3,"id":"s","cwd":"/p"}"#, &Ok(vec![]));
        check(
            r#"{"type":"message","id":"a","message":{"role":"user","content":"Hello"}}"#,
            &Ok(vec![EntryPart::Person(text("Hello"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","data":"x"}]}}"#,
            &Ok(vec![EntryPart::Person(text("Hi"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"toolCall","id":"c","name":"exec","arguments":{"command":"ls"}}]}}"#,
            &Ok(vec![
                EntryPart::Thought(text("hm")),
                EntryPart::Model(text("ok")),
                EntryPart::Tool { name: text("exec"), arguments: serde_json::json!({"command": "ls"}) },
            ]),
        );
        check(
            r#"{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"out"}],"isError":false}}"#,
            &Ok(vec![]),
        );
        check(
            r#"{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"no"}],"isError":true}}"#,
            &Ok(vec![EntryPart::Failure(text("no"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"bashExecution","command":"ls"}}"#,
            &Ok(vec![EntryPart::Command(text("ls"))]),
        );
        check(r#"{"type":"compaction","summary":"all"}"#, &Ok(vec![EntryPart::Summary(text("all"))]));
        check(r#"{"type":"session_info","name":"Tour"}"#, &Ok(vec![EntryPart::Title(text("Tour"))]));
    }

    #[test]
    fn unknown_lines_are_empty_and_non_objects_unreadable() {
        for odd in [
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","message":7}"#,
            r#"{"type":"message","id":7,"timestamp":{},"message":{"role":"user","content":7}}"#,
            r#"{"type":"message","message":{"role":"assistant","content":[7,{"type":"text"},{"type":"toolCall"}]}}"#,
        ] {
            let found = TranscriptEntry::parse(odd.as_bytes());
            assert!(
                found.as_ref().is_ok_and(|entry| entry.said.is_empty()) || odd.contains("type\":7"),
                "{odd}: {found:?}"
            );
        }
        for bad in ["", "7", "{", "\0", "[]x"] {
            check(bad, &Err(UnreadableEntry));
        }
        let entry = TranscriptEntry::parse(
            b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\xff\"}}",
        )
        .unwrap();
        assert_eq!(entry.said, [EntryPart::Person("a\u{fffd}".into())]);
    }
}
