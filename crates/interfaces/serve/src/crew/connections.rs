//! Connections: to Claude Code on this machine, which is there by itself, and whatever a front end adds.

use std::path::{Path, PathBuf};

use app::live::watch::MonitorSnapshot;
use app::sessions::list;
use app::{Context, doctor, proceed};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::SessionInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::crew::change::{Change, new_id, now, plain};
use crate::crew::sessions::{CrewSessions, crew_sessions};
use crate::crew::sources::{all, checked};
use crate::crew::store::{Connection, changed};
use crate::extract::{At, Given};
use crate::operation::{delete, get, patch, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// What can be connected to.
const KINDS: [&str; 3] = ["openclaw", "claude_code", "codex"];
/// What is said where there is no `claude`.
const NO_CLI: &str = "Claude Code CLI not found";

/// A connection and its state.
#[derive(Debug, Serialize, JsonSchema)]
struct ConnectionInfo {
    #[serde(flatten)]
    connection: Connection,
    /// `connected`, `disconnected` or `error`.
    status: &'static str,
    error: Option<String>,
}

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

/// The state of a connection.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    status: &'static str,
    healthy: bool,
    error: Option<String>,
    /// The version of `claude`, where it says one.
    cli_version: Option<String>,
    /// How many sessions are watched.
    watched_sessions: usize,
}

/// The device that a connection to OpenClaw's gateway is paired with, of which there is none.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceStatus {
    connection_id: String,
    supported: bool,
    paired: bool,
    device_id: Option<String>,
    device_name: Option<String>,
    platform: Option<String>,
    message: &'static str,
}

/// Why no device is paired.
const NO_DEVICE: &str = "sessions are read from files, so there is no device to pair";

/// What there is of Claude Code on this machine.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "CrewHub has these fields")]
struct Detected {
    found: bool,
    /// `ready`, `cli_only`, `data_only`, `dir_only` or `not_found`.
    status: &'static str,
    cli_available: bool,
    #[serde(serialize_with = "model::optional_path")]
    cli_path: Option<PathBuf>,
    projects_dir_exists: bool,
    claude_dir_exists: bool,
    session_count: usize,
}

const ONE: &str = "/api/connections/{connection}";

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/connections", "connections", "All connections").answer::<Connections>(), list_all);
    let route = post("/api/connections", "add_connection", "Adds a connection").body::<NewConnection>();
    routes.add(route.answer::<ConnectionInfo>().status(201), add_one);
    let route = get("/api/connections/claude-code/detect", "detect", "What there is of Claude Code");
    routes.add(route.answer::<Detected>(), detect);
    routes.add(get(ONE, "connection", "One connection").answer::<ConnectionInfo>(), one);
    let route = patch(ONE, "change_connection", "Changes a connection").body::<Change>();
    routes.add(route.answer::<ConnectionInfo>(), change);
    routes.add(delete(ONE, "remove_connection", "Removes a connection").status(204), remove);
    let route = post(format!("{ONE}/connect"), "connect", "Enables a connection").answer::<ConnectionInfo>();
    routes.add(route, connect);
    let route =
        post(format!("{ONE}/disconnect"), "disconnect", "Disables a connection").answer::<ConnectionInfo>();
    routes.add(route, disconnect);
    let route =
        get(format!("{ONE}/health"), "connection_health", "The state of a connection").answer::<Health>();
    routes.add(route, health);
    let route = get(format!("{ONE}/sessions"), "connection_sessions", "A connection's sessions");
    routes.add(route.answer::<CrewSessions>(), sessions);
    let route = get(format!("{ONE}/device-status"), "device_status", "Whether a device is paired: never");
    routes.add(route.answer::<DeviceStatus>(), device_status);
    let route = post(format!("{ONE}/pair"), "pair_device", "Pairs a device, of which there is none");
    routes.add(route.answer::<DeviceStatus>(), pair);
}

fn find(server: &Server, id: &str) -> Result<Connection, Problem> {
    let found = server.store.read(all).into_iter().find(|connection| connection.id == id);
    found.ok_or_else(|| Problem::not_found(format!("there is no connection `{id}`")))
}

fn look(context: &Context, connection: Connection) -> ConnectionInfo {
    let error = if connection.enabled { fault(context, &connection) } else { None };
    let status = match (&error, connection.enabled) {
        (Some(_), _) => "error",
        (None, true) => "connected",
        (None, false) => "disconnected",
    };
    ConnectionInfo { connection, status, error }
}

/// What is wrong with an enabled connection.
fn fault(context: &Context, connection: &Connection) -> Option<String> {
    if connection.kind != model::SOURCE {
        return Some(format!(
            "sessions of {} are read from its files; there is no connection to it",
            connection.kind
        ));
    }
    let (request, data_dir) = match checked(context, &connection.config) {
        Ok(found) => found,
        Err(problem) => return Some(problem.detail().to_owned()),
    };
    if proceed::claude_path(&request).is_none() {
        return Some(NO_CLI.to_owned());
    }
    let missing = data_dir.filter(|folder| !folder.is_dir())?;
    Some(format!("there is no folder {}", missing.display()))
}

async fn list_all(State(server): State<Shared>) -> Result<Json<Connections>, Problem> {
    let connections: Vec<ConnectionInfo> = server
        .work(|server, context| {
            Ok(server.store.read(all).into_iter().map(|one| look(context, one)).collect())
        })
        .await?;
    Ok(Json(Connections { total: connections.len(), connections }))
}

async fn one(State(server): State<Shared>, At(id): At<String>) -> Result<Json<ConnectionInfo>, Problem> {
    Ok(Json(server.work(move |server, context| Ok(look(context, find(server, &id)?))).await?))
}

