//! Sessions as CrewHub shows them: those that are alive or were active lately, each with its sub-agents.

use std::num::NonZeroUsize;
use std::path::Path;

use app::live::watch::MonitorSnapshot;
use app::sessions::list;
use app::workers::stop;
use app::{Context, Kind};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::SignedDuration;
use model::{Activity, Evidence, Session, SessionActivity, SessionId, SessionInfo, State as Doing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::crewhub::change::Change;
use crate::crewhub::context;
use crate::crewhub::display_names;
use crate::crewhub::key::Key;
use crate::crewhub::layout::{self, Models};
use crate::extract::{JsonBody, PathParams, QueryParams};
use crate::operation::{delete, get, patch};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// The name of the event of a session that changed.
pub(crate) const UPDATED: &str = "session-updated";
/// For how many minutes a session is shown after something happened in it.
const ACTIVE: i64 = 30;
/// How much is said of what is asked where there are no buttons beside it, in characters.
const SHORT: usize = 24;
/// Up to so many minutes back every session is watched.
const WATCHED: i64 = 60;
/// The longest time to look back, in minutes.
const LONGEST: i64 = 60 * 24 * 3660;
/// How many archived sessions a page has.
const PAGE: usize = 50;

/// Sessions in CrewHub's shape.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CrewSessions {
    /// Running ones and the newest first.
    pub(crate) sessions: Vec<Value>,
}

/// Which sessions to show.
#[derive(Debug, Deserialize, JsonSchema)]
struct SessionsQuery {
    /// Those active within so many minutes; 30 without it.
    #[schemars(range(min = 1))]
    active_minutes: Option<i64>,
}

/// Which page of older sessions to show.
#[derive(Debug, Deserialize, JsonSchema)]
struct ArchivedQuery {
    #[schemars(range(min = 1, max = 500))]
    limit: Option<NonZeroUsize>,
    offset: Option<usize>,
    /// Only sessions with this in their title or project.
    search: Option<String>,
}

/// The most sessions of one answer, the newest ones.
const MOST: usize = 2000;

/// A page of older sessions.
#[derive(Debug, Serialize, JsonSchema)]
struct ArchivedSessions {
    /// The newest first.
    sessions: Vec<ArchivedSession>,
    /// How many there are on all pages.
    total: usize,
    limit: usize,
    offset: usize,
}

/// An older session.
#[derive(Debug, Serialize, JsonSchema)]
struct ArchivedSession {
    session_key: String,
    session_id: SessionId,
    agent_id: String,
    display_name: String,
    minion_type: &'static str,
    model: Option<String>,
    channel: &'static str,
    started_at: Option<String>,
    ended_at: Option<String>,
    message_count: u64,
    /// Always `archived`.
    status: &'static str,
    summary: String,
}

/// Something was done to a session.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionDone {
    success: bool,
    #[serde(rename = "sessionKey")]
    session_key: String,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/sessions", "crew_sessions", "Sessions that are alive or were active lately");
    routes.add(route.query::<SessionsQuery>().answer::<CrewSessions>(), list_all);
    let route = get("/api/sessions/archived", "archived_sessions", "Sessions that have ended, newest first");
    routes.add(route.query::<ArchivedQuery>().answer::<ArchivedSessions>(), archived);
    let route = patch("/api/sessions/{key}", "change_session", "Changes a session's name").body::<Change>();
    routes.add(route.answer::<SessionDone>(), change);
    let route =
        delete("/api/sessions/{key}", "stop_session", "Stops a session's worker").answer::<SessionDone>();
    routes.add(route, end);
    let route =
        get("/api/sessions/{key}/context", "session_context", "The room's part of what an agent gets");
    routes.add(route.answer::<Value>(), room_context);
}

async fn list_all(
    State(server): State<Shared>,
    QueryParams(query): QueryParams<SessionsQuery>,
) -> Result<Json<CrewSessions>, Problem> {
    let minutes = query.active_minutes.map(|minutes| minutes.clamp(1, LONGEST));
    Ok(Json(server.work(move |server, context| crewhub_sessions(server, context, minutes)).await?))
}

