//! One line of an OpenClaw transcript (version 3), as far as it says or does something.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its id in the tree; absent in transcripts of version 1.
    pub id: Option<String>,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// What was said and done, in order.
    pub said: Vec<Said>,
}

/// Something an entry says or does.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// By the person.
    Person(String),
    /// By the model.
    Model(String),
    /// What the model thought.
    Thought(String),
    /// A tool was called.
    Tool {
        /// Which.
        name: String,
        /// With what.
        arguments: Value,
    },
    /// A command the person ran.
    Command(String),
    /// A tool failed, and how.
    Failure(String),
    /// What a part of the conversation came to.
    Summary(String),
    /// What the conversation is called.
    Title(String),
}

/// A line of a transcript that is no JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

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

impl Entry {
    /// Reads a line.
    pub fn parse(line: &[u8]) -> Result<Self, Unreadable> {
        let text = String::from_utf8_lossy(line);
        let fields: Line<'_> = serde_json::from_str(&text).map_err(|_| Unreadable)?;
        let one = |text: Option<Value>, said: fn(String) -> Said| text.and_then(string).map(said);
        let said = match fields.kind.as_deref() {
            Some("message") => fields.message.and_then(message).unwrap_or_default(),
            Some("compaction" | "branch_summary") => one(fields.summary, Said::Summary).into_iter().collect(),
            Some("session_info") => one(fields.name, Said::Title).into_iter().collect(),
            _ => Vec::new(),
        };
        let at = fields.timestamp.and_then(string).and_then(|text| text.parse().ok());
        Ok(Self { id: fields.id.and_then(string), at, said })
    }
}

fn string(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

fn message(raw: &RawValue) -> Option<Vec<Said>> {
    let message: Message<'_> = serde_json::from_str(raw.get()).ok()?;
    let content = || message.content.map(|raw| blocks(raw.get())).unwrap_or_default();
    Some(match message.role.as_deref()? {
        "user" => content().into_iter().filter_map(Block::text).map(Said::Person).collect(),
        "assistant" => content().into_iter().filter_map(Block::said).collect(),
        "toolResult" if message.is_error == Some(Value::Bool(true)) => {
            content().into_iter().filter_map(Block::text).map(Said::Failure).collect()
        }
        "bashExecution" => message.command.and_then(string).map(Said::Command).into_iter().collect(),
        "branchSummary" | "compactionSummary" => {
            content().into_iter().filter_map(Block::text).map(Said::Summary).collect()
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

    fn said(mut self) -> Option<Said> {
        match self.0["type"].as_str()? {
            "text" => self.text().map(Said::Model),
            "thinking" => string(self.0["thinking"].take()).map(Said::Thought),
            "toolCall" => {
                let name = string(self.0["name"].take())?;
                Some(Said::Tool { name, arguments: self.0["arguments"].take() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &Result<Vec<Said>, Unreadable>) {
        assert_eq!(&Entry::parse(line.as_bytes()).map(|entry| entry.said), expected, "{line}");
    }

    #[test]
    fn what_is_said_and_done() {
        let text = |text: &str| text.to_owned();
        check(r#"{"type":"session","version":3,"id":"s","cwd":"/p"}"#, &Ok(vec![]));
        check(
            r#"{"type":"message","id":"a","message":{"role":"user","content":"Hello"}}"#,
            &Ok(vec![Said::Person(text("Hello"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","data":"x"}]}}"#,
            &Ok(vec![Said::Person(text("Hi"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"toolCall","id":"c","name":"exec","arguments":{"command":"ls"}}]}}"#,
            &Ok(vec![
                Said::Thought(text("hm")),
                Said::Model(text("ok")),
                Said::Tool { name: text("exec"), arguments: serde_json::json!({"command": "ls"}) },
            ]),
        );
        check(
            r#"{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"out"}],"isError":false}}"#,
            &Ok(vec![]),
        );
        check(
            r#"{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"no"}],"isError":true}}"#,
            &Ok(vec![Said::Failure(text("no"))]),
        );
        check(
            r#"{"type":"message","message":{"role":"bashExecution","command":"ls"}}"#,
            &Ok(vec![Said::Command(text("ls"))]),
        );
        check(r#"{"type":"compaction","summary":"all"}"#, &Ok(vec![Said::Summary(text("all"))]));
        check(r#"{"type":"session_info","name":"Tour"}"#, &Ok(vec![Said::Title(text("Tour"))]));
    }

    #[test]
    fn odd_lines_say_nothing_and_what_is_no_object_is_unreadable() {
        for odd in [
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","message":7}"#,
            r#"{"type":"message","id":7,"timestamp":{},"message":{"role":"user","content":7}}"#,
            r#"{"type":"message","message":{"role":"assistant","content":[7,{"type":"text"},{"type":"toolCall"}]}}"#,
        ] {
            let found = Entry::parse(odd.as_bytes());
            assert!(
                found.as_ref().is_ok_and(|entry| entry.said.is_empty()) || odd.contains("type\":7"),
                "{odd}: {found:?}"
            );
        }
        for bad in ["", "7", "{", "\0", "[]x"] {
            check(bad, &Err(Unreadable));
        }
        let entry =
            Entry::parse(b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\xff\"}}")
                .unwrap();
        assert_eq!(entry.said, [Said::Person("a\u{fffd}".into())]);
    }
}
