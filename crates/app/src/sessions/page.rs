//! `page`: some messages of a session at a time, for interfaces that show a long conversation piece by piece.
//!
//! A page costs its own bytes, however long the transcript is; only a `uuid`, and a branch that was left far back, are
//! searched for.

use std::io;
use std::path::{Path, PathBuf};

use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::record::Record;
use transcript::{
    Page, Position, SettledPrompts, line_start, offset_of, page_after, page_before, position_after,
    subagents_of,
};

use crate::sessions::citation::{offset_of_line, split_line};
use crate::sessions::locate::{Files, Located, locate};
use crate::sessions::message::{PartFilter, ToolDetail};
pub use crate::sessions::message::{Piece, ShownMessage};
pub use crate::sessions::whole_pages::PagedMessage;
pub(crate) use crate::sessions::whole_pages::Place;
use crate::sessions::{totals, whole_pages};
use crate::{Context, Error, Kind, NextStep};

/// How many messages a page has without a limit.
const LIMIT: usize = 50;
/// The most messages of one page.
const MOST: usize = 500;

/// Which messages to show: the last ones, or those at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PageRequest")]
pub struct Request {
    /// The id, or a prefix of it, of a session or an OpenClaw conversation, or the file of a note; `ID:LINE`, as in a
    /// citation, shows the messages around that line.
    pub session: String,
    /// Show the messages of this sub-agent, by its id, instead of the session's own.
    pub subagent: Option<String>,
    /// Messages before this place: `older` of a page.
    pub before: Option<String>,
    /// Messages after this place: `newer` of a page.
    pub after: Option<String>,
    /// Messages around the one with this `uuid` or a prefix of it.
    pub around: Option<String>,
    /// Messages around the one with this `offset`, as messages and search results have it; for a search result with a
    /// `subagent_id`, give that as `subagent`, too.
    pub around_offset: Option<u64>,
    /// The maximum number of messages, up to 500; default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
    /// Include tool calls and their results.
    #[serde(default)]
    pub tools: bool,
    /// Include the model's thinking.
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

/// Shows a page of a session's main branch.
pub fn page(context: &Context, request: &Request) -> Result<Answer, Error> {
    let mut place = place(request)?;
    let limit = request.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let (session, line) = split_line(&request.session);
    let located = locate(context, session)?;
    if let (Some(line), Place::Before(None)) = (line, &place) {
        place = Place::AroundLine(line);
    }
    let agent = request.subagent.as_deref().filter(|agent| !agent.is_empty());
    let of_agent = agent.map(|agent| subagent_file(context, &located, agent)).transpose()?;
    let tools = if request.tools { ToolDetail::Full } else { ToolDetail::None };
    let parts = PartFilter { tools, thinking: request.thinking, secrets: context.secrets };
    if let (Files::Claude(file), None) = (&located.files, &of_agent)
        && is_beyond(file, &place)
    {
        return Err(replaced(&located.id));
    }
    let page = match &of_agent {
        Some(file) => whole_pages::of_subagent(file, &place, limit, parts)?,
        None => read(&located.files, &place, limit, parts)?,
    };
    let Some(page) = page else { return Err(missing(&located.id, agent, &place)) };
    Ok(Answer {
        session_id: located.id,
        messages: page.items,
        older: page.older.map(|older| older.to_string()),
        newer: page.newer.to_string(),
        is_last: page.is_last,
    })
}

/// The transcript of a sub-agent of a session.
fn subagent_file(context: &Context, located: &Located, agent: &str) -> Result<PathBuf, Error> {
    let beside = match &located.files {
        Files::Claude(file) => subagents_of(file).into_iter().find(|file| file.id == agent),
        _ => None,
    };
    if let Some(beside) = beside {
        return Ok(beside.path);
    }
    // Older releases keep them beside the transcripts of all sessions.
    let session = match &located.session {
        Some(session) => Some((**session).clone()),
        None => totals::find(context, &located.id)?,
    };
    let known = session.as_ref().and_then(|session| session.subagents.iter().find(|known| known.id == agent));
    known.map(|known| known.file.clone()).ok_or_else(|| {
        Error::new(Kind::NotFound, format!("session {} has no sub-agent `{agent}`", located.id))
            .hint("give the `subagent_id` of a search result, or leave `subagent` out")
    })
}

/// The error for a place beyond the end of a transcript.
pub(crate) fn replaced(id: &SessionId) -> Error {
    Error::new(Kind::NotFound, format!("the transcript of session {id} was replaced since that page"))
        .hint("begin again with the last page")
        .next(NextStep::Show { session: id.clone() })
}

fn missing(id: &SessionId, agent: Option<&str>, place: &Place) -> Error {
    let who =
        agent.map_or_else(|| format!("session {id}"), |agent| format!("sub-agent `{agent}` of session {id}"));
    let what = match place {
        Place::Around(uuid) => format!("message with the id `{uuid}`"),
        Place::AroundLine(line) => format!("line {line}"),
        Place::AroundOffset(offset) => format!("message at {offset}"),
        Place::Before(_) | Place::After(_) => "such message".to_owned(),
    };
    let error = Error::new(Kind::NotFound, format!("{who} has no {what}"));
    let error = match (agent, place) {
        (None, Place::AroundOffset(_) | Place::AroundLine(_)) => {
            error.hint("where a search result names a `subagent_id`, give that as `subagent`")
        }
        _ => error,
    };
    error.next(NextStep::ShowRecords { session: id.clone() })
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
    let all: Vec<_> = pages.into_iter().rev().flatten().map(|paged| paged.message).collect();
    // One record may hold two messages.
    let begin = all.len().saturating_sub(count);
    Ok(all.into_iter().skip(begin).collect())
}

fn read(
    files: &Files,
    place: &Place,
    limit: usize,
    parts: PartFilter,
) -> Result<Option<Page<PagedMessage>>, Error> {
    match files {
        Files::Claude(file) => {
            let prompts = SettledPrompts::new(file);
            let show = |record: &Record<'_>, offset: u64| {
                let shown = prompts
                    .messages(record, offset)
                    .filter(|message| !message.sidechain)
                    .filter_map(|message| parts.shown(&message, None));
                let shown: Vec<_> = shown.map(|message| PagedMessage { message, offset }).collect();
                (!shown.is_empty()).then_some(shown)
            };
            let page = of_claude(file, place, limit, show).map_err(|error| {
                Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
            })?;
            Ok(page.map(|Page { items, older, newer, is_last, bytes_read }| Page {
                items: items.into_iter().flatten().collect(),
                older,
                newer,
                is_last,
                bytes_read,
            }))
        }
        Files::OpenClaw(files) => whole_pages::of_openclaw(files, place, limit, parts),
        Files::Messages(messages) => Ok(whole_pages::numbered(messages.clone(), place, limit)),
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
        )
        .hint("leave out all but the one that names the place")),
    }
}

/// Whether a place is beyond the end of a transcript, which only grows.
pub(crate) fn is_beyond(file: &Path, place: &Place) -> bool {
    let offset = place.offset();
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
        // What is cited begins a line: any other place is one of another file.
        Place::AroundOffset(offset) => {
            Some(*offset).filter(|_| line_start(file, *offset).is_ok_and(|start| start == *offset))
        }
        Place::AroundLine(line) => offset_of_line(file, *line)?,
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
