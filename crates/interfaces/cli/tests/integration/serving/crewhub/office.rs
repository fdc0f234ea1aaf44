//! What people arrange: rooms, projects, names, rules, settings and agents.

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

use super::{ID, KEY, check, home};
use crate::serving::{Server, session, token};

const ROOM: &str = "id:text name:text icon:text? color:text? sort_order:number default_model:text? speed_multiplier:number \
                    floor_style:text wall_style:text project_id:text? project_name:text? project_color:text? is_hq:yes \
                    created_at:number updated_at:number";
const PROJECT: &str = "id:text name:text description:text? icon:text? color:text? folder_path:text? docs_path:text? \
                       status:text created_at:number updated_at:number rooms:list";
const AGENT: &str = "id:text name:text icon:text? avatar_url:text? color:text? agent_session_key:text? default_model:text? \
                     default_room_id:text? sort_order:number is_pinned:yes auto_spawn:yes bio:text? source:text \
                     project_path:text? permission_mode:text current_session_id:text? system_prompt:text? created_at:number \
                     updated_at:number";

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
    stream.until(|heard| heard.name == "rooms-refresh" && heard.data["room"]["id"] == "lab");
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
    // A session that is changed is renamed in the same way.
    let mut stream = server.ask("GET", "/api/events").listen();
    let session = format!("/api/sessions/{KEY}");
    let rename = |name: &str| server.ask("PATCH", &session).json(&json!({ "displayName": name })).send();
    assert_eq!(rename(" Wall ").succeeded(), json!({"success": true, "sessionKey": KEY}));
    stream.until(|heard| heard.name == "display-name-updated" && heard.data["display_name"] == "Wall");
    assert_eq!(rename(&"x".repeat(201)).failed(400), "usage");

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
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn a_new_sessions_room_is_asked_for_again_and_a_fixed_agents_is_its_own() {
    const OTHER: &str = "4601d36f-b6c0-4e4b-9000-7b07e25374f7";
    let home = home();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    stream.until(|heard| heard.name == "sessions-refresh");
    let quay = home.dir("quay");
    let lately = Transcript::new(OTHER).cwd(&quay).at(&jiff::Timestamp::now().to_string());
    lately.prompt("mend the quay").answer("Done.").write_to(&home);
    stream.until(|heard| heard.name == "rooms-refresh");
    let rooms = server.get("/api/rooms")["rooms"].clone();
    assert!(rooms.as_array().unwrap().iter().any(|room| room["name"] == "quay"), "{rooms}");
    let places = || server.get("/api/session-room-assignments")["assignments"].clone();
    assert_eq!(places()[0]["session_key"], format!("claude:{OTHER}"));
    let agent = json!({"id": "dev", "name": "Dev", "current_session_id": OTHER});
    server.post("/api/agents", &agent);
    assert_eq!(places()[0]["session_key"], "cc:dev", "as its row is named");
    assert_ne!(places()[0]["room_id"], "headquarters");
    let room = json!({"default_room_id": "headquarters"});
    server.ask("PUT", "/api/agents/dev").json(&room).send().succeeded();
    assert_eq!(places()[0]["room_id"], "headquarters");
}

#[test]
fn a_projects_documents_are_listed_and_read_and_no_other_file_is() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    session(&home, ID, &shop, "paint the fence green", "Done.");
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
fn a_hidden_folder_is_no_project_by_whatever_route_and_path() {
    let home = ScratchHome::new();
    let shop = home.dir("w/shop");
    session(&home, ID, &shop, "paint the fence green", "Done.");
    // Somebody worked in one, too.
    let keys = home.dir(".ssh/work");
    session(&home, "4601d36f-b6c0-4e4b-9000-7b07e25374f7", &keys, "sort the keys", "Done.");
    for path in
        [".ssh/notes.md", ".ssh/work/notes.md", ".claude/notes.md", "w/shop/.git/notes.md", "w/plain/x.md"]
    {
        home.write(path, "secret");
    }
    std::os::unix::fs::symlink(home.path().join(".ssh"), home.path().join("w/link")).expect("a link");
    let server = Server::start(&home, &[]);
    let acts = token(&home, "acts", "act");
    let ask = |method: &str, path: &str| {
        server.bare(method, path).header("Authorization", &format!("Bearer {acts}"))
    };
    let real = home.path().display().to_string();
    let hidden = [".ssh", ".claude", "w/../.ssh", "w/link", "w/link/work", ".ssh/work", "w/shop/.git"];
    let hidden = hidden
        .iter()
        .flat_map(|path| [format!("~/{path}"), format!("{real}/{path}"), format!("{real}/./{path}/")]);
    let own = ask("POST", "/api/projects").json(&json!({"name": "plain", "folder_path": "~/w/plain"})).send();
    let own = format!("/api/projects/{}", own.succeeded()["id"].as_str().expect("an id"));
    assert_eq!(server.get(&format!("{own}/markdown-files"))["files"], json!(["x.md"]));
    for folder in hidden {
        for field in ["folder_path", "docs_path"] {
            let new = json!({"name": "keys", field: folder});
            assert_eq!(ask("POST", "/api/projects").json(&new).send().failed(400), "usage", "{new}");
            let change = json!({field: folder});
            assert_eq!(ask("PUT", &own).json(&change).send().failed(400), "usage", "{change}");
        }
    }
    // That of the session is a project, and shows no documents.
    let projects = server.get("/api/projects");
    let found = projects["projects"].as_array().unwrap().iter();
    let keys =
        found.filter(|project| project["folder_path"].as_str().is_some_and(|path| path.contains(".ssh")));
    let ids: Vec<_> = keys.map(|project| project["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 1, "{projects}");
    for id in ids {
        assert_eq!(server.get(&format!("/api/projects/{id}/markdown-files"))["files"], json!([]));
    }
    // A folder that becomes a link to a hidden one later shows none, either.
    std::fs::remove_dir_all(home.path().join("w/plain")).expect("it goes");
    std::os::unix::fs::symlink(home.path().join(".ssh"), home.path().join("w/plain")).expect("a link");
    assert_eq!(server.get(&format!("{own}/markdown-files"))["files"], json!([]));
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
    let acts = token(&home, "acts", "act");
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