async fn add_one(
    State(server): State<Shared>,
    Given(wanted): Given<NewConnection>,
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
        .work(move |server, context| {
            server.store.edit(|book| {
                if all(book).iter().any(|known| known.id == made.id) {
                    let detail = format!("there is already a connection `{}`", made.id);
                    return Err(Problem::new(StatusCode::CONFLICT, app::Kind::Held, detail));
                }
                book.connections.push(made.clone());
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(look(context, made))
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
    let data = json!({ "connection_id": info.connection.id, "status": info.status, "error": info.error });
    server.hub.publish("connection-status", &data);
    info
}

async fn edit(server: &Shared, id: String, fields: Change) -> Result<Json<ConnectionInfo>, Problem> {
    let time = now(server);
    let new = server
        .work(move |server, context| {
            let known = find(server, &id)?;
            let new = changed(&known, &fields, &["id", "type", "created_at", "updated_at"])?;
            let new = Connection { updated_at: time, ..new };
            check(server, &new.kind, &new.config)?;
            server.store.edit(|book| {
                book.connections.retain(|connection| connection.id != new.id);
                book.connections.push(new.clone());
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(look(context, new))
        })
        .await?;
    Ok(Json(published(server, new)))
}

async fn change(
    State(server): State<Shared>,
    At(id): At<String>,
    Given(fields): Given<Change>,
) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, fields).await
}

async fn connect(State(server): State<Shared>, At(id): At<String>) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, Map::from_iter([("enabled".to_owned(), json!(true))])).await
}

async fn disconnect(
    State(server): State<Shared>,
    At(id): At<String>,
) -> Result<Json<ConnectionInfo>, Problem> {
    edit(&server, id, Map::from_iter([("enabled".to_owned(), json!(false))])).await
}

async fn remove(State(server): State<Shared>, At(id): At<String>) -> Result<StatusCode, Problem> {
    server
        .work(move |server, _| {
            find(server, &id)?;
            server.store.edit(|book| {
                let before = book.connections.len();
                book.connections.retain(|connection| connection.id != id);
                if book.connections.len() == before {
                    return Err(Problem::usage("this machine's own connection stays; disable it instead"));
                }
                Ok(())
            })?;
            server.sources.update(&server.store);
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn health(State(server): State<Shared>, At(id): At<String>) -> Result<Json<Health>, Problem> {
    let health = server
        .work(move |server, context| {
            let ConnectionInfo { connection, status, error } = look(context, find(server, &id)?);
            let is_own = connection.kind == model::SOURCE;
            let claude =
                if is_own { doctor::claude(&checked(context, &connection.config)?.0)? } else { None };
            let watched = server.hub.live().and_then(|live| live.snapshot(context).ok());
            let watched = watched
                .filter(|_| is_own)
                .map_or(0, |snapshot| watched_by(server, &connection.id, &snapshot));
            Ok(Health {
                id: connection.id,
                name: connection.name,
                kind: connection.kind,
                status,
                healthy: status == "connected",
                error,
                cli_version: claude.and_then(|claude| claude.version),
                watched_sessions: watched,
            })
        })
        .await?;
    Ok(Json(health))
}

async fn device_status(
    State(server): State<Shared>,
    At(id): At<String>,
) -> Result<Json<DeviceStatus>, Problem> {
    let connection = find(&server, &id)?;
    Ok(Json(DeviceStatus {
        connection_id: connection.id,
        supported: false,
        paired: false,
        device_id: None,
        device_name: None,
        platform: None,
        message: NO_DEVICE,
    }))
}

async fn pair(State(server): State<Shared>, At(id): At<String>) -> Result<Json<DeviceStatus>, Problem> {
    find(&server, &id)?;
    Err(Problem::usage(NO_DEVICE))
}

async fn sessions(State(server): State<Shared>, At(id): At<String>) -> Result<Json<CrewSessions>, Problem> {
    let sessions = server
        .work(move |server, context| {
            let connection = find(server, &id)?;
            if connection.kind != model::SOURCE || !connection.enabled {
                return Ok(CrewSessions::default());
            }
            let mut found = crew_sessions(server, context, None)?;
            found.sessions.retain(|session| session["connectionId"] == connection.id.as_str());
            Ok(found)
        })
        .await?;
    Ok(Json(sessions))
}

/// How many sessions are watched for a connection.
fn watched_by(server: &Server, id: &str, snapshot: &MonitorSnapshot) -> usize {
    let sources = server.sources.now();
    if sources.has_all(id) {
        return snapshot.files;
    }
    let is_its =
        |info: &&SessionInfo| sources.connection_of(&info.session_id, info.cwd.as_deref()) == Some(id);
    snapshot.sessions.iter().filter(is_its).count()
}

async fn detect(State(server): State<Shared>) -> Result<Json<Detected>, Problem> {
    let detected = server
        .ask(|context| {
            let cli_path = proceed::claude_path(context);
            let session_count = list::list(context, &list::Request::default())?.known;
            let is_there = |name: &str| {
                context.config().claude_folders.iter().any(|folder| inside(folder, name).is_dir())
            };
            let claude_dir_exists = is_there("");
            let status = match (cli_path.is_some(), session_count > 0) {
                (true, true) => "ready",
                (true, false) => "cli_only",
                (false, true) => "data_only",
                (false, false) if claude_dir_exists => "dir_only",
                (false, false) => "not_found",
            };
            Ok(Detected {
                found: cli_path.is_some() || session_count > 0,
                status,
                cli_available: cli_path.is_some(),
                cli_path,
                projects_dir_exists: is_there("projects"),
                claude_dir_exists,
                session_count,
            })
        })
        .await?;
    Ok(Json(detected))
}

fn inside(folder: &Path, name: &str) -> PathBuf {
    if name.is_empty() { folder.to_owned() } else { folder.join(name) }
}
