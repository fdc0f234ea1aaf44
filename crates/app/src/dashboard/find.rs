//! Words in one session, wherever they are in it: every message that holds them, in order.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::record::result_text;
use transcript::{Message, Part, Reader, Role, messages};

use crate::sessions::locate::{Files, locate};
use crate::{Context, Error, Kind};

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
    /// The text, as it is written; capital letters make no difference.
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
    let wanted = request.text.to_lowercase();
    if wanted.trim().is_empty() {
        return Ok(Answer::default());
    }
    let Files::Claude(file) = locate(context, &request.session)?.files else {
        return Err(Error::new(Kind::Unavailable, "only Claude Code's own sessions can be looked through"));
    };
    let unreadable = |error: std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    };
    let word = longest_word(&wanted);
    let mut reader = Reader::open(&file).map_err(unreadable)?;
    let mut found = Answer::default();
    while let Some(line) = reader.next_line().map_err(unreadable)? {
        if line.number % 1024 == 0 {
            context.check_cancelled()?;
        }
        if !holds(line.bytes, word.as_bytes()) {
            continue;
        }
        let Ok(record) = line.record() else { continue };
        let snippet_of =
            |message: &Message<'_>| message.parts.iter().find_map(|part| snippet(&text(part), &wanted));
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
            snippet: context.secrets.redacted(snippet.into()),
        });
    }
    Ok(found)
}

/// What can be read of a part.
fn text<'a>(part: &'a Part<'_>) -> std::borrow::Cow<'a, str> {
    match part {
        Part::Text(text) | Part::Thinking(text) => text.as_ref().into(),
        Part::ToolUse { name, input, .. } => format!("{name} {}", spoken(*input)).into(),
        Part::ToolResult { content, .. } => result_text(*content),
        Part::Image => "".into(),
    }
}

/// The texts of an input, one under the other.
fn spoken(input: transcript::Raw<'_>) -> String {
    let values = input
        .entries()
        .map(|(_, value)| value.text().map_or_else(|| value.json().to_owned(), std::borrow::Cow::into_owned));
    values.collect::<Vec<_>>().join("\n")
}

/// The longest part that JSON writes as it is: lines without it need not be parsed.
fn longest_word(text: &str) -> &str {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

/// Whether a line holds a word in lower case, whatever the case of its letters.
fn holds(line: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    let places = memchr::memchr2_iter(*first, first.to_ascii_uppercase(), line);
    places
        .into_iter()
        .any(|at| line.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

/// The first place of the wanted text with what is around it.
fn snippet(text: &str, wanted: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(wanted)?;
    // Lower case may have another length; what is shown around it needs no exact place.
    let before = lower[..at].chars().count();
    let start = before.saturating_sub(AROUND);
    let length = (before - start) + wanted.chars().count() + AROUND;
    let shown: String = text.chars().skip(start).take(length).collect();
    let lead = if start > 0 { "…" } else { "" };
    Some(format!("{lead}{}", shown.split_whitespace().collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_only_parsed_where_it_can_hold_the_text() {
        assert_eq!(longest_word("fix: tokens, é"), "tokens");
        assert!(holds(br#"{"text":"The TOKENS"}"#, b"tokens"));
        assert!(!holds(br#"{"text":"token"}"#, b"tokens"));
        assert!(holds(b"anything", longest_word("→ é").as_bytes()));
    }

    #[test]
    fn what_is_around_it_is_shown_in_one_line() {
        let long = format!("{} the\nNeedle here", "hay ".repeat(40));
        let shown = snippet(&long, "needle").unwrap();
        assert!(shown.starts_with('…') && shown.ends_with("the Needle here"), "{shown}");
        assert_eq!(snippet("nothing", "needle"), None);
    }
}
