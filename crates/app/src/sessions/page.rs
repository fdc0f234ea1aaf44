//! `page`: some messages of a session at a time, for interfaces that show a long conversation piece by piece.
//!
//! A page costs its own bytes, however long the transcript is; only a `uuid`, and a branch that was left far back, are
//! searched for.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::record::Record;
use transcript::{Page, Position, message, offset_of, page_after, page_before, position_after};

use crate::sessions::citation::{offset_of_line, split_line};
use crate::sessions::locate::{Files, locate};
use crate::sessions::message::{PartFilter, ToolDetail};
pub use crate::sessions::message::{Piece, ShownMessage};
use crate::sessions::openclaw_conversation;
use crate::{Context, Error, Kind};

/// How many messages a page has without a limit.
const LIMIT: usize = 50;
/// The most messages of one page.
const MOST: usize = 500;

/// Which messages to show: the last ones, or those at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PageRequest")]
pub struct Request {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it; `ID:LINE`, as places are cited, shows the
    /// messages around that line.
    pub session: String,
    /// Messages before this place: `older` of a page.
    pub before: Option<String>,
    /// Messages after this place: `newer` of a page.
    pub after: Option<String>,
    /// Messages around the one with this `uuid`, or a prefix of it, which takes a search through the transcript.
    pub around: Option<String>,
    /// Messages around the one with this `offset`. A search result has it too, where its `file` is the session's own.
    pub around_offset: Option<u64>,
    /// At most so many messages, up to 500; 50 without it.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
    /// Also what tools did.
    #[serde(default)]
    pub tools: bool,
    /// Also what the model thought.
    #[serde(default)]
    pub thinking: bool,
}

/// Consecutive messages of a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PageAnswer")]
pub struct Answer {
    /// The session's id.
    pub session_id: SessionId,
    /// The messages, oldest first.
    pub messages: Vec<PagedMessage>,
    /// The place before which there are more; `null` at the beginning.
    pub older: Option<String>,
    /// The place after the last of them; what is written later is found there.
    pub newer: String,
    /// Whether nothing is written after them yet.
    pub is_last: bool,
}

/// A message and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PagedMessage {
    /// The message itself.
    #[serde(flatten)]
    pub message: ShownMessage,
    /// Where its line begins in the transcript, in bytes; in an OpenClaw conversation its number, from 0.
    pub offset: u64,
}

/// The place a request asks for.
pub(crate) enum Place {
    Before(Option<Position>),
    After(Position),
    Around(String),
    AroundOffset(u64),
}

/// Shows a page of a session's main branch.
pub fn page(context: &Context, request: &Request) -> Result<Answer, Error> {
    let mut place = place(request)?;
    let limit = request.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let (session, line) = split_line(&request.session);
    let located = locate(context, session)?;
    if let (Some(line), Place::Before(None), Files::Claude(file)) = (line, &place, &located.files) {
        place = around_line(file, line, &located.id)?;
    }
    let tools = if request.tools { ToolDetail::Full } else { ToolDetail::None };
    let parts = PartFilter { tools, thinking: request.thinking, secrets: context.secrets };
    if let Files::Claude(file) = &located.files
        && is_beyond(file, &place)
    {
        let message = format!("the transcript of session {} was replaced since that page", located.id);
        return Err(Error::new(Kind::NotFound, message).hint("begin again with the last page"));
    }
    let Some(page) = read(&located.files, &place, limit, parts)? else {
        let wanted = match (&request.around, request.around_offset) {
            (Some(uuid), _) => format!("with the id `{uuid}`"),
            (None, offset) => format!("at {}", offset.unwrap_or_default()),
        };
        let message = format!("session {} has no message {wanted}", located.id);
        return Err(Error::new(Kind::NotFound, message));
    };
    Ok(Answer {
        session_id: located.id,
        messages: page.items,
        older: page.older.map(|older| older.to_string()),
        newer: page.newer.to_string(),
        is_last: page.is_last,
    })
}

/// The place of a line that is cited as `ID:LINE`.
fn around_line(file: &Path, line: u64, id: &SessionId) -> Result<Place, Error> {
    let offset = offset_of_line(file, line).map_err(|error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    })?;
    let missing = || Error::new(Kind::NotFound, format!("session {id} has no line {line}"));
    offset.map(Place::AroundOffset).ok_or_else(missing)
}

/// The last messages of a conversation's main branch, oldest first.
pub(crate) fn last(files: &Files, count: usize, parts: PartFilter) -> Result<Vec<ShownMessage>, Error> {
    let mut pages = Vec::new();
    let (mut left, mut before) = (count, None);
    while left > 0 {
        let Some(page) = read(files, &Place::Before(before), left.min(MOST), parts)? else { break };
        left = left.saturating_sub(page.items.len());
        before = page.older;
        pages.push(page.items);
        if before.is_none() {
            break;
        }
    }
    Ok(pages.into_iter().rev().flatten().map(|paged| paged.message).collect())
}

