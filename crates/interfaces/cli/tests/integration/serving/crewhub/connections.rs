//! Connections to Claude Code, and what they show.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Claude, ScratchHome, Transcript};

use super::{ID, check, home};
use crate::serving::Server;

const CONNECTION: &str = "id:text name:text type:text config:object enabled:yes status:text error:text? created_at:number updated_at:number";

/// Another session, in a config folder of its own, in which something has just happened.
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn session_elsewhere(home: &ScratchHome, id: &str) {
    let yard = home.dir("yard");
    let lately = Transcript::new(id).cwd(&yard).at(&jiff::Timestamp::now().to_string());
    lately.prompt("sweep the yard").answer("Swept.").write_to(home);
    let folder = home.dir("work-claude/projects");
    std::fs::rename(home.project_folder(&yard), folder.join("-yard")).unwrap();
}

#[test]
fn a_connection_decides_what_is_read_and_shown() {
    const OTHER: &str = "4601d36f-b6c0-4e4b-9000-7b07e25374f7";
    let home = home();
    session_elsewhere(&home, OTHER);
    let server = Server::start(&home, &[]);
    let shown = || {
        let all = server.get("/api/sessions?active_minutes=5270400");
        let mut shown: Vec<(String, String)> = all["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                [&one["sessionId"], &one["connectionId"]].map(|text| text.as_str().unwrap().to_owned())
            })
            .map(|[session, connection]| (session, connection))
            .collect();
        shown.sort();
        shown
    };
    let row = |session: &str, connection: &str| (session.to_owned(), connection.to_owned());
    assert_eq!(shown(), [row(ID, "local-claude")]);

    let config = json!({"data_dir": "~/work-claude"});
    let new = json!({"id": "work", "name": "Work", "type": "claude_code", "config": config});
    assert_eq!(server.post("/api/connections", &new)["error"], "Claude Code CLI not found");
    assert_eq!(shown(), [row(ID, "local-claude"), row(OTHER, "work")]);
    assert_eq!(server.get(&format!("/api/v1/sessions/{OTHER}"))["title"], "sweep the yard");
    // It is watched from now on.
    let its = || server.get("/api/connections/work/sessions")["sessions"].clone();
    wait_until(home.path(), "the session is watched", || its().as_array().is_some_and(|all| all.len() == 1));
    assert_eq!(its()[0]["sessionId"], OTHER);
    assert_eq!(server.get("/api/connections/work/health")["watched_sessions"], 1);
    assert_eq!(server.get("/api/connections/local-claude/health")["watched_sessions"], 0);
    assert_eq!(server.get("/api/connections/local-claude/sessions")["sessions"], json!([]));

    let change = |connection: &str, config: Value| {
        let path = format!("/api/connections/{connection}");
        server.ask("PATCH", &path).json(&json!({ "config": config })).send()
    };
    change("local-claude", json!({"project_dirs": ["~/elsewhere"]})).succeeded();
    assert_eq!(shown(), [row(OTHER, "work")]);
    change("local-claude", json!({"project_dirs": ["~/elsewhere", "~/shop"]})).succeeded();
    assert_eq!(shown(), [row(ID, "local-claude"), row(OTHER, "work")]);
    for wrong in [json!({"data_dir": 7}), json!({"project_dirs": "~/shop"}), json!({"cli_path": ["x"]})] {
        assert_eq!(change("work", wrong).failed(400), "usage");
    }
    server.post("/api/connections/work/disconnect", &json!({}));
    assert_eq!(shown(), [row(ID, "local-claude")]);
    assert_eq!(server.ask("GET", &format!("/api/v1/sessions/{OTHER}")).send().failed(404), "not_found");
    server.post("/api/connections/work/connect", &json!({}));

    // It is kept for the next server.
    server.kill();
    let server = Server::start(&home, &[]);
    assert_eq!(server.get(&format!("/api/v1/sessions/{OTHER}"))["title"], "sweep the yard");
    let real = Claude::newest().install(&home);
    std::fs::rename(real, home.path().join("bin/other-claude")).unwrap();
    let own = || server.get("/api/connections/local-claude/health");
    assert_eq!((&own()["healthy"], &own()["error"]), (&json!(false), &json!("Claude Code CLI not found")));
    for program in ["other-claude", "~/bin/other-claude"] {
        let config = json!({ "config": { "cli_path": program } });
        server.ask("PATCH", "/api/connections/local-claude").json(&config).send().succeeded();
        assert_eq!(
            (&own()["healthy"], &own()["cli_version"]),
            (&json!(true), &json!("2.1.332")),
            "{program}"
        );
    }
}

