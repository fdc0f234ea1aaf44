//! The messages around one of a conversation, as they go by.

use std::collections::VecDeque;
use std::fmt;

use crate::sessions::message::ShownMessage;

/// How many messages are shown before the one asked for.
const BEFORE: usize = 4;
/// How many are shown after it: what answers a question mostly follows the words that were found.
const AFTER: usize = 8;
/// How many are shown on each side with those that only name tools, which are a line together.
const WITH_TOOLS: usize = 200;

/// The message that a request cites.
pub(super) enum Cited<'a> {
    /// By its id, or a prefix of it.
    Message(&'a str),
    /// By its line, or the first shown message after it.
    Line(u64),
}

impl Cited<'_> {
    fn matches(&self, shown: &ShownMessage) -> bool {
        match self {
            Self::Message(uuid) => shown.uuid.as_deref().is_some_and(|known| known.starts_with(uuid)),
            Self::Line(line) => shown.line.is_some_and(|known| known >= *line),
        }
    }
}

impl fmt::Display for Cited<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(uuid) => write!(to, "with the id `{uuid}`"),
            Self::Line(line) => write!(to, "at line {line} or after it"),
        }
    }
}

/// What has gone by of the messages around the one that is cited.
pub(super) enum Around {
    /// The last messages, while it was not among them.
    Before(VecDeque<ShownMessage>),
    /// It was found: how many are still to come that say something, and how many at all.
    After { saying: usize, all: usize },
}

impl Default for Around {
    fn default() -> Self {
        Self::Before(VecDeque::new())
    }
}

impl Around {
    /// Takes the next message, and hands over those that are around the cited one.
    pub(super) fn next<E>(
        &mut self,
        cited: &Cited<'_>,
        shown: ShownMessage,
        take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::After { saying: 0, .. } | Self::After { all: 0, .. } => Ok(()),
            Self::After { saying, all } => {
                *all -= 1;
                *saying -= usize::from(shown.says_something());
                take(shown)
            }
            Self::Before(last) if cited.matches(&shown) => {
                let last = std::mem::take(last);
                *self = Self::After { saying: AFTER, all: WITH_TOOLS };
                last.into_iter().try_for_each(&mut *take)?;
                take(shown)
            }
            Self::Before(last) => {
                last.push_back(shown);
                let saying = last.iter().filter(|message| message.says_something()).count();
                if saying > BEFORE {
                    forget_first(last);
                } else if last.len() > WITH_TOOLS {
                    last.pop_front();
                }
                Ok(())
            }
        }
    }

    /// Whether the cited message has gone by.
    pub(super) fn is_found(&self) -> bool {
        matches!(self, Self::After { .. })
    }

    /// The last messages where the cited one was not found; else none.
    pub(super) fn into_last(self) -> VecDeque<ShownMessage> {
        match self {
            Self::Before(last) => last,
            Self::After { .. } => VecDeque::new(),
        }
    }
}

/// Forgets the first message that says something, and the tools before it.
fn forget_first(last: &mut VecDeque<ShownMessage>) {
    while let Some(first) = last.pop_front() {
        if first.says_something() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use transcript::Role;

    use super::*;
    use crate::sessions::message::Piece;

    /// The lines that are shown around one; upper case is something said, lower case the name of a tool.
    fn around(conversation: &str, cited: u64) -> String {
        let message = |(at, letter): (usize, char)| ShownMessage {
            role: Role::Assistant,
            subagent: None,
            uuid: Some(letter.to_string()),
            line: Some(at as u64 + 1),
            at: None,
            how: None,
            parts: vec![if letter.is_uppercase() {
                Piece::Text { text: letter.to_string() }
            } else {
                Piece::ToolUse { name: letter.to_string(), input: String::new(), id: String::new() }
            }],
        };
        let (mut around, mut shown) = (Around::default(), String::new());
        for next in conversation.chars().enumerate().map(message) {
            let take = &mut |message: ShownMessage| {
                shown.extend(message.uuid);
                Ok::<(), ()>(())
            };
            around.next(&Cited::Line(cited), next, take).unwrap();
        }
        if !around.is_found() {
            shown.extend(around.into_last().into_iter().filter_map(|message| message.uuid));
        }
        shown
    }

    #[test]
    fn four_before_it_and_eight_after_it() {
        assert_eq!(around("ABCDEFGHIJKLMNOPQRS", 8), "DEFGHIJKLMNOP");
        assert_eq!(around("ABC", 2), "ABC");
        assert_eq!(around("ABCDEFG", 99), "DEFG", "the end is nearest to it");
    }

    #[test]
    fn messages_that_only_name_tools_are_not_counted() {
        assert_eq!(around("ABxCxxDEFxxxxGHIJKxLMNO", 8), "ABxCxxDEFxxxxGHIJKxLM");
        assert_eq!(around("AxxBCDEF", 8), "xxBCDEF", "tools are shown with what follows them");
        let tools = "x".repeat(1000);
        let shown = around(&format!("{tools}A{tools}"), 1001);
        assert!(shown.len() <= 2 * WITH_TOOLS + 1, "{}", shown.len());
    }
}
