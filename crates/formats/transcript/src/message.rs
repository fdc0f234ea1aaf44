//! Turns records into the messages that a person would read.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::elements::{agent_messages, attributed};
use crate::json::Raw;
use crate::record::{Block, Record, RecordKind};
use crate::speech::speech;

/// The most parts of a message that are kept apart.
const MOST_PARTS: usize = 10_000;

/// One message of a conversation; borrowed from its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'a> {
    /// The role of the speaker; a person's message may begin with results of a tool that ran while they typed.
    pub role: Role,
    /// The id of the record.
    pub uuid: Option<&'a str>,
    /// When the record was made.
    pub at: Option<Timestamp>,
    /// The API message's id: several records are one answer.
    pub answer: Option<&'a str>,
    /// Whether a sub-agent is speaking.
    pub sidechain: bool,
    /// What else there is to know of how it was said, in a few words: over which channel, or that it was never sent.
    pub how: Option<Cow<'a, str>>,
    /// The parts of the message, in order.
    pub parts: Vec<Part<'a>>,
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person.
    User,
    /// The model's answer.
    Assistant,
    /// Results of a tool.
    Tool,
    /// The CLI: a compaction, its summary, an API error, a prompt on a schedule, what another agent said.
    Note,
}

impl Role {
    /// The name used in JSON and in `--role`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Note => "note",
        }
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// The model's reasoning.
    Thinking(Cow<'a, str>),
    /// A tool is called.
    ToolUse {
        /// Links the result to the call.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// The fields of the call.
        input: Raw<'a>,
    },
    /// A tool has answered.
    ToolResult {
        /// The call it answers.
        id: &'a str,
        /// A string, or blocks; see [`crate::record::result_text`].
        content: Raw<'a>,
        /// Whether the call failed.
        is_error: bool,
        /// Whether the person refused the call, as far as the record says.
        is_refused: bool,
        /// The tool's own record of its result (`toolUseResult`).
        kept: Raw<'a>,
    },
    /// A picture; its data is left out.
    Image,
}

/// The messages of a record: of one that holds what a person typed while a tool ran, the tool's comes first.
pub fn messages<'a>(record: &Record<'a>) -> impl Iterator<Item = Message<'a>> {
    message(record).into_iter().flat_map(Message::by_speaker)
}

impl Message<'_> {
    pub(crate) fn by_speaker(self) -> Vec<Self> {
        let is_result = |part: &Part<'_>| matches!(part, Part::ToolResult { .. });
        if self.role != Role::User || !self.parts.iter().any(is_result) {
            return vec![self];
        }
        let (results, said) = self.parts.iter().cloned().partition(is_result);
        vec![Self { role: Role::Tool, parts: results, ..self.clone() }, Self { parts: said, ..self }]
    }
}

/// The message of a record, when it has one that a person would read.
pub fn message<'a>(record: &Record<'a>) -> Option<Message<'a>> {
    let (role, parts) = match record.kind() {
        RecordKind::User => user(record)?,
        RecordKind::Assistant => assistant(record)?,
        RecordKind::Attachment => (Role::User, vec![spoken_text(record.queued_prompt()?)?]),
        RecordKind::CompactBoundary => {
            (Role::Note, vec![Part::Text(Cow::Borrowed("The conversation was compacted here."))])
        }
        RecordKind::LocalCommand => (Role::User, vec![spoken_text(record.content()?)?]),
        _ => return None,
    };
    if parts.is_empty() {
        return None;
    }
    Some(Message {
        role,
        uuid: record.uuid(),
        at: record.timestamp(),
        answer: if role == Role::Assistant {
            record.message().and_then(|message| message.id())
        } else {
            None
        },
        sidechain: record.is_sidechain(),
        how: record.channel_sender().map(Cow::Owned),
        parts,
    })
}

/// What a person put into the queue and what never became a message; of any other record `None`.
pub(crate) fn unsent_message<'a>(record: &Record<'a>) -> Option<Message<'a>> {
    let is_queued = record.kind() == RecordKind::QueueOperation && record.operation() == Some("enqueue");
    let said = is_queued.then(|| spoken_text(record.content()?)).flatten()?;
    Some(Message {
        role: Role::User,
        uuid: None,
        at: record.timestamp(),
        answer: None,
        sidechain: false,
        how: Some("not sent".into()),
        parts: vec![said],
    })
}

