//! Sessions: all of them page by page, one of them, its messages page by page, and a message to it.

use std::num::NonZeroUsize;

use app::Moment;
use app::sessions::list::{self, OriginName, SessionOrder};
use app::sessions::{page, show};
use app::workers::send;
use axum::Json;
use axum::extract::State;
use model::{AgentId, Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::message::Message;
use crate::api::page_cursor::{Cursor, page_of};
use crate::extract::{Authorized, JsonBody, PathParams, QueryParams};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// How many sessions a page has without a limit.
const LIMIT: usize = 100;
/// The most sessions of one page.
const MOST: usize = 10_000;

/// Which sessions to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionsQuery {
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    project: Option<String>,
    /// Only sessions last seen on this branch.
    branch: Option<String>,
    /// Only sessions of this origin.
    origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    agent: Option<AgentId>,
    /// Only sessions that a running process has open.
    #[serde(default)]
    running: bool,
    /// Only sessions active since then.
    since: Option<Moment>,
    /// Only sessions that began before this time, or on this day or earlier.
    until: Option<Moment>,
    /// Only sessions that read or changed this file.
    file: Option<String>,
    /// Only sessions that the person gave this tag.
    tag: Option<String>,
    /// Only sessions that the person pinned.
    #[serde(default)]
    pinned: bool,
    /// Only sessions that the person hid, which are left out otherwise.
    #[serde(default)]
    hidden: bool,
    /// Only sessions whose title, first message, project or branch contains all of these words, which spaces separate.
    words: Option<String>,
    /// The order; running sessions first, then pinned ones, then the newest, without it.
    sort: Option<SessionOrder>,
    /// At most so many, up to 10,000; 100 without it.
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<NonZeroUsize>,
    /// The page after this place: `next` of a page.
    cursor: Option<String>,
}

impl SessionsQuery {
    /// What is asked of the list: the filter alone, because order and limit are those of pages.
    fn into_filter(self) -> list::Request {
        let words = self.words.unwrap_or_default();
        list::Request {
            project: self.project,
            branch: self.branch,
            origin: self.origin,
            agent: self.agent,
            running: self.running,
            since: self.since,
            until: self.until,
            file: self.file,
            tag: self.tag,
            pinned: self.pinned,
            compacted: false,
            hidden: self.hidden,
            words: words.split_whitespace().map(str::to_owned).collect(),
            fold: false,
            sort: None,
            limit: None,
        }
    }
}

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionsPage {
    /// The sessions, in the order that was asked for.
    sessions: Vec<Session>,
    /// The `cursor` of the next page; `null` on the last one.
    next: Option<String>,
    /// How many sessions meet the filter, on all pages.
    matching: usize,
    /// How many sessions there are in all.
    known: usize,
    /// How many files and folders could not be read.
    problems: usize,
    /// What else there is to know about the answer, in sentences.
    notes: Vec<String>,
}

/// Which messages to show: the last ones, or those at one place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessagesQuery {
    /// Only what this sub-agent of it said and did.
    subagent: Option<String>,
    /// Messages before this place: `older` of a page.
    before: Option<String>,
    /// Messages after this place: `newer` of a page.
    after: Option<String>,
    /// Messages around the one with this `uuid`, or a prefix of it.
    around: Option<String>,
    /// Messages around the one with this `offset`.
    around_offset: Option<u64>,
    /// At most so many messages, up to 500; 50 without it.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<NonZeroUsize>,
    /// Also what tools did.
    #[serde(default)]
    tools: bool,
    /// Also what the model thought.
    #[serde(default)]
    thinking: bool,
}

pub(super) fn add(routes: &mut Routes) {
    let list_route = get(
        "/api/v1/sessions",
        "list_sessions",
        "Lists sessions, running ones first, then pinned, then newest, or in another order",
    );
    routes.add(list_route.query::<SessionsQuery>().answer::<SessionsPage>(), list);
    routes.add(get("/api/v1/sessions/{session}", "session", "One session").answer::<Session>(), one);
    let messages_route = get("/api/v1/sessions/{session}/messages", "messages", "Some messages of a session");
    routes.add(messages_route.query::<MessagesQuery>().answer::<page::Answer>(), messages);
    let send_route =
        post("/api/v1/sessions/{session}/messages", "send_to_session", "Sends a message to a session");
    routes.add(send_route.body::<Message>().answer::<send::Answer>(), send_message);
}

async fn list(
    State(server): State<Shared>,
    QueryParams(query): QueryParams<SessionsQuery>,
) -> Result<Json<SessionsPage>, Problem> {
    let cursor: Option<Cursor> = query.cursor.as_deref().map(str::parse).transpose()?;
    let limit = query.limit.map_or(LIMIT, NonZeroUsize::get).min(MOST);
    let sort = query.sort;
    if cursor.as_ref().is_some_and(|cursor| cursor.order() != sort) {
        return Err(Problem::usage("the `cursor` is of a page in another order: pass the same `sort`"));
    }
    // The first page needs no more than its own sessions; where another begins, only all of them say.
    let most = (cursor.is_none() && sort.is_none()).then_some(limit + 1);
    let request = list::Request { limit: most, ..query.into_filter() };
    let found = server.ask(move |context| list::list(context, &request)).await?;
    let matching = found.sessions.len() + found.more;
    let mut sessions = found.sessions;
    if sort.is_some() {
        // Of equal ones, too, each has its place.
        sessions.sort_by_cached_key(|session| Cursor::of(session, sort));
    }
    let (sessions, next) = page_of(sessions, cursor.as_ref(), sort, limit);
    Ok(Json(SessionsPage {
        next,
        sessions,
        matching,
        known: found.known,
        problems: found.problems,
        notes: found.notes,
    }))
}

async fn one(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
) -> Result<Json<Session>, Problem> {
    let request = show::Request { session: session.to_string(), ..show::Request::default() };
    let found = server.ask(move |context| show::show(context, request)).await?;
    Ok(Json(found.session))
}

async fn messages(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
    QueryParams(query): QueryParams<MessagesQuery>,
) -> Result<Json<page::Answer>, Problem> {
    let MessagesQuery { subagent, before, after, around, around_offset, limit, tools, thinking } = query;
    let (session, limit) = (session.to_string(), limit.map(NonZeroUsize::get));
    let request =
        page::Request { session, subagent, before, after, around, around_offset, limit, tools, thinking };
    Ok(Json(server.ask(move |context| page::page(context, &request)).await?))
}

async fn send_message(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(session): PathParams<SessionId>,
    JsonBody(said): JsonBody<Message>,
) -> Result<Json<send::Answer>, Problem> {
    said.send(&server, grant, session.to_string()).await
}
