//! The state of connections: whether they work, the version of their `claude`, what they watch.

use app::Context;
use app::live::watch::MonitorSnapshot;
use axum::Json;
use axum::extract::State;
use model::SessionInfo;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ONE, find};
use crate::crewhub::sources::checked;
use crate::crewhub::store::Connection;
use crate::extract::PathParams;
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// What is said where there is no `claude`.
const NO_CLI: &str = "Claude Code CLI not found";

/// A connection and its state.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConnectionInfo {
    #[serde(flatten)]
    pub(super) connection: Connection,
    /// `connected`, `disconnected` or `error`.
    pub(super) status: &'static str,
    /// Whether it is `connected`.
    connected: bool,
    pub(super) error: Option<String>,
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

pub(super) fn add(routes: &mut Routes) {
    let route =
        get(format!("{ONE}/health"), "connection_health", "The state of a connection").answer::<Health>();
    routes.add(route, health);
}

/// Where the version of a connection's `claude` comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VersionFrom {
    /// What it reported a short while ago, if its file is unchanged.
    Memory,
    /// The program, which is run.
    Program,
}

/// A connection with its state, which may be of a short while ago.
pub(super) fn described(server: &Server, context: &Context, connection: Connection) -> ConnectionInfo {
    inspected(server, context, connection, VersionFrom::Memory).0
}

/// A connection with its state and the version of its `claude`.
fn inspected(
    server: &Server,
    context: &Context,
    connection: Connection,
    from: VersionFrom,
) -> (ConnectionInfo, Option<String>) {
    let version =
        if connection.enabled { version(server, context, &connection, from).map(Some) } else { Ok(None) };
    let (error, version) = version.map_or_else(|why| (Some(why), None), |version| (None, version));
    let status = match (&error, connection.enabled) {
        (Some(_), _) => "error",
        (None, true) => "connected",
        (None, false) => "disconnected",
    };
    (ConnectionInfo { connection, status, connected: status == "connected", error }, version)
}

/// The version of the `claude` of an enabled connection, or what is wrong with the connection.
fn version(
    server: &Server,
    context: &Context,
    connection: &Connection,
    from: VersionFrom,
) -> Result<String, String> {
    if connection.kind != model::SOURCE {
        return Err(format!(
            "sessions of {} are read from its files; there is no connection to it",
            connection.kind
        ));
    }
    let (request, data_dir) =
        checked(context, &connection.config).map_err(|problem| problem.detail().to_owned())?;
    let found = match from {
        VersionFrom::Memory => server.claude_versions.known(&request),
        VersionFrom::Program => server.claude_versions.fresh(&request),
    };
    let (_, version) = found.map_err(|error| error.message)?.ok_or(NO_CLI)?;
    match data_dir.filter(|folder| !folder.is_dir()) {
        Some(missing) => Err(format!("there is no folder {}", missing.display())),
        None => version,
    }
}

async fn health(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Health>, Problem> {
    let health = server
        .work(move |server, context| {
            let (info, cli_version) = inspected(server, context, find(server, &id)?, VersionFrom::Program);
            let ConnectionInfo { connection, status, error, .. } = info;
            let is_own = connection.kind == model::SOURCE;
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
                cli_version,
                watched_sessions: watched,
            })
        })
        .await?;
    Ok(Json(health))
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