fn user<'a>(record: &Record<'a>) -> Option<(Role, Vec<Part<'a>>)> {
    let message = record.message()?;
    if record.is_compact_summary() {
        return Some((Role::Note, gathered(message.each_block().filter_map(plain))));
    }
    if record.is_scheduled_prompt() {
        return Some((Role::Note, gathered(message.each_block().filter_map(scheduled))));
    }
    if record.is_of_other_agent() {
        return Some((Role::Note, gathered(message.each_block().flat_map(of_agents))));
    }
    let has_results = message.each_block().any(|block| matches!(block, Block::ToolResult { .. }));
    let may_speak = record.may_hold_words() && has_results >= record.has_tool_result();
    if !has_results && !may_speak {
        return None;
    }
    let mut role = if has_results { Role::Tool } else { Role::User };
    let parts = gathered(message.each_block().filter_map(|block| match block {
        Block::Text(text) if may_speak => spoken_text(text).inspect(|_| role = Role::User),
        Block::Image if may_speak && role == Role::User => Some(Part::Image),
        block => result(&block, record),
    }));
    Some((role, parts))
}

fn assistant<'a>(record: &Record<'a>) -> Option<(Role, Vec<Part<'a>>)> {
    let message = record.message()?;
    let synthetic = message.model() == Some("<synthetic>");
    if synthetic && !record.is_api_error() {
        return None;
    }
    let role = if synthetic { Role::Note } else { Role::Assistant };
    Some((role, gathered(message.each_block().filter_map(plain))))
}

/// The parts of a message. A block may be a few bytes, and what is kept of it is many: beyond so many parts, a text is joined to the
/// one before it, and whatever else there is is left out.
fn gathered<'a>(parts: impl Iterator<Item = Part<'a>>) -> Vec<Part<'a>> {
    let mut gathered: Vec<Part<'a>> = Vec::new();
    for part in parts {
        if gathered.len() < MOST_PARTS {
            gathered.push(part);
        } else if let (Part::Text(text), Some(Part::Text(last))) = (part, gathered.last_mut()) {
            let last = last.to_mut();
            last.push('\n');
            last.push_str(&text);
        }
    }
    gathered
}

