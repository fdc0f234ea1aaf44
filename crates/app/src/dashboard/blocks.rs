//! A session's messages with everything that can be shown of them: whole inputs of tools, changes of files, pictures,
//! which sub-agent a call started. Page by page, both ways; a sub-agent's own file from its beginning.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transcript::record::{Block as Element, Record, RecordKind, result_text};
use transcript::{Message, Page, Part, Raw, Reader, Role, SettledPrompts, message, own_time, subagents_of};

use crate::sessions::locate::{Files, locate};
use crate::sessions::message::Piece;
use crate::sessions::page;
use crate::{Context, Error, Kind};

/// How many messages a page has without a limit.
const LIMIT: usize = 100;
/// The most messages of one page.
const MOST: usize = 500;
/// The longest text of a tool that is given out with a page, in characters.
const SHORT: usize = 12_000;
/// The same where the whole is asked for.
const WHOLE: usize = 4_000_000;

/// Which messages to give: the last ones, or those at one place.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BlocksRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
    /// Only what this sub-agent of it said and did, from its beginning.
    pub subagent: Option<String>,
    /// Messages before this place: `older` of a page.
    pub before: Option<String>,
    /// Messages after this place: `newer` of a page.
    pub after: Option<String>,
    /// Messages around the one with this `uuid`, or a prefix of it.
    pub around: Option<String>,
    /// Messages around the one with this `offset`.
    pub around_offset: Option<u64>,
    /// At most so many messages, up to 500; 100 without it.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
    /// Texts of tools at their whole length.
    #[serde(default)]
    pub whole: bool,
}

/// Consecutive messages of a session or a sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BlocksAnswer")]
pub struct Answer {
    /// The session's id.
    pub session_id: SessionId,
    /// The messages, oldest first.
    pub messages: Vec<BlockMessage>,
    /// The place before which there are more; `null` at the beginning.
    pub older: Option<String>,
    /// The place after the last of them; what is written later is found there.
    pub newer: String,
    /// Whether nothing is written after them yet.
    pub is_last: bool,
}

/// A message, whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BlockMessage {
    /// Who speaks.
    pub role: Role,
    /// What a note is about: `compaction`, `summary`, `scheduled`, `agent` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteKind>,
    /// The id of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// What else there is to know of how it was said, in a few words: `not sent`, `ana over telegram`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Where its line begins in the transcript, in bytes.
    pub offset: u64,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session and record that a fork copied it from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// What is said and done.
    pub blocks: Vec<ShownBlock>,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The conversation was compacted.
    Compaction,
    /// The summary that a compaction left.
    Summary,
    /// A prompt that Claude Code asked on a schedule.
    Scheduled,
    /// What another agent said.
    Agent,
    /// An error of the API.
    Error,
}

/// A piece of a message, whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShownBlock {
    /// Words.
    Text {
        /// The words; Markdown, mostly.
        text: String,
    },
    /// Thoughts.
    Thinking {
        /// The thoughts.
        text: String,
    },
    /// A tool is called.
    ToolUse {
        /// Links the result to the call.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with.
        input: Value,
    },
    /// A tool has answered.
    ToolResult {
        /// The call it answers.
        id: String,
        /// Its answer, or the beginning of it.
        text: String,
        /// How long the answer is, in characters.
        length: usize,
        /// Whether it failed.
        is_error: bool,
        /// Whether the person refused the call.
        is_refused: bool,
        /// The time that the tool itself measured, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        ran_ms: Option<u64>,
        /// Whether a person was asked before: the time between call and result is not the tool's alone.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        waited: bool,
        /// What it changed in a file.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        patch: Vec<Hunk>,
        /// The sub-agent that answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The numbers of the pictures in the answer.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<usize>,
    },
    /// A picture.
    Picture {
        /// Its number in the record.
        number: usize,
    },
}

/// One part of a change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub struct Hunk {
    /// The first line before the change.
    pub old_start: u64,
    /// The first line after it.
    pub new_start: u64,
    /// The lines, each after ` `, `-` or `+`.
    pub lines: Vec<String>,
}

