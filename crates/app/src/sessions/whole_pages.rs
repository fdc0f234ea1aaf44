//! Places in a conversation, and pages of one that is short enough to be read as a whole: a sub-agent's, OpenClaw's,
//! and one that is in no transcript.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use transcript::{Page, Position, Reader, messages};

use crate::sessions::message::{PartFilter, ShownMessage};
use crate::sessions::openclaw_conversation;
use crate::{Error, Kind};

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
    AroundLine(u64),
}

impl Place {
    /// Where it is, in bytes or messages, as far as it says so.
    pub(crate) fn offset(&self) -> u64 {
        match self {
            Self::Before(before) => before.as_ref().map_or(0, |before| before.offset),
            Self::After(after) => after.offset,
            Self::AroundOffset(offset) => *offset,
            Self::Around(_) | Self::AroundLine(_) => 0,
        }
    }
}

/// A page of an OpenClaw conversation, whose messages are numbered.
pub(crate) fn of_openclaw(
    files: &[PathBuf],
    place: &Place,
    limit: usize,
    parts: PartFilter,
) -> Result<Option<Page<PagedMessage>>, Error> {
    if let (Place::AroundLine(line), [_, _, ..]) = (place, files) {
        let message =
            format!("the conversation is in {} files, so that line {line} is no place", files.len());
        return Err(Error::new(Kind::Ambiguous, message)
            .hint("name the message by its `uuid`, which a search result has, as `around`"));
    }
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
pub(crate) fn numbered(all: Vec<ShownMessage>, place: &Place, limit: usize) -> Option<Page<PagedMessage>> {
    let all = all.into_iter().zip(0..).map(|(message, offset)| PagedMessage { message, offset }).collect();
    of_list(all, place, limit)
}

/// A page of what a sub-agent said and did, in its own file.
pub(crate) fn of_subagent(
    file: &Path,
    place: &Place,
    limit: usize,
    parts: PartFilter,
) -> Result<Option<Page<PagedMessage>>, Error> {
    let read = || {
        let (mut reader, mut all) = (Reader::open(file)?, Vec::new());
        while let Some(line) = reader.next_line()? {
            let Ok(record) = line.record() else { continue };
            let shown = messages(&record).filter_map(|message| parts.shown(&message, None));
            let at_line = |shown| ShownMessage { line: Some(line.number), ..shown };
            all.extend(shown.map(|shown| PagedMessage { message: at_line(shown), offset: line.offset }));
        }
        Ok(all)
    };
    let all = read().map_err(|error: std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    })?;
    Ok(of_list(all, place, limit))
}

/// A page of messages in order; `None` where none is the one that is asked for.
fn of_list(mut all: Vec<PagedMessage>, place: &Place, limit: usize) -> Option<Page<PagedMessage>> {
    let length = all.len();
    let at = |position: &Position| all.partition_point(|paged| paged.offset < position.offset);
    let range = match place {
        Place::Before(before) => {
            let end = before.as_ref().map_or(length, at);
            end.saturating_sub(limit)..end
        }
        Place::After(after) => at(after)..at(after).saturating_add(limit).min(length),
        Place::AroundOffset(offset) => {
            around(all.iter().position(|paged| paged.offset == *offset)?, limit, length)
        }
        Place::Around(wanted) => {
            let is_wanted = |paged: &PagedMessage| {
                paged.message.uuid.as_deref().is_some_and(|uuid| uuid.starts_with(wanted.as_str()))
            };
            around(all.iter().position(is_wanted)?, limit, length)
        }
        // A line whose message is not shown has its place after the one before it.
        Place::AroundLine(line) => {
            let before = |paged: &PagedMessage| paged.message.line.is_some_and(|number| number <= *line);
            around(all.iter().rposition(before)?, limit, length)
        }
    };
    let older = (range.start > 0).then(|| all.get(range.start).map_or(u64::MAX, |paged| paged.offset));
    let newer = range.end.checked_sub(1).map_or(0, |last| all[last].offset + 1);
    Some(Page {
        items: all.drain(range.clone()).collect(),
        older: older.map(|offset| Position::at(offset.min(newer))),
        newer: Position::at(newer),
        is_last: range.end == length,
        bytes_read: 0,
    })
}

/// The messages around one of them, which is the last of the first half.
fn around(middle: usize, limit: usize, length: usize) -> Range<usize> {
    let start = (middle + 1).saturating_sub(limit.div_ceil(2));
    start..(start + limit).min(length)
}
