//! Finding and choosing: search, fork, pick.

use std::num::NonZeroUsize;

use app::choose::{self, pick};
use app::proceed::fork_request;
use app::search::{self, Mode, Role, SourceKind};
use app::sessions::list::OriginName;
use app::{Moment, NextStep};
use axum::Json;
use axum::extract::State;
use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::known_place::known;
use crate::extract::{Authorized, JsonBody, QueryParams, check_limit};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::TokenScope;
use crate::state::Shared;

/// The most sessions that one search answers with.
const MOST: usize = 200;
/// The most copies of a session that a hit names.
const MOST_COPIES: usize = 100;

/// What to search for, and where: the fields of the same question in a body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    /// What to look for; filters such as `project:web` may be among the words.
    query: String,
    /// Only sessions of this repository.
    project: Option<String>,
    /// Only sessions last seen on this branch.
    branch: Option<String>,
    /// Only sessions of this origin.
    origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    agent: Option<AgentId>,
    /// Only from this source.
    source: Option<SourceKind>,
    /// Only this session.
    session: Option<String>,
    /// Only what was said or done by the person, the model or a tool.
    role: Option<Role>,
    /// Only sessions that touched this file.
    file: Option<String>,
    /// Only what was said since then.
    since: Option<Moment>,
    /// Only what was said before this time, or on this day or earlier.
    until: Option<Moment>,
    /// Whether to search by words, by meaning, or both.
    #[serde(default)]
    mode: Mode,
    /// At most so many sessions, up to 200; 10 without it.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<NonZeroUsize>,
    /// How many seconds old the list of files may be, for a client that asks at every key; 0 without it.
    #[serde(default)]
    max_age_seconds: u32,
}

pub(super) fn add(routes: &mut Routes) {
    let by_query = get("/api/v1/search", "search", "Finds the sessions that answer a question");
    routes.add(by_query.query::<SearchQuery>().answer::<search::Answer>(), search_by_query);
    let by_body = post("/api/v1/search", "search_by_body", "Finds the sessions that answer a question");
    let by_body = by_body.scope(TokenScope::Read);
    routes.add(by_body.body::<search::Request>().answer::<search::Answer>(), search_by_body);
    let fork_route =
        post("/api/v1/fork", "fork", "Finds the sessions that know most about an intent, and forks one");
    routes.add(fork_route.body::<fork_request::Request>().answer::<fork_request::Answer>(), fork);
    let pick_route = post("/api/v1/pick", "pick", "Chooses the session that a task should go to");
    let pick_route = pick_route.scope(TokenScope::Read);
    routes
        .add(pick_route.body::<choose::request::Request>().answer::<choose::answer::Answer>(), pick_session);
}

async fn search_by_query(
    State(server): State<Shared>,
    QueryParams(query): QueryParams<SearchQuery>,
) -> Result<Json<search::Answer>, Problem> {
    let asked = query;
    let request = search::Request {
        query: asked.query,
        project: asked.project,
        branch: asked.branch,
        origin: asked.origin,
        agent: asked.agent,
        source: asked.source,
        session: asked.session,
        role: asked.role,
        file: asked.file,
        since: asked.since,
        until: asked.until,
        mode: asked.mode,
        limit: asked.limit.map(NonZeroUsize::get),
        max_age_seconds: asked.max_age_seconds,
        ..search::Request::default()
    };
    answer(&server, request).await
}

async fn search_by_body(
    State(server): State<Shared>,
    JsonBody(request): JsonBody<search::Request>,
) -> Result<Json<search::Answer>, Problem> {
    answer(&server, request).await
}

async fn answer(server: &Shared, mut request: search::Request) -> Result<Json<search::Answer>, Problem> {
    request.limit.map_or(Ok(()), check_limit)?;
    request.limit = request.limit.map(|limit| limit.min(MOST));
    let mut found = server.ask(move |context| search::search(context, &request)).await?;
    if found.hits.iter().any(|hit| hit.also_in.len() > MOST_COPIES) {
        found.notes.push(format!(
            "`also_in` names the first {MOST_COPIES} of the sessions that hold the same record"
        ));
    }
    found.hits.iter_mut().for_each(|hit| hit.also_in.truncate(MOST_COPIES));
    Ok(Json(found))
}

async fn fork(
    State(server): State<Shared>,
    JsonBody(request): JsonBody<fork_request::Request>,
) -> Result<Json<fork_request::Answer>, Problem> {
    check_limit(request.limit)?;
    let found = server.ask(move |context| fork_request::forks(context, &request)).await?;
    Ok(Json(found.worded(NextStep::to_string)))
}

async fn pick_session(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    JsonBody(request): JsonBody<choose::request::Request>,
) -> Result<Json<choose::answer::Answer>, Problem> {
    let picked = server.ask(move |context| {
        let repo = known(context, grant.scope(), request.repo.clone())?;
        pick::pick(context, &choose::request::Request { repo, ..request })
    });
    Ok(Json(picked.await?))
}
