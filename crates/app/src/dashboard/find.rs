//! Words in one session, wherever they are in it: every message that holds them, in order.

use std::borrow::Cow;
use std::ops::Range;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{Message, Part, Reader, Role, messages};

use crate::search::pattern::{Case, Pattern, Syntax};
use crate::sessions::locate::{Files, locate};
use crate::{Context, Error, Kind, Secrets};

/// The most messages that are given.
const MOST: usize = 1000;
/// How much is shown around the words, in characters before and after them.
const AROUND: usize = 60;

/// What to find in which session.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FindRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
    /// The text, as it is written; capital letters make no difference. Secrets are not searched.
    pub text: String,
}

/// The messages that hold it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FindAnswer")]
pub struct Answer {
    /// The messages, in order; at most 1,000.
    pub matches: Vec<FoundMessage>,
    /// Whether there are more.
    pub has_more: bool,
}

/// A message that holds the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundMessage {
    /// The id of the record.
    pub uuid: Option<String>,
    /// Where its line begins in the transcript, in bytes.
    pub offset: u64,
    /// Who speaks.
    pub role: Role,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// The text with what is around it.
    pub snippet: String,
}

/// Finds a text in a session.
pub fn find(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.text.trim().is_empty() {
        return Ok(Answer::default());
    }
    let Files::Claude(file) = locate(context, &request.session)?.files else {
        return Err(Error::new(Kind::Unavailable, "only Claude Code's own sessions can be looked through"));
    };
    let unreadable = |error: std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    };
    let pattern = Pattern::new(&request.text, Syntax::Text, Case::Any)?;
    let mut reader = Reader::open(&file).map_err(unreadable)?;
    let mut found = Answer::default();
    while let Some(line) = reader.next_line().map_err(unreadable)? {
        if line.number % 1024 == 0 {
            context.check_cancelled()?;
        }
        if !pattern.may_match(line.bytes) {
            continue;
        }
        let Ok(record) = line.record() else { continue };
        let snippet_of = |message: &Message<'_>| {
            message.parts.iter().find_map(|part| snippet(part, &pattern, context.secrets))
        };
        let mut messages = messages(&record).filter(|message| !message.sidechain);
        let found_in = messages.find_map(|message| Some((snippet_of(&message)?, message)));
        let Some((snippet, message)) = found_in else { continue };
        if found.matches.len() == MOST {
            found.has_more = true;
            break;
        }
        found.matches.push(FoundMessage {
            uuid: message.uuid.map(ToOwned::to_owned),
            offset: line.offset,
            role: message.role,
            at: message.at,
            snippet,
        });
    }
    Ok(found)
}

/// The first place of the pattern in a part with what is around it.
fn snippet(part: &Part<'_>, pattern: &Pattern, secrets: Secrets) -> Option<String> {
    let name = match part {
        Part::ToolUse { name, .. } => pattern.searched(name, secrets).map(Cow::into_owned),
        _ => None,
    };
    let mut shown = name.into_iter().chain(pattern.searched_part(part, secrets));
    shown.find_map(|shown| Some(around(&shown, pattern.first(&shown)?)))
}

/// A range of a text with what is around it, in one line.
fn around(text: &str, range: Range<usize>) -> String {
    let before = text[..range.start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text[range.end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| range.end + at);
    let lead = if before > 0 { "…" } else { "" };
    format!("{lead}{}", text[before..after].split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_it_is_shown_in_one_line() {
        let check = |text: &str, expected: &str| {
            let pattern = Pattern::new("needle", Syntax::Text, Case::Any).unwrap();
            let found = snippet(&Part::Text(text.into()), &pattern, Secrets::Redacted);
            assert_eq!(found.unwrap_or_default(), expected, "{text}");
        };
        let hay = "hay ".repeat(40);
        check(&format!("{hay} the\nNeedle here"), &format!("…ay {}the Needle here", "hay ".repeat(13)));
        check("A needle.", "A needle.");
        check(&format!("A needle {}", "é".repeat(100)), &format!("A needle {}", "é".repeat(59)));
        check("nothing", "");
    }
}