/// The sessions that were active within so many minutes, or are alive.
pub(crate) fn crewhub_sessions(
    server: &Server,
    context: &Context,
    minutes: Option<i64>,
) -> Result<CrewSessions, Problem> {
    let minutes = minutes.unwrap_or(ACTIVE);
    let since = context.now.checked_sub(SignedDuration::from_mins(minutes)).unwrap_or(context.now);
    if let Some(live) = server.hub.live().filter(|_| minutes <= WATCHED) {
        return Ok(rows(server, &live.snapshot(context)?.sessions, since));
    }
    let found = list::list(context, &list::Request::default())?.sessions;
    let is_shown = |session: &Session| session.is_running || session.last_modified >= Some(since);
    let infos: Vec<SessionInfo> = found.into_iter().filter(is_shown).map(info).collect();
    Ok(rows(server, &infos, since))
}

/// The sessions of a snapshot that are alive or were active lately.
pub(crate) fn lately(server: &Server, context: &Context, snapshot: &MonitorSnapshot) -> CrewSessions {
    let since = context.now.checked_sub(SignedDuration::from_mins(ACTIVE)).unwrap_or(context.now);
    rows(server, &snapshot.sessions, since)
}

/// Those that are alive or were active since then, each followed by its sub-agents.
fn rows(server: &Server, infos: &[SessionInfo], since: jiff::Timestamp) -> CrewSessions {
    let is_shown = |info: &&SessionInfo| info.pid.is_some() || info.last_activity >= Some(since);
    let mut sessions = Vec::new();
    for info in infos.iter().filter(is_shown).take(MOST) {
        let Some(row) = crewhub_session(server, info) else { continue };
        let subagents: Vec<Value> = info.subagents.iter().map(|agent| subagent(info, &row, agent)).collect();
        sessions.push(row);
        sessions.extend(subagents);
    }
    CrewSessions { sessions }
}

/// A listed session as one that is watched.
fn info(session: Session) -> SessionInfo {
    let owned = |text: Option<std::sync::Arc<str>>| text.map(|text| text.as_ref().to_owned());
    SessionInfo {
        session_id: session.id,
        activity: session.activity.unwrap_or_else(|| Activity::new(Doing::Idle, Evidence::Transcript, None)),
        title: owned(session.title),
        cwd: session.cwd.map(|path| path.to_path_buf()),
        project: owned(session.project),
        branch: owned(session.branch),
        model: None,
        context_tokens: session.context_tokens,
        created: session.created,
        last_activity: session.last_modified,
        pid: None,
        subagents: Vec::new(),
        background_job: session.background_job.map(|job| *job),
    }
}

/// The key of a session: that of the fixed agent whose session it is, or its own.
pub(crate) fn crewhub_key(server: &Server, session: &SessionId) -> String {
    server.store.read(|stored| stored.key_of(session))
}

/// A session with its connection and the name that a person gave it; that of a fixed agent has the agent's key. `None`
/// where no connection has it.
pub(crate) fn crewhub_session(server: &Server, info: &SessionInfo) -> Option<Value> {
    let mut json = serde_json::to_value(info).unwrap_or_default();
    json["connectionId"] = json!(connection_of(server, &info.session_id, info.cwd.as_deref())?);
    server.store.read(|stored| {
        let own = SessionInfo::key(&info.session_id);
        let mut named = stored.display_names.get(&own);
        if let Some(agent) = stored.agent_of(&info.session_id) {
            let key = format!("cc:{}", agent.id);
            named = stored.display_names.get(&key).or(named);
            json["sessionKey"] = json!(key);
            json["key"] = json!(key);
            json["agentId"] = json!(agent.id);
            json["label"] = json!(agent.name);
        }
        if let Some(named) = named {
            json["displayName"] = json!(named.display_name);
        }
    });
    json["totalTokens"] = json!(info.context_tokens);
    let key = json["key"].as_str().unwrap_or_default();
    if let Some(detail) = asked(key, &SessionActivity::new(&info.session_id, &info.activity)) {
        json["activityDetail"] = json!(detail);
        json["activity_detail"] = json!(detail);
    }
    Some(json)
}

