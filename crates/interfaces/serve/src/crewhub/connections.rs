//! Connections: the one to Claude Code on this machine, which always exists, and those that a front end adds.

mod detection;
mod device;
mod health;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::health::{ConnectionInfo, described};
use crate::crewhub::change::{Change, new_id, now, plain};
use crate::crewhub::sessions::{CrewSessions, crewhub_sessions};
use crate::crewhub::sources::{OWN, all, checked};
use crate::crewhub::store::{Connection, changed};
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, patch, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::TokenScope;
use crate::state::{Server, Shared};

/// What can be connected to.
const KINDS: [&str; 3] = ["openclaw", "claude_code", "codex"];

/// All connections.
#[derive(Debug, Serialize, JsonSchema)]
struct Connections {
    connections: Vec<ConnectionInfo>,
    total: usize,
}

/// A connection to add.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewConnection {
    id: Option<String>,
    name: String,
    /// `claude_code`, `openclaw` or `codex`.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(default = "enabled")]
    enabled: bool,
}

fn enabled() -> bool {
    true
}

const ONE: &str = "/api/connections/{connection}";

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/connections", "connections", "All connections").answer::<Connections>(), list_all);
    let route = post("/api/connections", "add_connection", "Adds a connection").body::<NewConnection>();
    let route = route.scope(TokenScope::Admin);
    routes.add(route.answer::<ConnectionInfo>().status(201), add_one);
    routes.add(get(ONE, "connection", "One connection").answer::<ConnectionInfo>(), one);
    let route = patch(ONE, "change_connection", "Changes a connection").body::<Change>();
    let route = route.scope(TokenScope::Admin);
    routes.add(route.answer::<ConnectionInfo>(), change);
    let route = delete(ONE, "remove_connection", "Removes a connection").status(204);
    routes.add(route.scope(TokenScope::Admin), remove);
    let route = post(format!("{ONE}/connect"), "connect", "Enables a connection").answer::<ConnectionInfo>();
    routes.add(route.scope(TokenScope::Admin), connect);
    let route =
        post(format!("{ONE}/disconnect"), "disconnect", "Disables a connection").answer::<ConnectionInfo>();
    routes.add(route.scope(TokenScope::Admin), disconnect);
    let route = get(format!("{ONE}/sessions"), "connection_sessions", "A connection's sessions");
    routes.add(route.answer::<CrewSessions>(), sessions);
    detection::add(routes);
    health::add(routes);
    device::add(routes);
}

fn find(server: &Server, id: &str) -> Result<Connection, Problem> {
    let found = server.store.read(all).into_iter().find(|connection| connection.id == id);
    found.ok_or_else(|| Problem::not_found(format!("there is no connection `{id}`")))
}

async fn list_all(State(server): State<Shared>) -> Result<Json<Connections>, Problem> {
    let connections: Vec<ConnectionInfo> = server
        .work(|server, context| {
            Ok(server.store.read(all).into_iter().map(|one| described(server, context, one)).collect())
        })
        .await?;
    Ok(Json(Connections { total: connections.len(), connections }))
}

async fn one(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ConnectionInfo>, Problem> {
    Ok(Json(server.work(move |server, context| Ok(described(server, context, find(server, &id)?))).await?))
}

async fn add_one(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewConnection>,
) -> Result<(StatusCode, Json<ConnectionInfo>), Problem> {
    if !KINDS.contains(&wanted.kind.as_str()) {
        return Err(Problem::usage(format!(
            "`{}` is no type of a connection: {}",
            wanted.kind,
            KINDS.join(", ")
        )));
    }
    let id = wanted.id.unwrap_or_else(new_id);
    plain(&id)?;
    check(&server, &wanted.kind, &wanted.config)?;
    let time = now(&server);
    let made = Connection {
        id,
        name: wanted.name,
        kind: wanted.kind,
        config: wanted.config,
        enabled: wanted.enabled,
        created_at: time,
        updated_at: time,
    };
    let added = server
        .work(move |server, _| {
            server.store.edit(|stored| {
                if all(stored).iter().any(|known| known.id == made.id) {
                    let detail = format!("there is already a connection `{}`", made.id);
                    return Err(Problem::new(StatusCode::CONFLICT, app::Kind::Held, detail));
                }
                stored.connections.push(made.clone());
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(described(server, &server.context(), made))
        })
        .await?;
    Ok((StatusCode::CREATED, Json(published(&server, added))))
}

/// Refuses what a connection of this kind cannot be given.
fn check(server: &Server, kind: &str, config: &Map<String, Value>) -> Result<(), Problem> {
    if kind == model::SOURCE { checked(&server.context(), config).map(drop) } else { Ok(()) }
}

/// Publishes a connection's state.
fn published(server: &Shared, info: ConnectionInfo) -> ConnectionInfo {
    let Connection { id, name, kind, .. } = &info.connection;
    let data = json!({
        "id": id, "connection_id": id, "name": name, "type": kind, "status": info.status, "error": info.error,
    });
    server.hub.publish("connection-status", &data);
    info
}

async fn edit(server: &Shared, id: String, fields: Change) -> Result<Json<ConnectionInfo>, Problem> {
    let time = now(server);
    let new = server
        .work(move |server, _| {
            let known = find(server, &id)?;
            let new = changed(&known, &fields, &["id", "type", "created_at", "updated_at"])?;
            let new = Connection { updated_at: time, ..new };
            check(server, &new.kind, &new.config)?;
            server.store.edit(|stored| {
                stored.connections.retain(|connection| connection.id != new.id);
                stored.connections.push(new.clone());
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(described(server, &server.context(), new))
        })
        .await?;
    Ok(Json(published(server, new)))
}

async fn change(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, fields).await
}

async fn connect(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, Map::from_iter([("enabled".to_owned(), json!(true))])).await
}

async fn disconnect(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, Map::from_iter([("enabled".to_owned(), json!(false))])).await
}

async fn remove(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Problem> {
    server
        .work(move |server, _| {
            find(server, &id)?;
            // What was changed in it is kept like a connection that was made.
            if id == OWN {
                return Err(Problem::usage("this machine's own connection stays; disable it instead"));
            }
            server.store.edit(|stored| {
                stored.connections.retain(|connection| connection.id != id);
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn sessions(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<CrewSessions>, Problem> {
    let sessions = server
        .work(move |server, context| {
            let connection = find(server, &id)?;
            if connection.kind != model::SOURCE || !connection.enabled {
                return Ok(CrewSessions::default());
            }
            let mut found = crewhub_sessions(server, context, None)?;
            found.sessions.retain(|session| session["connectionId"] == connection.id.as_str());
            Ok(found)
        })
        .await?;
    Ok(Json(sessions))
}