fn read(
    files: &Files,
    place: &Place,
    limit: usize,
    parts: PartFilter,
) -> Result<Option<Page<PagedMessage>>, Error> {
    match files {
        Files::Claude(file) => {
            let show = |record: &Record<'_>, offset: u64| {
                let message = message(record).filter(|message| !message.sidechain)?;
                Some(PagedMessage { message: parts.shown(&message, None)?, offset })
            };
            of_claude(file, place, limit, show).map_err(|error| {
                Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
            })
        }
        Files::OpenClaw(files) => of_openclaw(files, place, limit, parts),
        Files::Ghost(messages) => Ok(numbered(messages.clone(), place, limit)),
    }
}

pub(crate) fn place(request: &Request) -> Result<Place, Error> {
    let position = |name: &str, text: &str| {
        text.parse::<Position>().map_err(|_| {
            Error::new(Kind::Usage, format!("`{name}` is `{text}`, which is no place that a page gave"))
                .hint("take `older` or `newer` of a page")
        })
    };
    match (&request.before, &request.after, &request.around, request.around_offset) {
        (before, None, None, None) => {
            Ok(Place::Before(before.as_deref().map(|text| position("before", text)).transpose()?))
        }
        (None, Some(after), None, None) => Ok(Place::After(position("after", after)?)),
        (None, None, Some(around), None) => Ok(Place::Around(around.clone())),
        (None, None, None, Some(offset)) => Ok(Place::AroundOffset(offset)),
        _ => Err(Error::new(
            Kind::Usage,
            "only one of `before`, `after`, `around` and `around_offset` can be given",
        )),
    }
}

/// Whether a place is beyond the end of a transcript, which only grows.
pub(crate) fn is_beyond(file: &Path, place: &Place) -> bool {
    let offset = match place {
        Place::Before(before) => before.as_ref().map_or(0, |before| before.offset),
        Place::After(after) => after.offset,
        Place::AroundOffset(offset) => *offset,
        Place::Around(_) => 0,
    };
    file.metadata().is_ok_and(|metadata| offset > metadata.len())
}

/// A page of a transcript of Claude Code; `None` where no record has the id that is asked for.
pub(crate) fn of_claude<T>(
    file: &Path,
    place: &Place,
    limit: usize,
    show: impl Fn(&Record<'_>, u64) -> Option<T>,
) -> io::Result<Option<Page<T>>> {
    let offset = match place {
        Place::Before(before) => return page_before(file, *before, limit, &show).map(Some),
        Place::After(after) => return page_after(file, *after, limit, &show).map(Some),
        Place::AroundOffset(offset) => Some(*offset),
        Place::Around(uuid) => offset_of(file, uuid)?,
    };
    let Some(offset) = offset else { return Ok(None) };
    let middle = position_after(file, offset)?;
    if limit == 1 {
        return page_before(file, Some(middle), 1, &show).map(Some);
    }
    let after = page_after(file, middle, limit / 2, &show)?;
    // The record itself is the last of the first half, which is longer where little follows.
    let before = page_before(file, Some(middle), limit.saturating_sub(after.items.len()).max(1), &show)?;
    Ok(Some(joined(before, after)))
}

fn joined<T>(mut before: Page<T>, after: Page<T>) -> Page<T> {
    before.items.extend(after.items);
    Page {
        items: before.items,
        older: before.older,
        bytes_read: before.bytes_read + after.bytes_read,
        ..after
    }
}

/// A page of an OpenClaw conversation, whose messages are numbered; they are few, so all are read.
fn of_openclaw(
    files: &[PathBuf],
    place: &Place,
    limit: usize,
    parts: PartFilter,
) -> Result<Option<Page<PagedMessage>>, Error> {
    let mut all: Vec<ShownMessage> = Vec::new();
    for file in files {
        openclaw_conversation::each(file, parts, &mut |shown| {
            all.push(shown);
            Ok::<_, Error>(())
        })?;
    }
    Ok(numbered(all, place, limit))
}

/// A page of messages that are numbered from 0.
fn numbered(mut all: Vec<ShownMessage>, place: &Place, limit: usize) -> Option<Page<PagedMessage>> {
    let length = all.len();
    let at = |position: &Position| usize::try_from(position.offset).unwrap_or(usize::MAX).min(length);
    let range = match place {
        Place::Before(before) => {
            let end = before.as_ref().map_or(length, at);
            end.saturating_sub(limit)..end
        }
        Place::After(after) => at(after)..at(after).saturating_add(limit).min(length),
        Place::AroundOffset(number) => match usize::try_from(*number) {
            Ok(number) if number < length => around(number, limit, length),
            _ => return None,
        },
        Place::Around(wanted) => {
            let is_wanted = |shown: &ShownMessage| {
                shown.uuid.as_deref().is_some_and(|uuid| uuid.starts_with(wanted.as_str()))
            };
            let middle = all.iter().position(is_wanted)?;
            around(middle, limit, length)
        }
    };
    let messages = all.drain(range.clone()).zip(range.start as u64..);
    Some(Page {
        items: messages.map(|(message, offset)| PagedMessage { message, offset }).collect(),
        older: (range.start > 0).then(|| Position::at(range.start as u64)),
        newer: Position::at(range.end as u64),
        is_last: range.end == length,
        bytes_read: 0,
    })
}

/// The messages around one of them, which is the last of the first half.
fn around(middle: usize, limit: usize, length: usize) -> Range<usize> {
    let start = (middle + 1).saturating_sub(limit.div_ceil(2));
    start..(start + limit).min(length)
}