/// What a person is asked, with the tool that asks it: the whole of it where the front end has buttons beside it, which
/// are those of a fixed agent's chat. Elsewhere it only takes the room of the question that has the whole of it.
fn asked(key: &str, activity: &SessionActivity) -> Option<String> {
    let asking = activity.asking.as_deref().filter(|_| activity.is_blocked())?;
    let whole = format!("{}: {asking}", activity.tool_name.as_deref().unwrap_or("Permission"));
    Some(if key.starts_with("cc:") { whole } else { shortened(&whole, SHORT) })
}

/// The beginning of a text.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An activity as CrewHub's front end merges it into the session that it shows.
pub(crate) fn thin(server: &Server, activity: &SessionActivity) -> Value {
    let key = crewhub_key(server, &activity.session_id);
    json!({
        "activity_detail": asked(&key, activity).as_ref().or(activity.detail.as_ref()),
        "sessionKey": key,
        "source": model::SOURCE,
        "status": activity.activity,
        "activity_tool_name": activity.tool_name,
    })
}

/// The connection that has a session; `None` where it is not shown.
pub(crate) fn connection_of(server: &Server, session: &SessionId, cwd: Option<&Path>) -> Option<String> {
    server.sources.now().connection_of(session, cwd).map(str::to_owned)
}

fn subagent(parent: &SessionInfo, parent_row: &Value, agent: &model::SubagentEvent) -> Value {
    let parent_key = parent_row["key"].as_str().unwrap_or_default();
    let id = agent.subagent_id.as_deref().unwrap_or(&agent.task_id);
    json!({
        "key": format!("claude:{}-agent-{id}", parent.session_id.short()),
        "sessionId": format!("agent-{id}"),
        "source": model::SOURCE,
        "connectionId": parent_row["connectionId"],
        "agentId": "main",
        "channel": "claude-code",
        "kind": "subagent",
        "label": format!("parent={parent_key}"),
        "displayName": agent.description,
        "status": "tool_use",
        "activityToolName": agent.tool_name,
        "projectPath": parent.cwd,
        "createdAt": agent.since.map(jiff::Timestamp::as_millisecond),
        "updatedAt": parent.last_activity.map(jiff::Timestamp::as_millisecond),
        "lastActivity": parent.last_activity.map(jiff::Timestamp::as_millisecond),
    })
}

async fn archived(
    State(server): State<Shared>,
    QueryParams(query): QueryParams<ArchivedQuery>,
) -> Result<Json<ArchivedSessions>, Problem> {
    let (limit, offset) = (query.limit.map_or(PAGE, NonZeroUsize::get).min(500), query.offset.unwrap_or(0));
    let wanted = query.search.unwrap_or_default().to_lowercase();
    let found = server
        .work(move |server, context| {
            let mut sessions = list::list(context, &list::Request::default())?.sessions;
            let has = |text: &Option<std::sync::Arc<str>>| {
                text.as_deref().is_some_and(|text| text.to_lowercase().contains(&wanted))
            };
            sessions.retain(|session| !session.is_running);
            sessions.retain(|session| wanted.is_empty() || has(&session.title) || has(&session.project));
            let sources = server.sources.now();
            sessions.retain(|session| sources.connection_of(&session.id, session.cwd.as_deref()).is_some());
            let total = sessions.len();
            let models = layout::models(server, context);
            let page = sessions.iter().skip(offset).take(limit);
            let page = page.map(|session| archived_session(server, &models, session));
            Ok(ArchivedSessions { sessions: page.collect(), total, limit, offset })
        })
        .await?;
    Ok(Json(found))
}

