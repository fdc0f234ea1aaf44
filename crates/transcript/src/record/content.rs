//! The API message inside a record, and its blocks.

use std::borrow::Cow;

use crate::json::{Raw, raw_fields};

raw_fields! {
    /// The fields of an API message that anything here reads.
    pub(super) struct MessageFields {
        id = "id",
        role = "role",
        model = "model",
        content = "content",
        usage = "usage",
        stop_reason = "stop_reason",
    }
}

raw_fields! {
    struct BlockFields {
        kind = "type",
        text = "text",
        thinking = "thinking",
        id = "id",
        name = "name",
        input = "input",
        tool_use_id = "tool_use_id",
        content = "content",
        is_error = "is_error",
    }
}

/// An API message; borrowed from its line.
#[derive(Debug, Clone, Copy)]
pub struct ApiMessage<'a>(MessageFields<'a>);

impl<'a> ApiMessage<'a> {
    pub(super) fn new(json: Raw<'a>) -> Self {
        Self(MessageFields::of(json))
    }

    /// The message's own id; the same on every line of one message.
    pub fn id(&self) -> Option<&'a str> {
        self.0.id.plain()
    }

    /// `user` or `assistant`.
    pub fn role(&self) -> Option<&'a str> {
        self.0.role.plain()
    }

    /// The model that answered.
    pub fn model(&self) -> Option<&'a str> {
        self.0.model.plain()
    }

    /// The counters, as they stand.
    pub fn usage(&self) -> Raw<'a> {
        self.0.usage
    }

    /// Why the message ended; `None` while it is being written.
    pub fn stop_reason(&self) -> Option<&'a str> {
        self.0.stop_reason.plain()
    }

    /// The blocks in order; content that is one string is one text block.
    pub fn blocks(&self) -> Vec<Block<'a>> {
        blocks(self.0.content)
    }

    /// Whether anything is said in it that a person would read.
    pub fn says_something(&self) -> bool {
        let said = |block: Raw<'_>| {
            if block.is_text() {
                return !block.is_blank();
            }
            let fields = BlockFields::of(block);
            fields.kind.is("text") && !fields.text.is_blank()
        };
        let content = self.0.content;
        if content.is_text() { said(content) } else { content.elements().any(said) }
    }

    /// Whether the content is one string, as most prompts are.
    pub fn is_plain(&self) -> bool {
        self.0.content.is_text()
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// What is said.
    Text(Cow<'a, str>),
    /// What is thought, where it may be seen.
    Thinking(Cow<'a, str>),
    /// A tool is called.
    ToolUse {
        /// Links the result to the call.
        id: &'a str,
        /// `Bash`, `Edit`, …
        name: &'a str,
        /// The tool's own fields.
        input: Raw<'a>,
    },
    /// A tool has answered.
    ToolResult {
        /// The call it answers.
        id: &'a str,
        /// A string, or an array of blocks.
        content: Raw<'a>,
        /// Whether the tool failed or was refused.
        is_error: bool,
    },
    /// A picture.
    Image,
    /// Anything else.
    Other,
}

fn blocks(content: Raw<'_>) -> Vec<Block<'_>> {
    match content.text() {
        Some(text) => vec![Block::Text(text)],
        None => content.elements().map(block).collect(),
    }
}

fn block(json: Raw<'_>) -> Block<'_> {
    if let Some(text) = json.text() {
        return Block::Text(text);
    }
    let fields = BlockFields::of(json);
    match fields.kind.plain().unwrap_or("") {
        "text" => Block::Text(fields.text.text().unwrap_or_default()),
        "thinking" => Block::Thinking(fields.thinking.text().unwrap_or_default()),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Block::ToolUse {
            id: fields.id.plain().unwrap_or(""),
            name: fields.name.plain().unwrap_or(""),
            input: fields.input,
        },
        "tool_result" => Block::ToolResult {
            id: fields.tool_use_id.plain().unwrap_or(""),
            content: fields.content,
            is_error: fields.is_error.is_true(),
        },
        "image" => Block::Image,
        _ => Block::Other,
    }
}

/// The text of a tool's result: the string, or its text blocks one under the other.
pub fn result_text(content: Raw<'_>) -> Cow<'_, str> {
    let mut texts = blocks(content).into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    let mut rest = texts.peekable();
    if rest.peek().is_none() {
        return first;
    }
    rest.fold(first, |all, text| Cow::Owned(all.into_owned() + "\n" + &text))
}

/// The first text in an array of blocks.
pub(super) fn first_text(content: Raw<'_>) -> Option<Cow<'_, str>> {
    blocks(content).into_iter().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}
