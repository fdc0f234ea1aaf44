//! What was said in a session, in CrewHub's two shapes: as messages of blocks, and as the bubbles of a chat.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use app::sessions::page::{self, PagedMessage, Piece};
use app::sessions::show::Role;
use app::{Context, Error};
use axum::Json;
use axum::extract::State;
use model::{SessionActivity, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::crewhub::change::milliseconds;
use crate::crewhub::chat_key::ChatKey;
use crate::crewhub::context::SEPARATOR;
use crate::crewhub::history_positions::HistoryPositions;
use crate::crewhub::key::Key;
use crate::crewhub::sessions::{UPDATED, thin};
use crate::extract::{PathParams, QueryParams};
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// How many messages are shown without a limit, and at most.
const LIMIT: usize = 50;
const MOST: usize = 500;
/// The same in a chat.
const CHAT_LIMIT: usize = 30;
const CHAT_MOST: usize = 100;
/// How many records are read at a time; several are one message of a chat.
const STEP: usize = 200;
/// How much text messages have before no more are read, in bytes.
const ENOUGH: usize = 4 << 20;
/// The longest text of a message that is shown, in bytes.
const LONGEST_TEXT: usize = 256 << 10;
/// The longest result of a tool that is shown, in characters.
const LONGEST_RESULT: usize = 500;
/// The status of a tool that has no result yet.
const CALLED: &str = "called";

/// How many messages to show.
#[derive(Debug, Deserialize, JsonSchema)]
struct HistoryQuery {
    /// Up to 500; 50 without it.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<NonZeroUsize>,
}

/// Messages of a session.
#[derive(Debug, Serialize, JsonSchema)]
struct History {
    /// Oldest first.
    messages: Vec<Value>,
    count: usize,
    /// Always `standard`.
    format: &'static str,
}

/// Which messages of a chat to show.
#[derive(Debug, Deserialize, JsonSchema)]
struct ChatQuery {
    /// Up to 100; 30 without it.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<NonZeroUsize>,
    /// Only messages before this time, in milliseconds since 1970.
    before: Option<i64>,
    /// Also what tools were given and answered.
    #[serde(default)]
    raw: bool,
}

/// Messages of a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Chat {
    /// Oldest first.
    messages: Vec<Bubble>,
    has_more: bool,
    /// The time of the first of them.
    oldest_timestamp: Option<i64>,
}

/// A message of a chat: everything that one side said and did in a row.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bubble {
    id: String,
    /// `user`, `assistant` or `system`.
    role: &'static str,
    content: String,
    timestamp: i64,
    tokens: u64,
    tools: Vec<Value>,
    content_segments: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thinking: Vec<String>,
    /// The ids of the calls of `tools`.
    #[serde(skip)]
    calls: Vec<String>,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/sessions/{key}/history", "history", "The last messages of a session");
    routes.add(route.query::<HistoryQuery>().answer::<History>(), history);
    let route = get("/api/chat/{key}/history", "chat_history", "The messages of a chat");
    routes.add(route.query::<ChatQuery>().answer::<Chat>(), chat);
}

async fn history(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
    QueryParams(query): QueryParams<HistoryQuery>,
) -> Result<Json<History>, Problem> {
    let limit = query.limit.map_or(LIMIT, NonZeroUsize::get).min(MOST);
    let Some(session) = key.session(&server.store) else {
        return Ok(Json(History { messages: Vec::new(), count: 0, format: "standard" }));
    };
    let last = server.ask(move |context| last(context, &session, limit)).await?;
    let messages: Vec<Value> = last.iter().map(message).collect();
    Ok(Json(History { count: messages.len(), messages, format: "standard" }))
}

/// The last messages: a page ends early where its records are large.
fn last(context: &Context, session: &SessionId, limit: usize) -> Result<Vec<PagedMessage>, Error> {
    let (mut all, mut before): (Vec<PagedMessage>, Option<String>) = (Vec::new(), None);
    loop {
        let page = read(context, session, before, limit - all.len())?;
        all.splice(0..0, page.messages);
        if all.len() >= limit || page.older.is_none() || all.iter().map(length).sum::<usize>() >= ENOUGH {
            return Ok(all);
        }
        before = page.older;
    }
}

/// How much text a message has, in bytes.
fn length(paged: &PagedMessage) -> usize {
    let lengths = paged.message.parts.iter().map(|piece| match piece {
        Piece::Text { text } | Piece::Thinking { text } => text.len(),
        Piece::ToolUse { .. } | Piece::ToolResult { .. } | Piece::Image => 0,
    });
    lengths.sum()
}

