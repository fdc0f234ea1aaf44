//! The routes of CrewHub's front end, each with the shape that it reads.

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Claude, ScratchHome, Transcript};

use super::Server;

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
const KEY: &str = "claude:3601d36f-b6c0-4e4b-9000-7b07e25374f7";

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let long_ago = Transcript::new(ID).cwd(&shop).at("2020-02-02T12:00:00Z");
    long_ago.prompt("paint the fence green").answer("Done.").write_to(&home);
    home
}

/// Fails unless the value has these fields, each of this kind; `?` after a kind allows `null`.
#[track_caller]
fn check(value: &Value, fields: &str) {
    for field in fields.split(' ') {
        let (name, kind) = field.split_once(':').expect("a kind");
        let (kind, may_be_null) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
        let found = value.get(name).unwrap_or_else(|| panic!("no {name} in {value}"));
        let is_it = match kind {
            "text" => found.is_string(),
            "number" => found.is_number(),
            "yes" => found.is_boolean(),
            "list" => found.is_array(),
            "object" => found.is_object(),
            other => panic!("unknown kind {other}"),
        };
        assert!(is_it || (may_be_null && found.is_null()), "{name} is no {kind} in {value}");
    }
}

const SESSION: &str = "key:text sessionId:text source:text connectionId:text agentId:text channel:text kind:text \
                       label:text status:text updatedAt:number createdAt:number lastActivity:number contextTokens:number \
                       projectPath:text activityDetail:text? activityToolName:text?";
const ARCHIVED: &str = "session_key:text session_id:text agent_id:text display_name:text minion_type:text model:text? \
                        channel:text started_at:text ended_at:text message_count:number status:text summary:text";
const ROOM: &str = "id:text name:text icon:text? color:text? sort_order:number default_model:text? speed_multiplier:number \
                    floor_style:text wall_style:text project_id:text? project_name:text? project_color:text? is_hq:yes \
                    created_at:number updated_at:number";
const PROJECT: &str = "id:text name:text description:text? icon:text? color:text? folder_path:text? docs_path:text? \
                       status:text created_at:number updated_at:number rooms:list";
const CONNECTION: &str = "id:text name:text type:text config:object enabled:yes status:text error:text? created_at:number updated_at:number";
const AGENT: &str = "id:text name:text icon:text? avatar_url:text? color:text? agent_session_key:text? default_model:text? \
                     default_room_id:text? sort_order:number is_pinned:yes auto_spawn:yes bio:text? source:text \
                     project_path:text? permission_mode:text current_session_id:text? system_prompt:text? created_at:number \
                     updated_at:number";
const JOB: &str =
    "id:text name:text enabled:yes schedule:object payload:object sessionTarget:text state:object";

