//! What CrewHub has and Backstory does not: its front end asks for it when it starts, and gets empty lists.

use app::sessions::list;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::crew::change::now;
use crate::extract::Given;
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// Lists of which there is nothing in them, and their routes.
const EMPTY: [(&str, &str, &str); 17] = [
    ("/api/tasks", "tasks", r#"{"tasks":[],"total":0}"#),
    ("/api/meetings", "meetings", r#"{"meetings":[],"total":0}"#),
    ("/api/meetings/history", "meeting_history", r#"{"meetings":[],"total":0,"has_more":false}"#),
    ("/api/standups", "standups", r#"{"standups":[]}"#),
    ("/api/threads", "threads", r#"{"threads":[]}"#),
    ("/api/templates", "templates", r#"{"templates":[]}"#),
    ("/api/pipelines", "pipelines", r#"{"pipelines":[]}"#),
    ("/api/notifications/rules", "notification_rules", r#"{"rules":[]}"#),
    ("/api/handoff/targets", "handoff_targets", r#"{"targets":[]}"#),
    ("/api/backup/list", "backups", "[]"),
    ("/api/world/props", "props", r#"{"props":[],"count":0}"#),
    ("/api/creator/saved-props", "saved_props", "[]"),
    ("/api/creator/generation-history", "generations", r#"{"records":[]}"#),
    ("/api/creator/models", "creator_models", r#"{"models":[],"default":null}"#),
    ("/api/docs/tree", "docs_tree", "[]"),
    ("/api/personas/presets", "persona_presets", r#"{"presets":{}}"#),
    ("/api/personas/surfaces", "persona_surfaces", r#"{"surfaces":[]}"#),
];

pub(super) fn add(routes: &mut Routes) {
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
    routes.add(route, scan);
    let route = post("/api/discovery/test", "test_program", "Whether a program's sessions can be shown");
    routes.add(route.body::<TestedProgram>().answer::<TestOutcome>(), test);
    let route =
        get("/api/discovery/manifest", "manifest", "What the server can do").answer::<Map<String, Value>>();
    routes
        .add(route, || async { Json(json!({ "name": "Backstory", "version": env!("CARGO_PKG_VERSION") })) });
    let route = get("/api/auth/local-bootstrap", "local_bootstrap", "A key for a local front end: none")
        .answer::<Value>();
    routes.add(route, || async { Json(json!({ "key": null, "scopes": [] })) });
    let route = get("/api/auth/keys", "keys", "Keys of CrewHub's kind: none").answer::<Value>();
    routes.add(route, || async { Json(json!({ "keys": [] })) });
    let route = get("/api/self", "self", "Who asks").answer::<Value>();
    routes.add(route, || async {
        Json(json!({ "agent_id": null, "session_key": null, "display_name": null, "room_id": null }))
    });
    let route =
        get("/api/gateway/status", "gateway", "Whether OpenClaw's gateway is connected").answer::<Value>();
    routes.add(route, || async { Json(json!({ "connected": false, "uri": null })) });
}

/// A program that is to be tried.
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
    Given(tested): Given<TestedProgram>,
) -> Result<Json<TestOutcome>, Problem> {
    if tested.kind != model::SOURCE {
        let error = Some("sessions are read from files; there is no connection to test".to_owned());
        return Ok(Json(TestOutcome { reachable: false, sessions: None, error }));
    }
    let outcome = server
        .ask(|context| {
            let reachable = app::proceed::claude_path(context).is_some();
            let error = (!reachable).then(|| "Claude Code CLI not found".to_owned());
            let sessions = Some(list::list(context, &list::Request::default())?.known);
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