fn read(
    context: &Context,
    session: &SessionId,
    before: Option<String>,
    limit: usize,
) -> Result<page::Answer, Error> {
    let session = session.to_string();
    let request = page::Request {
        session,
        before,
        limit: Some(limit),
        tools: true,
        thinking: true,
        ..page::Request::default()
    };
    let mut page = page::page(context, &request)?;
    let parts = page.messages.iter_mut().flat_map(|paged| &mut paged.message.parts);
    parts.for_each(shorten);
    Ok(page)
}

/// Cuts off what a browser could not show: a message can be a file of a hundred megabytes.
fn shorten(piece: &mut Piece) {
    let (Piece::Text { text } | Piece::Thinking { text }) = piece else { return };
    if text.len() > LONGEST_TEXT {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        let left = (whole - text.len()) >> 10;
        let _ = write!(text, "\n\n… {left} KiB more are not shown");
    }
}

/// A message as blocks.
fn message(paged: &PagedMessage) -> Value {
    let blocks: Vec<Value> =
        paged.message.parts.iter().zip(0..).map(|(piece, place)| block(piece, paged.offset, place)).collect();
    json!({
        "role": role(paged.message.role),
        "content": blocks,
        "timestamp": milliseconds(paged.message.at),
        "metadata": { "uuid": paged.message.uuid, "offset": paged.offset },
    })
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "toolResult",
        Role::Note => "system",
    }
}

fn block(piece: &Piece, offset: u64, place: usize) -> Value {
    match piece {
        Piece::Text { text } => json!({ "type": "text", "text": text }),
        Piece::Thinking { text } => json!({ "type": "thinking", "thinking": text }),
        Piece::ToolUse { name, input, id } => {
            let id = if id.is_empty() { &format!("{offset}-{place}") } else { id };
            json!({ "type": "toolCall", "id": id, "name": name, "arguments": { "input": input } })
        }
        Piece::ToolResult { text, is_error, call } => json!({
            "type": "toolResult",
            "toolCallId": call,
            "content": [{ "type": "text", "text": text }],
            "isError": is_error,
        }),
        Piece::Image => json!({ "type": "text", "text": "[image]" }),
    }
}

async fn chat(
    State(server): State<Shared>,
    ChatKey(key): ChatKey,
    QueryParams(query): QueryParams<ChatQuery>,
) -> Result<Json<Chat>, Problem> {
    let limit = query.limit.map_or(CHAT_LIMIT, NonZeroUsize::get).min(CHAT_MOST);
    let Some(session) = key.session(&server.store) else {
        return Ok(Json(Chat { messages: Vec::new(), has_more: false, oldest_timestamp: None }));
    };
    let chat = server
        .work(move |server, context| {
            let chat = gather(context, &server.history_positions, &session, &query, limit)?;
            if query.before.is_none() {
                tell_what_is_asked(server, context, &session);
            }
            Ok(chat)
        })
        .await?;
    Ok(Json(chat))
}

/// Publishes that a session waits for a person, for a chat that was just opened: the front end takes this from events only.
fn tell_what_is_asked(server: &Server, context: &Context, session: &SessionId) {
    let live = server.hub.live().and_then(|live| live.snapshot(context).ok());
    let info = live.and_then(|live| live.sessions.into_iter().find(|info| info.session_id == *session));
    if let Some(info) = info.filter(|info| info.activity.is_blocked()) {
        let thin = thin(server, &SessionActivity::new(session, &info.activity));
        server.hub.publish_to_crewhub(&(UPDATED, thin));
    }
}

/// Reads back until there are enough messages of a chat.
fn gather(
    context: &Context,
    positions: &HistoryPositions,
    session: &SessionId,
    query: &ChatQuery,
    limit: usize,
) -> Result<Chat, Error> {
    let mut before = query.before.and_then(|time| positions.find(session, time));
    // From a place that is known everything before it is wanted, whatever its time: clocks stand still and go back.
    let is_placed = before.is_some();
    let mut records: Vec<PagedMessage> = Vec::new();
    loop {
        let page = read(context, session, before.take(), STEP)?;
        records.splice(0..0, page.messages);
        let is_wanted = |record: &PagedMessage| {
            is_placed || query.before.is_none_or(|time| milliseconds(record.message.at) < Some(time))
        };
        let cut = records.iter().rposition(is_wanted).map_or(0, |last| last + 1);
        let bubbles = grouped(&records[..cut], query.raw);
        let text: usize = bubbles.iter().map(|(bubble, _)| bubble.content.len()).sum();
        if bubbles.len() <= limit && text < ENOUGH && page.older.is_some() {
            before = page.older;
            continue;
        }
        let has_more = bubbles.len() > limit || page.older.is_some();
        let shown = bubbles.len().saturating_sub(limit);
        let oldest_timestamp = bubbles.get(shown).map(|(bubble, _)| bubble.timestamp);
        if let (Some(time), Some((_, offset))) = (oldest_timestamp, bubbles.get(shown)) {
            positions.keep(session, time, offset.to_string());
        }
        let messages = bubbles.into_iter().skip(shown).map(|(bubble, _)| bubble).collect();
        return Ok(Chat { messages, has_more, oldest_timestamp });
    }
}