fn spoken_text(text: Cow<'_, str>) -> Option<Part<'_>> {
    let owned = match text {
        Cow::Borrowed(text) => speech(text)?.text,
        Cow::Owned(text) => Cow::Owned(speech(&text)?.text.into_owned()),
    };
    Some(Part::Text(owned))
}

/// A prompt that nobody typed, marked as such.
fn scheduled(block: Block<'_>) -> Option<Part<'_>> {
    match block {
        Block::Text(text) if !text.trim().is_empty() => {
            Some(Part::Text(Cow::Owned(format!("Scheduled: {}", text.trim()))))
        }
        _ => None,
    }
}

/// What other agents said, each after its name.
fn of_agents(block: Block<'_>) -> Vec<Part<'_>> {
    let Block::Text(text) = block else { return Vec::new() };
    let mut messages = agent_messages(&text).peekable();
    if messages.peek().is_none() && !text.trim().is_empty() {
        return vec![Part::Text(Cow::Owned(format!("another agent: {}", text.trim())))];
    }
    messages.filter_map(|message| attributed(&message)).map(Part::Text).collect()
}

fn plain(block: Block<'_>) -> Option<Part<'_>> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(Part::Text(text)),
        Block::Thinking(text) if text.trim().is_empty() => None,
        Block::Thinking(text) => Some(Part::Thinking(text)),
        Block::ToolUse { id, name, input } => Some(Part::ToolUse { id, name, input }),
        Block::Image => Some(Part::Image),
        Block::ToolResult { .. } | Block::Other => None,
    }
}

fn result<'a>(block: &Block<'a>, record: &Record<'a>) -> Option<Part<'a>> {
    let Block::ToolResult { id, content, is_error } = block else { return None };
    Some(Part::ToolResult {
        id,
        content: *content,
        is_error: *is_error,
        is_refused: record.is_refused_by_person(),
        kept: record.tool_use_result(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    fn check(line: &str, role: Option<Role>, text: &str) {
        {
            let record = parse(line.as_bytes()).unwrap();
            let message = message(&record);
            assert_eq!(message.as_ref().map(|message| message.role), role, "{line}");
            if let Some(Part::Text(said)) = message.as_ref().and_then(|message| message.parts.first()) {
                assert_eq!(said, text, "{line}");
            }
        }
    }

    #[test]
    fn what_was_typed_while_a_tool_ran_is_behind_its_result() {
        let of = |fields: &str, more: &str| {
            let line = format!(
                r#"{{"type":"user",{fields}"toolUseResult":{{}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"x"}},{more}]}}}}"#
            );
            let record = parse(line.as_bytes()).unwrap();
            let message = message(&record).unwrap();
            let texts = message.parts.iter().filter(|part| matches!(part, Part::Text(_))).count();
            (message.role, message.parts.len() - texts, texts)
        };
        let said = r#"{"type":"text","text":"and use pagination"}"#;
        assert_eq!(of("", said), (Role::User, 1, 1));
        assert_eq!(of(r#""isMeta":true,"#, said), (Role::Tool, 1, 0));
        let reminder = r#"{"type":"text","text":"<system-reminder>Mind the gap.</system-reminder>"}"#;
        assert_eq!(of("", reminder), (Role::Tool, 1, 0));
        assert_eq!(of("", &format!("{reminder},{said}")), (Role::User, 1, 1));
        assert_eq!(of("", r#"{"type":"image"}"#), (Role::Tool, 1, 0));
        let line = format!(
            r#"{{"type":"user","uuid":"u","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"x"}},{said}]}}}}"#
        );
        let record = parse(line.as_bytes()).unwrap();
        let roles: Vec<_> = messages(&record).map(|message| (message.role, message.parts.len())).collect();
        assert_eq!(roles, [(Role::Tool, 1), (Role::User, 1)]);
    }

    #[test]
    fn roles_and_parts_are_read() {
        check(r#"{"type":"user","message":{"content":"hi"}}"#, Some(Role::User), "hi");
        check(
            r#"{"type":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#,
            Some(Role::User),
            "hi",
        );
        check(r#"{"type":"user","isMeta":true,"message":{"content":"hi"}}"#, None, "");
        let scheduled = r#"{"type":"user","isMeta":true,"promptSource":"system","turnOrigin":"scheduled","message":{"content":"check it"}}"#;
        check(scheduled, Some(Role::Note), "Scheduled: check it");
        check(
            r#"{"type":"user","origin":{"kind":"task-notification"},"message":{"content":"hi"}}"#,
            None,
            "",
        );
        check(
            r#"{"type":"user","origin":{"kind":"human"},"message":{"content":"hi"}}"#,
            Some(Role::User),
            "hi",
        );
        check(
            r#"{"type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"content":"sum"}}"#,
            Some(Role::Note),
            "sum",
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#,
            Some(Role::Tool),
            "",
        );
        check(
            r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"yo"}]}}"#,
            Some(Role::Assistant),
            "yo",
        );
        check(
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#,
            None,
            "",
        );
        check(
            r#"{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}"#,
            Some(Role::Note),
            "API Error",
        );
        check(
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"second","commandMode":"prompt"}}"#,
            Some(Role::User),
            "second",
        );
        check(
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"third"}]}}"#,
            Some(Role::User),
            "third",
        );
        check(r#"{"type":"attachment","attachment":{"type":"date","date":"x"}}"#, None, "");
        check(
            r#"{"type":"system","subtype":"local_command","content":"<command-name>/model</command-name>"}"#,
            Some(Role::User),
            "/model",
        );
        check(
            r#"{"type":"system","subtype":"local_command","content":"<local-command-stdout>x</local-command-stdout>"}"#,
            None,
            "",
        );
        check(r#"{"type":"user"}"#, None, "");
        check(r#"{"type":"user","message":"text"}"#, None, "");
    }

    #[test]
    fn of_a_million_blocks_every_text_is_kept() {
        let block = r#"{"type":"text","text":"a"},"#;
        let blocks = block.repeat(MOST_PARTS + 2);
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{blocks}{{"type":"image"}},{{"type":"text","text":"z"}}]}}}}"#
        );
        let record = parse(line.as_bytes()).unwrap();
        let parts = message(&record).unwrap().parts;
        assert_eq!((parts.len(), parts.last()), (MOST_PARTS, Some(&Part::Text("a\na\na\nz".into()))));
    }

    #[test]
    fn a_refused_call_is_recognized() {
        let check = |fields: &str, is_refused: bool, holds_words: bool| {
            let line = format!(
                r#"{{"type":"user",{fields}"turnAttributionKey":"k","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"not today","is_error":true}}]}}}}"#
            );
            let record = parse(line.as_bytes()).unwrap();
            assert_eq!(record.holds_persons_words(), holds_words, "{line}");
            let message = message(&record).unwrap();
            let [Part::ToolResult { is_refused: found, is_error: true, .. }] = message.parts[..] else {
                panic!("{message:?}")
            };
            assert_eq!(found, is_refused, "{line}");
        };
        check("", false, false);
        check(r#""permissionDecision":{"decision":"reject","source":"user_reject"},"#, true, false);
        check(r#""permissionDecision":{"decision":"reject","source":"config"},"#, false, false);
        check(r#""holdsPersonsWords":true,"#, true, true);
        check(r#""holdsPersonsWords":"true","permissionDecision":7,"#, false, false);
    }
}