#[test]
fn sessions_and_their_history() {
    let home = home();
    let server = Server::start(&home, &[]);
    let path = "/api/sessions?active_minutes=5270400";
    let sessions = server.get(path)["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
    check(&sessions[0], SESSION);
    assert_eq!((&sessions[0]["key"], &sessions[0]["label"]), (&json!(KEY), &json!("paint the fence green")));
    // It was long ago.
    assert_eq!(server.get("/api/sessions?active_minutes=1")["sessions"], json!([]));
    let history = server.get(&format!("/api/sessions/{KEY}/history?limit=50"));
    assert_eq!((&history["count"], &history["format"]), (&json!(2), &json!("standard")));
    assert_eq!(history["messages"][0]["content"], json!([{"type": "text", "text": "paint the fence green"}]));
    check(&history["messages"][1], "role:text content:list timestamp:number metadata:object");
    // A browser writes the key with its escape.
    let escaped = server.get(&format!("/api/sessions/{}/history", KEY.replace(':', "%3A")));
    assert_eq!(escaped["count"], 2);
    let archived = server.get("/api/sessions/archived?limit=10&search=fence");
    check(&archived, "sessions:list total:number");
    check(&archived["sessions"][0], ARCHIVED);
    assert_eq!(archived["sessions"][0]["started_at"], "2020-02-02T12:00:00Z", "{archived}");
    assert_eq!(server.get("/api/sessions/archived?search=nothing")["total"], 0);
    check(
        &server.get(&format!("/api/chat/{KEY}/info")),
        "canChat:yes agentId:text agentName:text sessionKey:text source:text",
    );
    let none = server.get("/api/sessions/cc:nobody/history");
    assert_eq!(none, json!({"messages": [], "count": 0, "format": "standard"}));
    assert_eq!(server.ask("GET", "/api/sessions/claude:..%2Fx/history").send().failed(400), "usage");
    assert_eq!(server.ask("DELETE", &format!("/api/sessions/{KEY}")).send().failed(404), "not_found");
}

#[test]
fn a_chat_is_read_back_in_pieces() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let mut transcript = Transcript::new(ID).cwd(&shop);
    for number in 0..6 {
        transcript = transcript
            .prompt(&format!("question {number}"))
            .thinking("Hm.")
            .tool("Bash", json!({"command": format!("count {number}")}), "counted")
            .answer(&format!("answer {number}"));
    }
    transcript.write_to(&home);
    let server = Server::start(&home, &[]);
    let last = server.get(&format!("/api/chat/{KEY}/history?limit=5"));
    check(&last, "messages:list hasMore:yes oldestTimestamp:number");
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 5, "{last}");
    assert_eq!((&messages[4]["role"], &messages[4]["content"]), (&json!("assistant"), &json!("answer 5")));
    check(
        &messages[4],
        "id:text role:text content:text timestamp:number tokens:number tools:list contentSegments:list",
    );
    assert_eq!(messages[4]["tools"][0], json!({"name": "Bash", "status": "done", "label": "count 5"}));
    let kinds: Vec<_> =
        messages[4]["contentSegments"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
    assert_eq!(kinds, ["thinking", "tool", "text"]);
    assert_eq!(messages[4]["contentSegments"][1]["tool"], messages[4]["tools"][0]);
    let before = last["oldestTimestamp"].as_i64().unwrap();
    let older = server.get(&format!("/api/chat/{KEY}/history?limit=5&before={before}"));
    let contents: Vec<_> =
        older["messages"].as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    assert_eq!(contents, ["question 1", "answer 1", "question 2", "answer 2", "question 3"]);
    // The same with a server that has not shown the last ones.
    server.kill();
    let server = Server::start(&home, &[]);
    let path = format!("/api/chat/{KEY}/history?limit=100&before={before}&raw=true");
    let older = server.get(&path);
    assert_eq!(
        (older["messages"].as_array().map(Vec::len), &older["hasMore"]),
        (Some(7), &json!(false)),
        "{older}"
    );
    assert_eq!(older["messages"][1]["thinking"], json!(["Hm."]));
    assert_eq!(older["messages"][1]["tools"][0]["result"], "counted");
}

#[test]
fn chat_is_refused_where_there_is_none() {
    let home = home();
    let server = Server::start(&home, &[]);
    let said = json!({"message": "hello"});
    let post = |key: &str, way: &str, said: &Value| {
        server.ask("POST", &format!("/api/chat/{key}/{way}")).json(said).send()
    };
    assert_eq!(post("agent:main:discord", "send", &said).failed(403), "forbidden");
    assert_eq!(post("agent:main:main", "send", &said).failed(503), "unavailable");
    assert_eq!(post(KEY, "send", &json!({"message": " "})).failed(400), "usage");
    // Its directory is there, and no `claude`.
    let answer = post(KEY, "send", &said).succeeded();
    assert_eq!((&answer["success"], &answer["response"]), (&json!(false), &Value::Null), "{answer}");
    check(&answer, "error:text tokens:number");
    assert_eq!(post(KEY, "send", &said).failed(429), "held");
    let killed = post(KEY, "kill", &json!({})).succeeded();
    assert_eq!(killed, json!({"success": false, "message": "No running process found for this session"}));
}

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
            (&json!(true), &json!("2.1.330")),
            "{program}"
        );
    }
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
    let own = &all["connections"][0];
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
    assert_eq!((&health["healthy"], &health["cli_version"]), (&json!(true), &json!("2.1.330")), "{health}");
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
    let off = server.ask("POST", "/api/connections/other/disconnect").send().succeeded();
    assert_eq!((&off["enabled"], &off["status"]), (&json!(false), &json!("disconnected")));
    assert_eq!(server.get("/api/connections/other/sessions")["sessions"], json!([]));
    assert_eq!(server.ask("DELETE", "/api/connections/other").send().status, 204);
    assert_eq!(server.ask("DELETE", "/api/connections/other").send().failed(404), "not_found");
    assert_eq!(server.ask("DELETE", "/api/connections/local-claude").send().failed(400), "usage");
}

