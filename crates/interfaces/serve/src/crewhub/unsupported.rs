//! What CrewHub has and Backstory does not. Its front end requests the lists when it starts and gets empty ones; creating
//! something is refused.

use app::Kind;
use app::sessions::list;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::crewhub::change::now;
use crate::extract::{Authorized, JsonBody};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::tokens::TokenScope;
use crate::state::Shared;

/// Empty lists, and their routes.
const EMPTY: [(&str, &str, &str); 20] = [
    ("/api/tasks", "tasks", r#"{"tasks":[],"total":0}"#),
    ("/api/meetings", "meetings", r#"{"meetings":[],"total":0}"#),
    ("/api/meetings/history", "meeting_history", r#"{"meetings":[],"total":0,"has_more":false}"#),
    ("/api/standups", "standups", r#"{"standups":[]}"#),
    ("/api/threads", "threads", r#"{"threads":[]}"#),
    ("/api/templates", "templates", r#"{"templates":[]}"#),
    ("/api/pipelines", "pipelines", r#"{"pipelines":[]}"#),
    ("/api/notifications/rules", "notification_rules", r#"{"rules":[]}"#),
    (
        "/api/handoff/targets",
        "handoff_targets",
        r#"{"targets":[{"id":"clipboard","label":"Copy Command","icon":"clipboard","available":true}]}"#,
    ),
    ("/api/backup/list", "backups", "[]"),
    ("/api/world/props", "props", r#"{"props":[],"count":0}"#),
    ("/api/creator/saved-props", "saved_props", "[]"),
    ("/api/creator/generation-history", "generations", r#"{"records":[]}"#),
    ("/api/creator/models", "creator_models", r#"{"models":[],"default":null}"#),
    ("/api/creator/props/styles", "prop_styles", r#"{"styles":[]}"#),
    ("/api/creator/props/templates", "prop_templates", r#"{"templates":[]}"#),
    ("/api/projects/{project}/files", "project_files", r#"{"files":[]}"#),
    ("/api/docs/tree", "docs_tree", "[]"),
    ("/api/personas/presets", "persona_presets", r#"{"presets":{}}"#),
    ("/api/personas/surfaces", "persona_surfaces", r#"{"surfaces":[]}"#),
];

/// What cannot be created, shown or stored.
const REFUSED: [(&str, &str, &str, &str); 20] = [
    ("POST", "/api/tasks", "make_task", "tasks"),
    ("POST", "/api/meetings", "make_meeting", "meetings"),
    ("POST", "/api/standups", "make_standup", "standups"),
    ("POST", "/api/threads", "make_thread", "threads"),
    ("POST", "/api/templates", "make_template", "templates"),
    ("POST", "/api/pipelines", "make_pipeline", "pipelines"),
    ("POST", "/api/notifications/rules", "make_notification_rule", "rules for notifications"),
    ("GET", "/api/projects/{project}/files/content", "project_file", "files of projects besides documents"),
    ("GET", "/api/projects/{project}/files/image", "project_image", "files of projects besides documents"),
    ("GET", "/api/docs/content", "docs_content", "documents of its own"),
    ("GET", "/api/media/{path}", "media", "media"),
    ("GET", "/api/media/{kind}/{path}", "media_of_kind", "media"),
    ("POST", "/api/media/upload", "upload_media", "media"),
    ("GET", "/api/backup/export", "export_backup", "backups of CrewHub's kind"),
    ("POST", "/api/backup/import", "import_backup", "backups of CrewHub's kind"),
    ("POST", "/api/backup/create", "make_backup", "backups of CrewHub's kind"),
    ("POST", "/api/creator/save-prop", "save_prop", "props"),
    ("POST", "/api/world/props", "place_prop", "props"),
    ("POST", "/api/meetings/start", "start_meeting", "meetings"),
    ("POST", "/api/auth/keys", "make_key", "keys of CrewHub's kind"),
];

/// Those that an administrator alone could have, by their ids.
const ADMINISTRATION: [&str; 4] = ["export_backup", "import_backup", "make_backup", "make_key"];

pub(super) fn add(routes: &mut Routes) {
    for (method, path, id, what) in REFUSED {
        let start = if method == "GET" { get } else { post };
        let mut route = start(path, id, "Always refused: Backstory has none").answer::<Value>();
        if ADMINISTRATION.contains(&id) {
            route = route.scope(TokenScope::Admin);
        }
        routes.add(route, move || async move { refused(what) });
    }
    let route = get("/api/auth/keys/self", "own_key", "What the caller may do").answer::<Value>();
    routes.add(route, own_key);
    for (path, id, text) in EMPTY {
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        let route = get(path, id, "Always empty: Backstory has none").answer::<Value>();
        routes.add(route, move || async move { Json(answer) });
    }
    let route =
        get("/api/conflicts", "conflicts", "Files that several sessions changed lately").answer::<Value>();
    routes.add(route, || async { Json(json!({ "edits": [] })) });
    let route =
        get("/api/onboarding/status", "onboarding", "Whether there is anything to set up").answer::<Value>();
    routes.add(route, onboarding);
    let route = get("/api/onboarding/environment", "environment", "Where the server runs").answer::<Value>();
    routes.add(route, environment);
    let route = post("/api/discovery/scan", "scan", "Programs whose sessions can be shown").answer::<Value>();
    routes.add(route.scope(TokenScope::Read), scan);
    let route = post("/api/discovery/test", "test_program", "Whether a program's sessions can be shown");
    let route = route.scope(TokenScope::Read).body::<TestedProgram>();
    routes.add(route.answer::<TestOutcome>(), test);
    let route =
        get("/api/discovery/manifest", "manifest", "What the server can do").answer::<Map<String, Value>>();
    routes
        .add(route, || async { Json(json!({ "name": "Backstory", "version": env!("CARGO_PKG_VERSION") })) });
    let route = get("/api/auth/local-bootstrap", "local_bootstrap", "A key for a local front end: none")
        .answer::<Value>();
    routes.add(route, || async { Json(json!({ "key": null, "scopes": [] })) });
    let route = get("/api/auth/keys", "keys", "Keys of CrewHub's kind: none").answer::<Value>();
    routes.add(route, || async { Json(json!({ "keys": [] })) });
    let route = get("/api/self", "self", "The agent of the caller: none").answer::<Value>();
    routes.add(route, || async {
        Json(json!({ "agent_id": null, "session_key": null, "display_name": null, "room_id": null }))
    });
    let route =
        get("/api/gateway/status", "gateway", "Whether OpenClaw's gateway is connected").answer::<Value>();
    routes.add(route, || async { Json(json!({ "connected": false, "uri": null })) });
}

fn refused(what: &str) -> Problem {
    let detail = format!("Backstory has no {what}");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Unavailable, detail)
}

async fn own_key(Authorized(grant): Authorized) -> Json<Value> {
    const SCOPES: [(TokenScope, &str); 3] =
        [(TokenScope::Read, "read"), (TokenScope::Act, "manage"), (TokenScope::Admin, "admin")];
    let granted = SCOPES.iter().filter(|(scope, _)| *scope <= grant.scope());
    let scopes: Vec<&str> = granted.map(|(_, name)| *name).collect();
    Json(json!({ "key_id": null, "name": null, "scopes": scopes, "expires_at": null }))
}

/// A program to test.
#[derive(Debug, Deserialize, JsonSchema)]
struct TestedProgram {
    /// `claude_code`, `openclaw` or `codex_cli`.
    #[serde(rename = "type")]
    kind: String,
}

/// Whether it is there.
#[derive(Debug, Serialize, JsonSchema)]
struct TestOutcome {
    reachable: bool,
    /// How many sessions it has.
    sessions: Option<usize>,
    error: Option<String>,
}

async fn test(
    State(server): State<Shared>,
    JsonBody(tested): JsonBody<TestedProgram>,
) -> Result<Json<TestOutcome>, Problem> {
    if tested.kind != model::SOURCE {
        let error = Some("sessions are read from files; there is no connection to test".to_owned());
        return Ok(Json(TestOutcome { reachable: false, sessions: None, error }));
    }
    let outcome = server
        .ask(|context| {
            let reachable = app::proceed::claude_path(context).is_some();
            let error = (!reachable).then(|| "Claude Code CLI not found".to_owned());
            let sessions = Some(
                list::list(context, &list::Request { limit: Some(0), ..list::Request::default() })?.known,
            );
            Ok(TestOutcome { reachable, sessions, error })
        })
        .await?;
    Ok(Json(outcome))
}

async fn onboarding() -> Json<Value> {
    Json(json!({ "completed": true, "connections_count": 1, "has_active_connection": true }))
}

async fn environment() -> Json<Value> {
    Json(json!({
        "is_docker": false,
        "lan_ip": null,
        "hostname": "localhost",
        "platform": std::env::consts::OS,
        "docker_host_internal_reachable": false,
        "suggested_urls": [],
        "token_file_path": null,
        "token_available": false,
    }))
}

async fn scan(State(server): State<Shared>) -> Result<Json<Value>, Problem> {
    let began = now(&server);
    let claude = server.ask(|context| Ok(app::proceed::claude_path(context))).await?;
    let candidate = claude.map(|path| {
        json!({
            "runtime_type": "claude_code",
            "discovery_method": "cli_detect",
            "target": { "transport": "files" },
            "auth": { "required": false },
            "confidence": "high",
            "status": "installed",
            "evidence": [format!("{}", path.display())],
            "metadata": {},
        })
    });
    let candidates: Vec<Value> = candidate.into_iter().collect();
    Ok(Json(json!({ "candidates": candidates, "scan_duration_ms": now(&server) - began })))
}