fn archived_session(server: &Server, models: &Models, session: &Session) -> ArchivedSession {
    let key = crewhub_key(server, &session.id);
    let fixed = server.store.read(|stored| stored.agent_of(&session.id).map(|agent| agent.id.clone()));
    let agent = fixed.or_else(|| session.origin.agent().map(ToString::to_string));
    let used = || session.resume_cost.as_ref()?.model.as_deref().map(str::to_owned);
    let named =
        server.store.read(|stored| stored.display_names.get(&key).map(|named| named.display_name.clone()));
    let title = session.title.as_deref().or(session.project.as_deref()).map(str::to_owned);
    ArchivedSession {
        display_name: named.or_else(|| title.clone()).unwrap_or_else(|| key.clone()),
        session_key: key,
        session_id: session.id.clone(),
        agent_id: agent.unwrap_or_else(|| "main".to_owned()),
        minion_type: model::SOURCE,
        model: models.get(&session.id).cloned().or_else(used),
        channel: "claude-code",
        started_at: session.created.map(|at| at.to_string()),
        ended_at: session.last_modified.map(|at| at.to_string()),
        message_count: session.visible_messages,
        status: "archived",
        summary: title.unwrap_or_default(),
    }
}

/// A session's model is the choice of who starts it; what can be changed is its name.
async fn change(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<SessionDone>, Problem> {
    let name = fields.get("displayName").or_else(|| fields.get("display_name")).and_then(Value::as_str);
    let Some(name) = name else {
        let detail =
            "only the displayName of a session can be changed; its model is given when it is started";
        return Err(Problem::usage(detail));
    };
    let session_key = display_names::set(&server, key, name).await?.session_key;
    Ok(Json(SessionDone { success: true, session_key }))
}

async fn end(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<SessionDone>, Problem> {
    let session_key = key.to_string();
    let session = key.session(&server.store);
    let session =
        session.ok_or_else(|| Problem::not_found(format!("{session_key} has no session of Claude Code")))?;
    let request = stop::Request { worker: session.to_string(), remove_worktree: false };
    server.ask(move |context| stop::stop(context, &request)).await?;
    Ok(Json(SessionDone { success: true, session_key }))
}

async fn room_context(
    State(server): State<Shared>,
    PathParams(key): PathParams<Key>,
) -> Result<Json<Value>, Problem> {
    let text = key.to_string();
    let found = server
        .work(move |server, asked| {
            let (sessions, models) = (layout::sessions(asked)?, layout::models(server, asked));
            Ok(server.store.read(|stored| {
                let room = layout::assignments(asked, stored, &sessions, &models)
                    .into_iter()
                    .find(|one| one.session_key == text)?
                    .room_id;
                let rooms = layout::rooms(stored, &layout::projects(stored, &sessions));
                rooms.into_iter().find(|known| known.id == room)
            }))
        })
        .await?;
    let room = found
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, Kind::NotFound, format!("{key} is in no room")))?;
    Ok(Json(context::answer(&context::of_room(&server, &room, context::OWN_CHANNEL, None))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_what_is_asked_stands_beside_buttons() {
        let check = |key: &str, state: Doing, asking: Option<&str>, expected: Option<&str>| {
            let mut activity = Activity::new(state, Evidence::Protocol, None);
            activity.tool = Some("Bash".to_owned());
            activity.detail = Some("Clean up".to_owned());
            activity.asking = asking.map(str::to_owned);
            let event = SessionActivity::new(&"3601d36f".parse().unwrap(), &activity);
            assert_eq!(asked(key, &event).as_deref(), expected, "{key} {asking:?}");
        };
        let command = Some("rm -rf build && make all");
        check("cc:dev", Doing::WaitingPermission, command, Some("Bash: rm -rf build && make all"));
        check("claude:3601d36f", Doing::WaitingPermission, command, Some("Bash: rm -rf build && ma…"));
        check("claude:3601d36f", Doing::WaitingPermission, Some("make"), Some("Bash: make"));
        check("cc:dev", Doing::ToolUse, command, None);
        check("cc:dev", Doing::WaitingPermission, None, None);
    }
}