#[test]
fn jobs() {
    let home = home();
    let server = Server::start(&home, &[]);
    assert_eq!(server.get("/api/cron/jobs"), json!({"jobs": []}));
    let new = json!({
        "name": "Tidy up", "schedule": {"kind": "every", "everyMs": 3_600_000, "anchorMs": 0}, "sessionTarget": "isolated",
        "payload": {"kind": "agentTurn", "message": "tidy", "model": "opus", "thinking": "low", "timeoutSeconds": 60},
        "directory": home.path(), "enabled": false,
    });
    let made = server.post("/api/cron/jobs", &new);
    check(&made, JOB);
    assert_eq!((&made["id"], &made["enabled"]), (&json!("Tidy-up"), &json!(false)));
    assert_eq!(made["payload"], new["payload"]);
    assert_eq!(
        (&made["schedule"]["kind"], &made["schedule"]["everyMs"]),
        (&json!("every"), &json!(3_600_000))
    );
    assert_eq!(server.post("/api/cron/jobs/Tidy-up/enable", &json!({})), json!({"success": true}));
    let one = server.get("/api/cron/jobs/Tidy-up");
    assert!(one["enabled"] == true && one["state"]["nextRunAtMs"].is_number(), "{one}");
    let change = json!({"schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "UTC"}, "name": "Morning"});
    let changed = server.ask("PATCH", "/api/cron/jobs/Tidy-up").json(&change).send().succeeded();
    assert_eq!(
        (&changed["id"], &changed["schedule"]),
        (&json!("Morning"), &json!({"kind": "cron", "expr": "0 9 * * *", "tz": "UTC"}))
    );
    assert_eq!((&changed["payload"], &changed["enabled"]), (&new["payload"], &json!(true)));
    // It is the same job, with its history.
    assert_eq!(changed["createdAtMs"], made["createdAtMs"]);
    let wrong = json!({"schedule": {"kind": "cron", "expr": "never"}});
    assert_eq!(server.ask("PATCH", "/api/cron/jobs/Morning").json(&wrong).send().failed(400), "usage");
    assert_eq!(server.get("/api/cron/jobs")["jobs"].as_array().map(Vec::len), Some(1));
    let off =
        server.ask("PATCH", "/api/cron/jobs/Morning").json(&json!({"enabled": false})).send().succeeded();
    assert_eq!(off["enabled"], false);
    assert_eq!(server.ask("DELETE", "/api/cron/jobs/Morning").send().succeeded(), json!({"success": true}));
    assert_eq!(server.ask("GET", "/api/cron/jobs/Morning").send().failed(404), "not_found");
    let event = json!({"schedule": {"kind": "at", "atMs": 4_102_444_800_000_i64}, "payload": {"kind": "systemEvent", "text": "hi"}, "directory": home.path()});
    let made = server.post("/api/cron/jobs", &event);
    assert_eq!((&made["sessionTarget"], &made["schedule"]), (&json!("main"), &event["schedule"]), "{made}");
}

#[test]
fn rooms_and_projects() {
    let home = home();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    // The session is of long ago: its project has no room by itself.
    let rooms = server.get("/api/rooms")["rooms"].clone();
    assert_eq!(rooms.as_array().map(Vec::len), Some(1));
    check(&rooms[0], ROOM);
    assert_eq!(rooms[0]["is_hq"], true);
    let made = server.post("/api/rooms", &json!({"id": "lab", "name": "Lab", "sort_order": 5}));
    check(&made, ROOM);
    assert_eq!(stream.until(|heard| heard.name == "rooms-refresh").data["room"]["id"], "lab");
    assert_eq!(
        server.ask("POST", "/api/rooms").json(&json!({"id": "lab", "name": "Lab"})).send().failed(400),
        "usage"
    );
    assert_eq!(
        server.ask("POST", "/api/rooms").json(&json!({"id": "../x", "name": "x"})).send().failed(400),
        "usage"
    );
    let project = server.post("/api/projects", &json!({"name": "Quay", "color": "#123456"}));
    check(&project, PROJECT);
    let with = server.post("/api/rooms/lab/project", &json!({"project_id": project["id"]}));
    assert_eq!((&with["project_name"], &with["project_color"]), (&json!("Quay"), &json!("#123456")));
    let overview = server.get("/api/projects/overview")["projects"][0].clone();
    check(&overview, PROJECT);
    assert_eq!((&overview["room_count"], &overview["rooms"]), (&json!(1), &json!(["lab"])), "{overview}");
    let put = |path: &str, body: &Value| server.ask("PUT", path).json(body).send();
    assert_eq!(
        put("/api/rooms/lab", &json!({"name": "Laboratory", "is_hq": true})).succeeded()["name"],
        "Laboratory"
    );
    assert_eq!(server.get("/api/rooms/lab")["is_hq"], false);
    assert_eq!(
        put("/api/rooms/reorder", &json!(["lab", "headquarters"])).succeeded(),
        json!({"success": true})
    );
    assert_eq!(server.get("/api/rooms")["rooms"][0]["id"], "lab");
    assert_eq!(put("/api/rooms/lab/hq", &json!({})).succeeded()["is_hq"], true);
    assert_eq!(server.get("/api/rooms/headquarters")["is_hq"], false);
    let context = server.get("/api/rooms/lab/context");
    assert_eq!((&context["envelope"]["v"], &context["envelope"]["room"]["type"]), (&json!(1), &json!("hq")));
    assert_eq!(context["context_hash"].as_str().map(str::len), Some(16));
    assert!(server.get("/api/rooms/lab/context?channel=discord")["envelope"].get("participants").is_none());
    assert_eq!(server.ask("DELETE", "/api/rooms/lab/project").send().succeeded()["project_id"], Value::Null);
    assert_eq!(server.ask("DELETE", "/api/rooms/lab").send().failed(400), "usage");
    assert_eq!(
        server.ask("DELETE", "/api/rooms/headquarters").send().succeeded(),
        json!({"success": true, "deleted": "headquarters"})
    );
    let id = project["id"].as_str().unwrap();
    let changed = put(&format!("/api/projects/{id}"), &json!({"description": "By the water"})).succeeded();
    assert_eq!(changed["description"], "By the water");
    assert_eq!(server.ask("DELETE", &format!("/api/projects/{id}")).send().succeeded()["success"], true);
    assert_eq!(server.ask("GET", &format!("/api/projects/{id}")).send().failed(404), "not_found");
    // What was made is there again.
    server.kill();
    let server = Server::start(&home, &[]);
    assert_eq!(server.get("/api/rooms")["rooms"][0]["name"], "Laboratory");
}

#[test]
fn names_places_rules_and_settings() {
    let home = home();
    let server = Server::start(&home, &[]);
    let names = "/api/session-display-names";
    assert_eq!(server.get(names), json!({"display_names": []}));
    let fence = server.post(&format!("{names}/{KEY}"), &json!({"display_name": "Fence"}));
    check(&fence, "session_key:text display_name:text updated_at:number");
    assert_eq!(server.get("/api/sessions?active_minutes=5270400")["sessions"][0]["displayName"], "Fence");
    assert_eq!(
        server.ask("DELETE", &format!("{names}/{KEY}")).send().succeeded(),
        json!({"success": true, "deleted": KEY})
    );
    assert_eq!(server.ask("GET", &format!("{names}/{KEY}")).send().failed(404), "not_found");

    let places = "/api/session-room-assignments";
    let put = json!({"session_key": KEY, "room_id": "headquarters"});
    check(&server.post(places, &put), "session_key:text room_id:text assigned_at:number");
    assert_eq!(server.get(places)["assignments"][0]["room_id"], "headquarters");
    assert_eq!(
        server.get(&format!("{places}/room/headquarters"))["assignments"].as_array().map(Vec::len),
        Some(1)
    );
    let context = server.get(&format!("/api/sessions/{KEY}/context"));
    assert_eq!(context["envelope"]["room"]["id"], "headquarters");
    assert_eq!(
        server.ask("POST", places).json(&json!({"session_key": KEY, "room_id": "none"})).send().failed(400),
        "usage"
    );
    assert_eq!(server.post(&format!("{places}/batch"), &json!([put]))["count"], 1);
    assert_eq!(server.ask("DELETE", &format!("{places}/{KEY}")).send().succeeded()["success"], true);

    let rules = "/api/room-assignment-rules";
    let rule =
        json!({"room_id": "headquarters", "rule_type": "keyword", "rule_value": "fence", "priority": 3});
    let made = server.post(rules, &rule);
    check(&made, "id:text room_id:text rule_type:text rule_value:text priority:number created_at:number");
    let path = format!("{rules}/{}", made["id"].as_str().unwrap());
    assert_eq!(server.ask("PUT", &path).json(&json!({"priority": 9})).send().succeeded()["priority"], 9);
    for (kind, value) in [("smell", "x"), ("label_pattern", "(")] {
        let wrong = json!({"room_id": "headquarters", "rule_type": kind, "rule_value": value});
        assert_eq!(server.ask("POST", rules).json(&wrong).send().failed(400), "usage");
    }
    assert_eq!(server.get(rules)["rules"].as_array().map(Vec::len), Some(1));
    assert_eq!(server.ask("DELETE", &path).send().succeeded()["success"], true);

    let settings = "/api/settings";
    assert_eq!(server.get(settings)["crewhub-onboarded"], "true");
    let set =
        server.ask("PUT", &format!("{settings}/theme")).json(&json!({"value": "dark"})).send().succeeded();
    check(&set, "key:text value:text updated_at:number");
    let all = server
        .ask("PUT", &format!("{settings}/batch"))
        .json(&json!({"settings": {"a": "1", "theme": "light"}}))
        .send();
    assert_eq!((&all.succeeded()["theme"], &all.succeeded()["a"]), (&json!("light"), &json!("1")));
    assert_eq!(
        server
            .ask("PUT", &format!("{settings}/batch"))
            .json(&json!({"settings": {"a": 1}}))
            .send()
            .failed(400),
        "usage"
    );
    assert_eq!(server.ask("DELETE", &format!("{settings}/a")).send().status, 204);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn a_pattern_puts_a_session_into_a_room() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    // A session of long ago is in no room by itself.
    let lately = Transcript::new(ID).cwd(&shop).at(&jiff::Timestamp::now().to_string());
    lately.prompt("paint the fence green").answer("Done.").write_to(&home);
    let server = Server::start(&home, &[]);
    let _ = server.post("/api/rooms", &json!({"id": "lab", "name": "Lab"}));
    let room = || server.get("/api/session-room-assignments")["assignments"][0]["room_id"].clone();
    assert!(room().as_str().is_some_and(|room| room.starts_with("room-p-")), "{}", room());
    let rule = json!({"room_id": "lab", "rule_type": "label_pattern", "rule_value": "^paint .* green$", "priority": 3});
    let _ = server.post("/api/room-assignment-rules", &rule);
    assert_eq!(room(), "lab");
}

#[test]
fn a_projects_documents_are_listed_and_read_and_no_other_file_is() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    super::session(&home, ID, &shop, "paint the fence green", "Done.");
    home.write("shop/README.md", "# Shop");
    home.write("shop/docs/plan.md", "# Plan");
    home.write("shop/secret.txt", "secret");
    home.write("other/notes.md", "other");
    let server = Server::start(&home, &[]);
    let id = server.get("/api/projects")["projects"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/projects/{id}");
    let listed = server.get(&format!("{path}/markdown-files"));
    assert_eq!(listed["files"], json!(["docs/plan.md", "README.md"]), "{listed}");
    let tree = server.get(&format!("{path}/documents?depth=3"));
    check(&tree, "project_id:text project_name:text base_path:text files:list");
    check(&tree["files"][1], "name:text path:text type:text size:number modified:text");
    let plan = server.get(&format!("{path}/documents/docs%2Fplan.md"));
    assert_eq!((&plan["content"], &plan["lines"]), (&json!("# Plan"), &json!(1)), "{plan}");
    for other in ["secret.txt", "..%2Fother%2Fnotes.md", "%2Fetc%2Fpasswd", "docs%2F..%2FREADME.md", "docs"] {
        assert_eq!(
            server.ask("GET", &format!("{path}/documents/{other}")).send().failed(404),
            "not_found",
            "{other}"
        );
    }
}

#[test]
fn agents() {
    let home = home();
    let server = Server::start(&home, &[]);
    let made = server.post("/api/agents", &json!({"id": "dev", "name": "Dev", "project_path": home.path()}));
    check(&made, AGENT);
    assert_eq!((&made["agent_session_key"], &made["source"]), (&json!("cc:dev"), &json!("claude_code")));
    check(&server.get("/api/agents")["agents"][0], AGENT);
    let changed = server
        .ask("PUT", "/api/agents/dev")
        .json(&json!({"name": "Developer", "is_pinned": true}))
        .send()
        .succeeded();
    assert_eq!((&changed["name"], &changed["is_pinned"]), (&json!("Developer"), &json!(true)));
    let wrong = server.ask("PUT", "/api/agents/dev").json(&json!({"permission_mode": "wild"})).send();
    assert_eq!(wrong.failed(400), "usage");
    let acts = super::token(&home, "acts", "act");
    let freely = server.bare("PUT", "/api/agents/dev").header("Authorization", &format!("Bearer {acts}"));
    assert_eq!(freely.json(&json!({"permission_mode": "bypassPermissions"})).send().failed(403), "forbidden");
    check(
        &server.get("/api/agents/dev/identity"),
        "agent_id:text agent_name:text identity_anchor:text surface_rules:text identity_locked:yes surfaces:list",
    );
    check(
        &server.get("/api/agents/dev/persona"),
        "agent_id:text start_behavior:number custom_instructions:text",
    );
    check(&server.get("/api/agents/dev/surfaces"), "agent_id:text surfaces:list");
    let copy = server.post("/api/agents/dev/clone", &json!({}));
    check(&copy, "success:yes agent_id:text name:text");
    check(&server.post("/api/agents/dev/generate-bio", &json!({})), "bio:text generated:yes");
    assert_eq!(server.get("/api/agents")["agents"].as_array().map(Vec::len), Some(2));
    assert_eq!(server.ask("DELETE", "/api/agents/dev").send().succeeded()["success"], true);
    assert_eq!(server.ask("GET", "/api/agents/dev").send().failed(404), "not_found");
}

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
    let (_, log) = server.stop();
    assert!(log.contains("GET /api/tasks 200") && !log.contains(" 404 ") && !log.contains(" 500 "), "{log}");
}
