//! What the dashboard's pages ask for: rows of sessions, blocks, outlines, words in a session, pictures, a day to replay,
//! and spending to add up.

use std::num::NonZeroUsize;

use app::Moment;
use app::dashboard::rows::{Row, row};
use app::dashboard::{blocks, day, find, outline, picture, spending};
use app::sessions::list;
use axum::Json;
use axum::extract::State;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::page_cursor::{Cursor, page_of};
use crate::extract::{PathParams, QueryParams};
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The most rows of one page, and how many it has without a limit.
const MOST_ROWS: usize = 10_000;

/// Which blocks to give: the last ones, or those at one place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BlocksQuery {
    /// Only what this sub-agent said and did, from its beginning.
    subagent: Option<String>,
    /// Messages before this place: `older` of a page.
    before: Option<String>,
    /// Messages after this place: `newer` of a page.
    after: Option<String>,
    /// Messages around the one with this `uuid`, or a prefix of it.
    around: Option<String>,
    /// Messages around the one with this `offset`.
    around_offset: Option<u64>,
    /// At most so many messages, up to 500; 100 without it.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<NonZeroUsize>,
    /// Texts of tools at their whole length.
    #[serde(default)]
    whole: bool,
}

/// What to find.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    /// The text, as it is written; capital letters make no difference.
    text: String,
}

/// Which sessions' rows to give.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RowsQuery {
    /// Only sessions of this repository.
    project: Option<String>,
    /// Only sessions active since then.
    since: Option<Moment>,
    /// Only sessions that the person gave this tag.
    tag: Option<String>,
    /// Only sessions that the person pinned.
    #[serde(default)]
    pinned: bool,
    /// Only sessions that the person hid, which are left out otherwise.
    #[serde(default)]
    hidden: bool,
    /// At most so many, up to 10,000; as many without it.
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<NonZeroUsize>,
    /// The page after this place: `next` of a page.
    cursor: Option<String>,
}

/// A page of rows.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionRows {
    /// A row for each session, running ones first, then pinned ones, then the newest.
    rows: Vec<Row>,
    /// The `cursor` of the next page; `null` on the last one.
    next: Option<String>,
    /// How many sessions there are in all.
    known: usize,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/rows", "session_rows", "A short row for each session, for a long list");
    routes.add(route.query::<RowsQuery>().answer::<SessionRows>(), all_rows);
    let route = get("/api/v1/sessions/{session}/blocks", "blocks", "Some messages of a session, whole");
    routes.add(route.query::<BlocksQuery>().answer::<blocks::Answer>(), page);
    let route = get("/api/v1/sessions/{session}/find", "find", "The messages of a session that hold a text");
    routes.add(route.query::<FindQuery>().answer::<find::Answer>(), find_text);
    let route = get("/api/v1/sessions/{session}/outline", "outline", "A session at a glance");
    routes.add(route.answer::<outline::Answer>(), outline_of);
    let path = "/api/v1/sessions/{session}/pictures/{offset}/{number}";
    routes.add(get(path, "picture", "A picture of a session").answer::<picture::Answer>(), one_picture);
    let route = get("/api/v1/replay", "replay", "What sessions did in a span of time, change by change");
    routes.add(route.query::<day::Request>().answer::<day::Answer>(), replay);
    let route = get("/api/v1/spending", "spending", "What each session took on each day");
    routes.add(route.query::<spending::Request>().answer::<spending::Answer>(), all_spending);
}

async fn all_rows(
    State(server): State<Shared>,
    QueryParams(query): QueryParams<RowsQuery>,
) -> Result<Json<SessionRows>, Problem> {
    let RowsQuery { project, since, tag, pinned, hidden, limit, cursor } = query;
    let cursor: Option<Cursor> = cursor.as_deref().map(str::parse).transpose()?;
    if cursor.as_ref().is_some_and(|cursor| cursor.order().is_some()) {
        return Err(Problem::usage("the `cursor` is of another list"));
    }
    let limit = limit.map_or(MOST_ROWS, NonZeroUsize::get).min(MOST_ROWS);
    // The first page needs no more than its own sessions; where another begins, only all of them say.
    let most = cursor.is_none().then_some(limit + 1);
    let request =
        list::Request { project, since, tag, pinned, hidden, limit: most, ..list::Request::default() };
    let found = server.ask(move |context| list::list(context, &request)).await?;
    let (sessions, next) = page_of(found.sessions, cursor.as_ref(), None, limit);
    Ok(Json(SessionRows { rows: sessions.into_iter().map(row).collect(), next, known: found.known }))
}

async fn page(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
    QueryParams(query): QueryParams<BlocksQuery>,
) -> Result<Json<blocks::Answer>, Problem> {
    let BlocksQuery { subagent, before, after, around, around_offset, limit, whole } = query;
    let (session, limit) = (session.to_string(), limit.map(NonZeroUsize::get));
    let request = blocks::Request { session, subagent, before, after, around, around_offset, limit, whole };
    Ok(Json(server.ask(move |context| blocks::blocks(context, &request)).await?))
}

async fn find_text(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
    QueryParams(query): QueryParams<FindQuery>,
) -> Result<Json<find::Answer>, Problem> {
    let request = find::Request { session: session.to_string(), text: query.text };
    Ok(Json(server.ask(move |context| find::find(context, &request)).await?))
}

async fn outline_of(
    State(server): State<Shared>,
    PathParams(session): PathParams<SessionId>,
) -> Result<Json<outline::Answer>, Problem> {
    let request = outline::Request { session: session.to_string() };
    Ok(Json(server.ask(move |context| outline::outline(context, &request)).await?))
}

async fn one_picture(
    State(server): State<Shared>,
    PathParams((session, offset, number)): PathParams<(SessionId, u64, usize)>,
) -> Result<Json<picture::Answer>, Problem> {
    let request = picture::Request { session: session.to_string(), offset, number };
    Ok(Json(server.ask(move |context| picture::picture(context, &request)).await?))
}

async fn replay(
    State(server): State<Shared>,
    QueryParams(request): QueryParams<day::Request>,
) -> Result<Json<day::Answer>, Problem> {
    Ok(Json(server.ask(move |context| day::day(context, &request)).await?))
}

async fn all_spending(
    State(server): State<Shared>,
    QueryParams(request): QueryParams<spending::Request>,
) -> Result<Json<spending::Answer>, Problem> {
    Ok(Json(server.ask(move |context| spending::spending(context, &request)).await?))
}