#[test]
fn a_program_is_asked_for_its_version_once_while_its_file_is_the_same() {
    let home = home();
    let real = Claude::newest().install(&home);
    let real = real.to_str().expect("a path");
    let (program, runs) = (home.path().join("odd/claude"), home.path().join("odd/runs"));
    // An update of Claude Code puts another file in its place, too. `cp` writes it, so that no process which another test
    // starts at this moment has it open for writing: it could not be run then.
    let install = |name: &str| {
        let script = format!("#!/bin/sh\necho run >> '{}'\nexec '{real}' \"$@\"\n", runs.display());
        let (text, new) = (home.write(&format!("{name}.txt"), script), home.path().join(name));
        std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o755)).unwrap();
        let copied = std::process::Command::new("cp").arg("-p").args([&text, &new]).status().unwrap();
        assert!(copied.success());
        std::fs::rename(new, &program).unwrap();
    };
    let count = || String::from_utf8(testkit::files::bytes(&runs)).unwrap().lines().count();
    install("odd/first");
    let server = Server::start(&home, &[]);
    let config = json!({ "config": { "cli_path": program } });
    server.ask("PATCH", "/api/connections/local-claude").json(&config).send().succeeded();
    server.post(
        "/api/connections",
        &json!({"id": "work", "name": "Work", "type": "claude_code", "config": config["config"]}),
    );
    let own = |path: &str| server.get(&format!("/api/connections{path}"));
    for _ in 0..3 {
        let all = own("");
        assert_eq!(
            (&all["connections"][0]["status"], &all["connections"][1]["status"]),
            (&json!("connected"), &json!("connected")),
            "{all}"
        );
        assert_eq!(own("/local-claude")["status"], "connected");
    }
    assert_eq!(count(), 1);
    // Its state is asked of the program itself.
    assert_eq!(own("/local-claude/health")["cli_version"], "2.1.332");
    assert_eq!(count(), 2);
    install("odd/second");
    let _ = (own(""), own(""));
    assert_eq!(count(), 3);
    std::fs::remove_file(&program).unwrap();
    assert_eq!(own("")["connections"][0]["error"], "Claude Code CLI not found");
}

#[test]
fn devices_tests_and_notices() {
    let home = home();
    let server = Server::start(&home, &[]);
    let device = server.get("/api/connections/local-claude/device-status");
    check(
        &device,
        "connection_id:text supported:yes paired:yes device_id:text? device_name:text? platform:text? message:text",
    );
    assert_eq!(server.ask("GET", "/api/connections/none/device-status").send().failed(404), "not_found");
    assert_eq!(server.ask("POST", "/api/connections/local-claude/pair").send().failed(400), "usage");
    assert_eq!(server.ask("POST", "/api/connections/none/pair").send().failed(404), "not_found");

    let test =
        |kind: &str| server.post("/api/discovery/test", &json!({"type": kind, "url": "ws://127.0.0.1:9"}));
    check(&test("openclaw"), "reachable:yes sessions:number? error:text");
    let claude = test("claude_code");
    assert_eq!((&claude["reachable"], &claude["sessions"]), (&json!(false), &json!(1)), "{claude}");
    Claude::newest().install(&home);
    assert_eq!(test("claude_code"), json!({"reachable": true, "sessions": 1, "error": null}));

    let mut events = server.ask("GET", "/api/events").listen();
    let _ = events.until(|heard| heard.name == "sessions-refresh");
    let sent = server.post("/api/notify", &json!({"type": "task-created", "data": {"id": "t1"}}));
    assert_eq!(sent, json!({"ok": true, "clients": 1}));
    assert_eq!(events.until(|heard| heard.name == "task-created").data, json!({"id": "t1"}));
    for name in ["", "a\ndata: {}", &"x".repeat(65)] {
        assert_eq!(
            server.ask("POST", "/api/notify").json(&json!({ "type": name })).send().failed(400),
            "usage"
        );
    }
}