/// Gives a page of a session's main branch, or of a sub-agent's file.
pub fn blocks(context: &Context, request: &Request) -> Result<Answer, Error> {
    let located = locate(context, &request.session)?;
    let limit = request.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let file = match &located.files {
        Files::Claude(file) => file,
        Files::OpenClaw(_) | Files::Messages(_) => return of_openclaw(context, request, limit),
    };
    let prompts = request.subagent.is_none().then(|| SettledPrompts::new(file));
    let show = Show { context, longest: if request.whole { WHOLE } else { SHORT }, prompts };
    let unreadable = |error: &io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), error)
    };
    let page = if let Some(agent) = &request.subagent {
        of_subagent(file, agent, request, limit, &show)?
    } else {
        let place = page::place(&paged(request))?;
        if page::is_beyond(file, &place) {
            return Err(page::replaced(&located.id));
        }
        let main = |record: &Record<'_>, offset| {
            if record.is_sidechain() { None } else { show.message(record, offset) }
        };
        page::of_claude(file, &place, limit, main).map_err(|error| unreadable(&error))?.ok_or_else(|| {
            Error::new(Kind::NotFound, format!("session {} has no such message", located.id))
        })?
    };
    Ok(Answer {
        session_id: located.id,
        messages: page.items,
        older: page.older.map(|older| older.to_string()),
        newer: page.newer.to_string(),
        is_last: page.is_last,
    })
}

fn paged(request: &Request) -> page::Request {
    let Request { session, before, after, around, around_offset, limit, .. } = request.clone();
    page::Request {
        session,
        before,
        after,
        around,
        around_offset,
        limit,
        tools: true,
        thinking: true,
        subagent: None,
    }
}

/// A page of a sub-agent's file, which is read from its beginning.
fn of_subagent(
    transcript: &Path,
    agent: &str,
    request: &Request,
    limit: usize,
    show: &Show<'_>,
) -> Result<Page<BlockMessage>, Error> {
    let file = subagents_of(transcript).into_iter().find(|file| file.id == agent);
    let missing = || Error::new(Kind::NotFound, format!("the session has no sub-agent `{agent}`"));
    let file = file.ok_or_else(missing)?;
    let start = match &request.after {
        Some(after) => after.parse::<u64>().map_err(|_| Error::new(Kind::Usage, "`after` is not a place"))?,
        None => 0,
    };
    let read = || -> io::Result<Page<BlockMessage>> {
        let mut reader = Reader::open_at(&file.path, start, 0)?;
        let mut items = Vec::new();
        while let Some(line) = reader.next_line()? {
            if let Ok(record) = line.record() {
                items.extend(show.message(&record, line.offset));
            }
            if items.len() >= limit {
                break;
            }
        }
        let end = reader.offset();
        let is_last = reader.next_line()?.is_none();
        let newer = transcript::Position::at(end);
        Ok(Page { items, older: None, newer, is_last, bytes_read: end - start })
    };
    read().map_err(|error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.path.display()), &error)
    })
}

/// OpenClaw's own conversations are shown with what the other page knows of them.
fn of_openclaw(context: &Context, request: &Request, limit: usize) -> Result<Answer, Error> {
    let found = page::page(context, &page::Request { limit: Some(limit), ..paged(request) })?;
    let block = |piece: Piece| match piece {
        Piece::Text { text } => ShownBlock::Text { text },
        Piece::Thinking { text } => ShownBlock::Thinking { text },
        Piece::ToolUse { name, input, id } => ShownBlock::ToolUse { id, name, input: Value::String(input) },
        Piece::ToolResult { text, is_error, call } => ShownBlock::ToolResult {
            id: call,
            length: text.chars().count(),
            text,
            is_error,
            is_refused: false,
            ran_ms: None,
            waited: false,
            patch: Vec::new(),
            agent: None,
            pictures: Vec::new(),
        },
        Piece::Image => ShownBlock::Text { text: "(a picture)".to_owned() },
    };
    let message = |paged: page::PagedMessage| BlockMessage {
        role: paged.message.role,
        note: None,
        uuid: paged.message.uuid,
        at: paged.message.at,
        how: paged.message.how,
        offset: paged.offset,
        model: None,
        copied_from: None,
        blocks: paged.message.parts.into_iter().map(block).collect(),
    };
    let messages = found.messages.into_iter().map(message).collect();
    let page::Answer { session_id, older, newer, is_last, .. } = found;
    Ok(Answer { session_id, messages, older, newer, is_last })
}

/// How messages are shown.
struct Show<'a> {
    context: &'a Context,
    longest: usize,
    /// The prompts of the session that were not sent; of a sub-agent none are looked for.
    prompts: Option<SettledPrompts<'a>>,
}

