//! What the front end asks for and Backstory has not.

use serde_json::json;

use super::{check, home};
use crate::serving::Server;

/// What the front end asks for when it starts, and when its parts are opened; none of it is missing.
#[test]
fn nothing_that_the_front_end_asks_for_is_missing() {
    let home = home();
    let server = Server::start(&home, &["--log"]);
    let lists = [
        ("/api/tasks", "tasks"),
        ("/api/tasks?limit=100", "tasks"),
        ("/api/meetings", "meetings"),
        ("/api/meetings/history?days=30", "meetings"),
        ("/api/standups?days=7", "standups"),
        ("/api/threads", "threads"),
        ("/api/templates", "templates"),
        ("/api/pipelines", "pipelines"),
        ("/api/conflicts", "edits"),
        ("/api/notifications/rules", "rules"),
        ("/api/handoff/targets", "targets"),
        ("/api/world/props", "props"),
        ("/api/creator/generation-history?limit=50", "records"),
        ("/api/creator/models", "models"),
        ("/api/personas/surfaces", "surfaces"),
        ("/api/auth/keys", "keys"),
        ("/api/project-folders/discover", "folders"),
        ("/api/sessions", "sessions"),
        ("/api/agents", "agents"),
        ("/api/rooms", "rooms"),
        ("/api/projects", "projects"),
        ("/api/projects/overview", "projects"),
        ("/api/cron/jobs", "jobs"),
        ("/api/connections", "connections"),
        ("/api/session-display-names", "display_names"),
        ("/api/session-room-assignments", "assignments"),
        ("/api/room-assignment-rules", "rules"),
    ];
    for (path, list) in lists {
        assert!(server.get(path)[list].is_array(), "{path}");
    }
    for path in ["/api/backup/list", "/api/docs/tree", "/api/creator/saved-props"] {
        assert_eq!(server.get(path), json!([]), "{path}");
    }
    check(
        &server.get("/api/onboarding/status"),
        "completed:yes connections_count:number has_active_connection:yes",
    );
    check(
        &server.get("/api/onboarding/environment"),
        "is_docker:yes hostname:text platform:text suggested_urls:list",
    );
    check(&server.post("/api/discovery/scan", &json!({})), "candidates:list scan_duration_ms:number");
    for path in
        ["/api/self", "/api/auth/local-bootstrap", "/api/settings", "/api/health", "/api/gateway/status"]
    {
        assert!(server.get(path).is_object(), "{path}");
    }
    for (path, list) in [
        ("/api/projects/p/files", "files"),
        ("/api/creator/props/styles", "styles"),
        ("/api/creator/props/templates", "templates"),
        ("/api/auth/keys/self", "scopes"),
    ] {
        assert!(server.get(path)[list].is_array(), "{path}");
    }
    for path in [
        "/api/projects/p/files/content?path=a",
        "/api/projects/p/files/image?path=a",
        "/api/docs/content?path=a",
        "/api/media/image/a.png",
    ] {
        assert_eq!(server.ask("GET", path).send().failed(503), "unavailable", "{path}");
    }
    for path in ["tasks", "meetings", "standups", "threads", "templates", "pipelines", "notifications/rules"]
    {
        let made = server.ask("POST", &format!("/api/{path}")).json(&json!({"title": "x"})).send();
        assert_eq!(made.failed(503), "unavailable", "{path}");
    }
    let (_, log) = server.stop();
    assert!(
        log.contains("GET /api/tasks 200")
            && !log.contains(" 404 ")
            && !log.contains(" 405 ")
            && !log.contains(" 500 "),
        "{log}"
    );
}