/// Records as messages of a chat, each with the place where it begins: what a model says and does in one go is one message.
fn grouped(records: &[PagedMessage], raw: bool) -> Vec<(Bubble, u64)> {
    let mut all: Vec<(Bubble, u64)> = Vec::new();
    for record in records {
        let role = match record.message.role {
            Role::User => "user",
            Role::Assistant | Role::Tool => "assistant",
            Role::Note => "system",
        };
        let goes_on = role == "assistant" && all.last().is_some_and(|(last, _)| last.role == role);
        if !goes_on {
            let uuid = record.message.uuid.clone();
            let bubble = Bubble {
                id: uuid.unwrap_or_else(|| format!("msg-{}", record.offset)),
                role,
                content: String::new(),
                timestamp: milliseconds(record.message.at).unwrap_or_default(),
                tokens: 0,
                tools: Vec::new(),
                content_segments: Vec::new(),
                thinking: Vec::new(),
                calls: Vec::new(),
            };
            all.push((bubble, record.offset));
        }
        if let Some((bubble, _)) = all.last_mut() {
            record.message.parts.iter().for_each(|piece| bubble.add(piece, raw));
        }
    }
    all.retain(|(bubble, _)| !bubble.content.is_empty() || !bubble.tools.is_empty());
    all
}

impl Bubble {
    fn add(&mut self, piece: &Piece, raw: bool) {
        match piece {
            Piece::Text { text } => {
                let text = text.split_once(SEPARATOR).map_or(text.as_str(), |(_, words)| words).trim();
                if !self.content.is_empty() && !text.is_empty() {
                    self.content.push('\n');
                }
                self.content += text;
                self.content_segments.push(json!({ "type": "text", "text": text }));
            }
            Piece::Thinking { text } => {
                self.content_segments.push(json!({ "type": "thinking", "thinking": text }));
                if raw {
                    self.thinking.push(text.clone());
                }
            }
            Piece::ToolUse { name, input, id } => {
                let mut tool = json!({ "name": name, "status": CALLED, "label": label(input) });
                if raw {
                    tool["input"] = json!({ "input": input });
                }
                self.calls.push(id.clone());
                self.do_with(tool);
            }
            Piece::ToolResult { text, is_error, call } => {
                let status = if *is_error { "error" } else { "done" };
                let result = raw.then(|| text.chars().take(LONGEST_RESULT).collect::<String>());
                self.end_tool(call, status, result.as_deref());
            }
            Piece::Image => self.content_segments.push(json!({ "type": "text", "text": "[image]" })),
        }
    }

    fn do_with(&mut self, tool: Value) {
        self.content_segments.push(json!({ "type": "tool", "tool": tool }));
        self.tools.push(tool);
    }

    /// Gives a call its result: the call with this id, or the first one that has none yet where calls have no ids.
    fn end_tool(&mut self, call: &str, status: &str, result: Option<&str>) {
        let by_id = self.calls.iter().position(|id| !call.is_empty() && id == call);
        let place = by_id.or_else(|| {
            let is_open = |(tool, id): (&Value, &String)| tool["status"] == CALLED && id.is_empty();
            self.tools.iter().zip(&self.calls).position(is_open)
        });
        let Some(place) = place else { return };
        let shown = self.content_segments.iter_mut().filter_map(|segment| segment.get_mut("tool")).nth(place);
        for tool in [self.tools.get_mut(place), shown].into_iter().flatten() {
            tool["status"] = json!(status);
            if let Some(result) = result {
                tool["result"] = json!(result);
            }
        }
    }
}

/// The beginning of what a tool is called with.
pub(super) fn label(input: &str) -> String {
    let line = input.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