impl Show<'_> {
    fn message(&self, record: &Record<'_>, offset: u64) -> Option<BlockMessage> {
        let message = match &self.prompts {
            Some(prompts) => prompts.message(record, offset)?,
            None => message(record)?,
        };
        let note = match record.kind() {
            RecordKind::CompactBoundary => Some(NoteKind::Compaction),
            _ if record.is_compact_summary() => Some(NoteKind::Summary),
            _ if record.is_scheduled_prompt() => Some(NoteKind::Scheduled),
            _ if record.is_of_other_agent() => Some(NoteKind::Agent),
            _ if message.role == Role::Note => Some(NoteKind::Error),
            _ => None,
        };
        let blocks = self.blocks(&message, record);
        let model =
            record.message().filter(|_| message.role == Role::Assistant).and_then(|sent| sent.model());
        Some(BlockMessage {
            role: message.role,
            note,
            uuid: message.uuid.map(ToOwned::to_owned),
            at: message.at,
            how: message.how.as_deref().map(ToOwned::to_owned),
            offset,
            model: model.map(ToOwned::to_owned),
            copied_from: record.forked_from().map(|(session, _)| session.to_owned()),
            blocks,
        })
    }

    fn blocks(&self, message: &Message<'_>, record: &Record<'_>) -> Vec<ShownBlock> {
        let numbers = PictureNumbers::of(record);
        let mut own = numbers.own.into_iter();
        let mut shown = Vec::new();
        for part in &message.parts {
            shown.push(match part {
                Part::Text(text) => ShownBlock::Text { text: self.redacted(text) },
                Part::Thinking(text) => ShownBlock::Thinking { text: self.redacted(text) },
                Part::ToolUse { id, name, input } => ShownBlock::ToolUse {
                    id: (*id).to_owned(),
                    name: (*name).to_owned(),
                    input: self.input(*input),
                },
                Part::ToolResult { id, content, is_error, is_refused, kept } => {
                    let text = self.redacted(&result_text(*content));
                    ShownBlock::ToolResult {
                        id: (*id).to_owned(),
                        length: text.chars().count(),
                        text: cut(text, self.longest),
                        is_error: *is_error,
                        is_refused: *is_refused,
                        ran_ms: own_time(*kept),
                        waited: record.waited_for_person(),
                        patch: self.patch(*kept),
                        agent: kept.get("agentId").plain().map(ToOwned::to_owned),
                        pictures: numbers.of_results.get(*id).cloned().unwrap_or_default(),
                    }
                }
                Part::Image => ShownBlock::Picture { number: own.next().unwrap_or_default() },
            });
        }
        shown
    }

    fn redacted(&self, text: &str) -> String {
        self.context.secrets.redacted(text.into())
    }

    fn input(&self, input: Raw<'_>) -> Value {
        // A secret may be known by the name of its field, so the text is redacted before it is parsed.
        let json = self.context.secrets.redacted_json(input.json());
        let value: Value = serde_json::from_str(&json).unwrap_or_default();
        let value = self.context.redacted(&value).unwrap_or_default();
        shortened(value, self.longest)
    }

    fn patch(&self, kept: Raw<'_>) -> Vec<Hunk> {
        let patch = kept.get("structuredPatch");
        if !patch.is_array() {
            return Vec::new();
        }
        let hunks: Vec<Hunk> = serde_json::from_str(patch.json()).unwrap_or_default();
        hunks.into_iter().map(|hunk| self.hunk(hunk)).collect()
    }

    /// A hunk whose lines are redacted together: a key has many.
    fn hunk(&self, hunk: Hunk) -> Hunk {
        if hunk.lines.is_empty() {
            return hunk;
        }
        let text = self.redacted(&hunk.lines.join("\n"));
        Hunk { lines: text.split('\n').map(ToOwned::to_owned).collect(), ..hunk }
    }
}

/// The numbers of a record's pictures: all are counted in the order of its content, those inside results among them.
#[derive(Default)]
struct PictureNumbers {
    own: Vec<usize>,
    of_results: HashMap<String, Vec<usize>>,
}

impl PictureNumbers {
    fn of(record: &Record<'_>) -> Self {
        let mut numbers = Self::default();
        let Some(message) = record.message() else { return numbers };
        let mut next = 0..;
        for element in message.each_block() {
            match element {
                Element::Image => numbers.own.extend(next.next()),
                Element::ToolResult { id, content, .. } => {
                    let inside = content.elements().filter(|part| part.get("type").is("image"));
                    let found: Vec<usize> = inside.filter_map(|_| next.next()).collect();
                    numbers.of_results.insert(id.to_owned(), found);
                }
                _ => {}
            }
        }
        numbers
    }
}

fn cut(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text,
        Some((end, _)) => text[..end].to_owned(),
    }
}

/// The same value with no longer texts.
fn shortened(value: Value, longest: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, longest)),
        Value::Array(all) => all.into_iter().map(|one| shortened(one, longest)).collect(),
        Value::Object(all) => all.into_iter().map(|(name, one)| (name, shortened(one, longest))).collect(),
        other => other,
    }
}
