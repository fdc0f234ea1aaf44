//! Agents: fixed ones, which a person creates, and OpenClaw's, which are read from its files.

use std::collections::BTreeSet;

use app::workers::PermissionMode;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::crewhub::change::{Change, Removed, edit_stored, now, take};
use crate::crewhub::layout;
use crate::crewhub::store::{Agent, changed};
use crate::extract::{Authorized, JsonBody, PathParams};
use crate::operation::{delete, get, post, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::{Grant, scopes};
use crate::state::{Server, Shared};

/// All agents.
#[derive(Debug, Serialize, JsonSchema)]
struct Agents {
    agents: Vec<Agent>,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/agents", "agents", "All agents").answer::<Agents>(), list);
    routes.add(post("/api/agents", "add_agent", "Makes an agent").body::<Agent>().answer::<Agent>(), make);
    routes.add(get("/api/agents/{agent}", "agent", "One agent").answer::<Agent>(), one);
    let route = put("/api/agents/{agent}", "change_agent", "Changes an agent").body::<Change>();
    routes.add(route.answer::<Agent>(), change);
    routes.add(delete("/api/agents/{agent}", "remove_agent", "Removes an agent").answer::<Removed>(), remove);
    let route = post("/api/agents/{agent}/clone", "clone_agent", "Makes an agent like another one");
    routes.add(route.answer::<Map<String, Value>>(), copy);
    let route = post("/api/agents/{agent}/generate-bio", "agent_bio", "A sentence on an agent");
    routes.add(route.answer::<Map<String, Value>>(), bio);
    let route = get("/api/agents/{agent}/identity", "agent_identity", "An agent's identity: its name alone");
    routes.add(route.answer::<Map<String, Value>>(), identity);
    let route = get("/api/agents/{agent}/persona", "agent_persona", "An agent's persona: none is kept");
    routes.add(route.answer::<Map<String, Value>>(), persona);
    let route =
        get("/api/agents/{agent}/surfaces", "agent_surfaces", "Rules for an agent's surfaces: always empty");
    routes.add(route.answer::<Map<String, Value>>(), surfaces);
    let route = get("/api/agents/{agent}/files", "agent_files", "An agent's files: none are shown");
    routes.add(route.answer::<Map<String, Value>>(), files);
}

/// The agents that a person made, then OpenClaw's.
fn all(server: &Server, context: &app::Context) -> Result<Vec<Agent>, Problem> {
    let sessions = layout::sessions(context)?;
    let named: BTreeSet<String> =
        sessions.iter().filter_map(|session| session.origin.agent()).map(ToString::to_string).collect();
    let mut agents = server.store.read(|stored| stored.agents.clone());
    agents.sort_by(|one, other| (one.sort_order, &one.name).cmp(&(other.sort_order, &other.name)));
    let others = named.into_iter().filter(|id| !agents.iter().any(|agent| agent.id == *id)).map(of_openclaw);
    let others: Vec<Agent> = others.collect();
    agents.extend(others);
    Ok(agents)
}

fn of_openclaw(id: String) -> Agent {
    Agent {
        name: id.clone(),
        agent_session_key: Some(format!("agent:{id}:main")),
        id,
        icon: None,
        avatar_url: None,
        color: None,
        default_model: None,
        default_room_id: None,
        sort_order: 1000,
        is_pinned: false,
        auto_spawn: false,
        bio: None,
        source: "openclaw".to_owned(),
        project_path: None,
        permission_mode: "default".to_owned(),
        current_session_id: None,
        system_prompt: None,
        created_at: 0,
        updated_at: 0,
    }
}

async fn list(State(server): State<Shared>) -> Result<Json<Agents>, Problem> {
    Ok(Json(Agents { agents: server.work(all).await? }))
}

fn find(server: &Server, context: &app::Context, id: &str) -> Result<Agent, Problem> {
    let found = all(server, context)?.into_iter().find(|agent| agent.id == id);
    found.ok_or_else(|| Problem::not_found(format!("there is no agent `{id}`")))
}

async fn one(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Agent>, Problem> {
    Ok(Json(server.work(move |server, context| find(server, context, &id)).await?))
}

/// Refuses what an agent cannot be, and what the caller may not make of one.
fn check(agent: &Agent, grant: &Grant) -> Result<(), Problem> {
    agent.id.parse::<model::AgentId>().map_err(|error| Problem::usage(error.to_string()))?;
    let mode = PermissionMode::from_name(&agent.permission_mode);
    let mode =
        mode.ok_or_else(|| Problem::usage(format!("unknown permission mode `{}`", agent.permission_mode)))?;
    scopes::check_unasked(grant, mode.acts_without_asking(), "an agent")?;
    if agent.current_session_id.as_ref().is_some_and(|id| id.parse::<model::SessionId>().is_err()) {
        return Err(Problem::usage("current_session_id is no session id"));
    }
    Ok(())
}

async fn make(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    JsonBody(wanted): JsonBody<Agent>,
) -> Result<Json<Agent>, Problem> {
    check(&wanted, &grant)?;
    let time = now(&server);
    let key = Some(format!("cc:{}", wanted.id));
    let made = Agent {
        agent_session_key: wanted.agent_session_key.clone().or(key),
        created_at: time,
        updated_at: time,
        ..wanted
    };
    Ok(Json(insert(&server, made).await?))
}

async fn insert(server: &Shared, made: Agent) -> Result<Agent, Problem> {
    edit_stored(server, move |stored| {
        if stored.agents.iter().any(|known| known.id == made.id) {
            return Err(Problem::usage(format!("there is already an agent `{}`", made.id)));
        }
        stored.agents.push(made.clone());
        Ok(made)
    })
    .await
}

async fn change(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(id): PathParams<String>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<Agent>, Problem> {
    let time = now(&server);
    let agent = server
        .work(move |server, context| {
            let known = find(server, context, &id)?;
            let new = Agent {
                updated_at: time,
                ..changed(&known, &fields, &["id", "source", "created_at", "updated_at"])?
            };
            check(&new, &grant)?;
            server.store.edit(|stored| {
                stored.agents.retain(|agent| agent.id != new.id);
                stored.agents.push(new.clone());
                Ok(new)
            })
        })
        .await?;
    Ok(Json(agent))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Removed>, Problem> {
    let gone = id.clone();
    let missing = move |id: &str| Problem::not_found(format!("there is no agent `{id}` that can be removed"));
    edit_stored(&server, move |stored| take(&mut stored.agents, |agent| agent.id == gone, || missing(&gone)))
        .await?;
    Ok(Json(Removed::new(id)))
}

async fn copy(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let time = now(&server);
    let known = server.work(move |server, context| find(server, context, &id)).await?;
    check(&known, &grant)?;
    let id = format!("{}-{}", known.id, time % 100_000);
    let made = Agent {
        agent_session_key: Some(format!("cc:{id}")),
        name: format!("{} (copy)", known.name),
        id,
        source: model::SOURCE.to_owned(),
        current_session_id: None,
        created_at: time,
        updated_at: time,
        ..known
    };
    let made = insert(&server, made).await?;
    Ok(Json(json!({ "success": true, "agent_id": made.id, "name": made.name })))
}

/// What is known of an agent; no model is asked.
async fn bio(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let agent = server.work(move |server, context| find(server, context, &id)).await?;
    let place = agent.project_path.map_or_else(String::new, |path| format!(" that works in {path}"));
    let text = agent.bio.unwrap_or_else(|| format!("{} is an agent{place}.", agent.name));
    Ok(Json(json!({ "bio": text, "generated": false })))
}

async fn files(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let agent = server.work(move |server, context| find(server, context, &id)).await?;
    Ok(Json(json!({ "agent_id": agent.id, "files": [] })))
}

async fn identity(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let agent = server.work(move |server, context| find(server, context, &id)).await?;
    Ok(Json(json!({
        "agent_id": agent.id,
        "agent_name": agent.name,
        "identity_anchor": "",
        "surface_rules": "",
        "identity_locked": false,
        "surfaces": [],
    })))
}

async fn persona(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let agent = server.work(move |server, context| find(server, context, &id)).await?;
    Ok(Json(json!({
        "agent_id": agent.id,
        "preset": null,
        "custom_instructions": "",
        "start_behavior": 3,
        "checkin_frequency": 3,
        "response_detail": 3,
        "approach_style": 3,
        "identity_anchor": "",
        "surface_rules": "",
        "identity_locked": false,
        "created_at": null,
        "updated_at": null,
    })))
}

async fn surfaces(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let agent = server.work(move |server, context| find(server, context, &id)).await?;
    Ok(Json(json!({ "agent_id": agent.id, "surfaces": [] })))
}
