//! The API message inside a record, and its blocks.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use model::{PricingTerms, Usage};

use crate::json::{Field, Raw, raw_fields};
use crate::scan::Walk;

use super::usage::{Charges, Counters};

raw_fields! {
    /// An API message; borrowed from its line.
    pub struct ApiMessage {
        id = "id",
        role = "role",
        model = "model",
        content = "content",
        usage: Option<Counters<'a>> = "usage",
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

impl<'a> ApiMessage<'a> {
    /// The message's own id; the same on every line of one message.
    pub fn id(&self) -> Option<&'a str> {
        self.id.plain()
    }

    /// The role, `user` or `assistant`.
    pub fn role(&self) -> Option<&'a str> {
        self.role.plain()
    }

    /// The model that answered.
    pub fn model(&self) -> Option<&'a str> {
        self.model.plain()
    }

    /// The tokens it used; zero where the message does not say.
    pub fn usage(&self) -> Usage {
        self.usage.map(Counters::usage).unwrap_or_default()
    }

    /// The tokens of the last pass over the conversation, which its context consists of.
    pub fn last_pass(&self) -> Usage {
        self.usage.map(Counters::last_pass).unwrap_or_default()
    }

    /// What is to be paid for it.
    pub(crate) fn charges(&self) -> Charges<'a> {
        self.usage.map(|counters| counters.charges(self.model().unwrap_or_default())).unwrap_or_default()
    }

    /// The terms they were used under.
    pub fn terms(&self) -> PricingTerms {
        self.usage.map(Counters::terms).unwrap_or_default()
    }

    /// Why the message ended; `None` while it is being written.
    pub fn stop_reason(&self) -> Option<&'a str> {
        self.stop_reason.plain()
    }

    /// The blocks in order, each decoded when it is reached: a message may have millions. Content that is one string is one
    /// text block.
    pub fn each_block(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        blocks(self.content)
    }

    /// What one pass over its blocks shows.
    pub(crate) fn glance(&self) -> Glance<'a> {
        let mut glance =
            Glance { has_text: self.content.is_text() && !self.content.is_blank(), tools: Vec::new() };
        for element in self.content.each() {
            match element {
                Element::Value(value) => glance.has_text |= value.is_text() && !value.is_blank(),
                Element::Block(fields) => match fields.kind.plain() {
                    Some("text") => glance.has_text = glance.has_text || !fields.text.is_blank(),
                    Some(CALL | SERVER_CALL | MCP_CALL) => glance.tools.extend(fields.name.plain()),
                    _ => {}
                },
            }
        }
        glance
    }

    /// Whether there can be a block of text among its blocks; cheap, none of them is decoded.
    pub(crate) fn may_have_text(&self) -> bool {
        static TEXT: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(br#""text""#));
        // Quotes within a string have a backslash before them.
        TEXT.find(self.content.json().as_bytes()).is_some()
    }

    /// Whether the content is one string, as most prompts are.
    pub fn is_plain(&self) -> bool {
        self.content.is_text()
    }
}

/// What a message has, without its texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Glance<'a> {
    /// Whether there is text that a person would read.
    pub(crate) has_text: bool,
    /// The names of the tools it calls.
    pub(crate) tools: Vec<&'a str>,
}

/// The types of blocks that call a tool.
const CALL: &str = "tool_use";
const SERVER_CALL: &str = "server_tool_use";
const MCP_CALL: &str = "mcp_tool_use";

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// The model's reasoning, where it is visible.
    Thinking(Cow<'a, str>),
    /// A tool is called.
    ToolUse {
        /// Links the result to the call.
        id: &'a str,
        /// The tool's name: `Bash`, `Edit`, …
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
    /// A picture; its data is left out.
    Image,
    /// A block of any other type.
    Other,
}

/// An element of an array of blocks.
#[derive(Debug, Clone, Copy)]
enum Element<'a> {
    Block(BlockFields<'a>),
    Value(Raw<'a>),
}

impl Default for Element<'_> {
    fn default() -> Self {
        Self::Value(Raw::default())
    }
}

impl<'a> Field<'a> for Element<'a> {
    fn fill(&mut self, walk: &mut Walk<'a>) -> Option<()> {
        if walk.object().is_some() {
            let mut fields = None;
            fields.fill(walk)?;
            *self = Self::Block(fields.unwrap_or_default());
        } else {
            *self = Self::Value(Raw::new(walk.value()?));
        }
        Some(())
    }
}

fn blocks(content: Raw<'_>) -> impl Iterator<Item = Block<'_>> {
    let text = content.text().map(Block::Text);
    text.into_iter().chain(content.each().map(block))
}

fn block(element: Element<'_>) -> Block<'_> {
    let fields = match element {
        Element::Value(value) => return value.text().map_or(Block::Other, Block::Text),
        Element::Block(fields) => fields,
    };
    match fields.kind.plain().unwrap_or("") {
        "text" => Block::Text(fields.text.text().unwrap_or_default()),
        "thinking" => Block::Thinking(fields.thinking.text().unwrap_or_default()),
        CALL | SERVER_CALL | MCP_CALL => Block::ToolUse {
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
    let mut texts = blocks(content).filter_map(|block| match block {
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
    blocks(content).find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}