#[test]
fn connections() {
    let home = home();
    let server = Server::start(&home, &[]);
    let all = server.get("/api/connections");
    assert_eq!(all["total"], 1);
    check(&all["connections"][0], CONNECTION);
    let own = &all["connections"][0].clone();
    assert_eq!(
        (&own["status"], &own["error"]),
        (&json!("error"), &json!("Claude Code CLI not found")),
        "{own}"
    );
    let found = server.get("/api/connections/claude-code/detect");
    assert_eq!(
        (&found["found"], &found["status"], &found["session_count"]),
        (&json!(true), &json!("data_only"), &json!(1))
    );
    check(&found, "cli_available:yes cli_path:text? projects_dir_exists:yes claude_dir_exists:yes");
    Claude::newest().install(&home);
    assert_eq!(server.get("/api/connections/claude-code/detect")["status"], "ready");
    let health = server.get("/api/connections/local-claude/health");
    check(
        &health,
        "id:text name:text type:text status:text healthy:yes error:text? cli_version:text watched_sessions:number",
    );
    assert_eq!((&health["healthy"], &health["cli_version"]), (&json!(true), &json!("2.1.332")), "{health}");
    let path = "/api/connections/local-claude";
    let program = |named: Value| {
        let change = json!({ "config": { "cli_path": named } });
        server.ask("PATCH", path).json(&change).send().succeeded()
    };
    let silent = home.write("bin/silent", "#!/bin/sh\necho silent\n");
    std::fs::set_permissions(&silent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let why = json!(format!("{} does not report its version", silent.display()));
    let wrong = program(json!(silent));
    assert_eq!((&wrong["status"], &wrong["error"]), (&json!("error"), &why), "{wrong}");
    assert_eq!(server.get(path)["error"], why);
    assert_eq!(server.get("/api/connections")["connections"][0]["status"], "error");
    let health = server.get(&format!("{path}/health"));
    assert_eq!((&health["healthy"], &health["error"]), (&json!(false), &why), "{health}");
    let found = server.get("/api/connections/claude-code/detect");
    let seen = (&found["cli_available"], &found["status"], &found["error"]);
    assert_eq!(seen, (&json!(false), &json!("data_only"), &why), "{found}");
    assert_eq!(program(Value::Null)["status"], "connected");
    let relative = json!({"name": "Here", "type": "claude_code", "config": {"data_dir": "work-claude"}});
    let refused = server.ask("POST", "/api/connections").json(&relative).send();
    assert_eq!(refused.failed(400), "usage");
    let why = refused.to_json()["detail"].clone();
    assert!(
        why.as_str().is_some_and(|why| why.contains("`data_dir`") && why.contains("whole path")),
        "{why}"
    );
    let new =
        json!({"id": "other", "name": "Other", "type": "claude_code", "config": {"data_dir": "/nowhere"}});
    let made = server.ask("POST", "/api/connections").json(&new).send();
    assert_eq!((made.status, &made.to_json()["status"]), (201, &json!("error")));
    assert_eq!(server.ask("POST", "/api/connections").json(&new).send().failed(409), "held");
    assert_eq!(
        server.ask("POST", "/api/connections").json(&json!({"name": "x", "type": "y"})).send().failed(400),
        "usage"
    );
    let changed = server
        .ask("PATCH", "/api/connections/other")
        .json(&json!({"name": "Mine", "id": "z"}))
        .send()
        .succeeded();
    assert_eq!((&changed["id"], &changed["name"]), (&json!("other"), &json!("Mine")));
    let mut events = server.ask("GET", "/api/events").listen();
    events.until(|heard| heard.name == "sessions-refresh");
    let off = server.ask("POST", "/api/connections/other/disconnect").send().succeeded();
    let told = events.until(|heard| heard.name == "connection-status").data;
    assert_eq!((&told["id"], &told["status"]), (&json!("other"), &json!("disconnected")), "{told}");
    assert_eq!((&off["enabled"], &off["status"]), (&json!(false), &json!("disconnected")));
    assert_eq!((&off["connected"], &own["connected"]), (&json!(false), &json!(false)));
    let mine = server.ask("POST", "/api/connections/local-claude/connect").send().succeeded();
    assert_eq!((&mine["connected"], &mine["status"]), (&json!(true), &json!("connected")));
    assert_eq!(server.get("/api/connections/other/sessions")["sessions"], json!([]));
    assert_eq!(server.ask("DELETE", "/api/connections/other").send().status, 204);
    assert_eq!(server.ask("DELETE", "/api/connections/other").send().failed(404), "not_found");
    assert_eq!(server.ask("DELETE", "/api/connections/local-claude").send().failed(400), "usage");
}
