//! Names, tags, notes, pins and what is hidden: the same on the page and on the command line.

use serde_json::{Value, json};
use testkit::ScratchHome;

use super::{Server, session, token};

const FENCE: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
const QUAY: &str = "4601d36f-b6c0-4e4b-9000-7b07e25374f7";

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    session(&home, FENCE, &shop, "paint the fence green", "Done.");
    session(&home, QUAY, &shop, "measure the quay", "Done.");
    home
}

fn place(id: &str) -> String {
    format!("/api/v1/sessions/{id}/annotations")
}

#[track_caller]
fn annotate(server: &Server, id: &str, body: &Value) -> Value {
    server.ask("PATCH", &place(id)).json(body).send().succeeded()
}

#[track_caller]
fn run(home: &ScratchHome, arguments: &[&str]) -> String {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The ids that a list answers with.
fn listed(server: &Server, path: &str) -> Vec<String> {
    let answer = server.get(path);
    let all = answer["sessions"].as_array().or_else(|| answer["rows"].as_array()).unwrap();
    let id =
        |one: &Value| one.get("session_id").or_else(|| one.get("id")).unwrap().as_str().unwrap().to_owned();
    all.iter().map(id).collect()
}

#[test]
fn what_a_page_annotates_the_command_line_shows() {
    let home = home();
    let server = Server::start(&home, &[]);
    let change = json!({"name": "The green fence", "add_tags": ["garden", "#Later"], "note": "ask Ada", "pinned": true});
    let done = annotate(&server, FENCE, &change);
    let expected = json!({"name": "The green fence", "tags": ["garden", "Later"], "note": "ask Ada", "pinned": true, "hidden": false});
    assert_eq!((&done["title"], &done["annotations"]), (&json!("The green fence"), &expected), "{done}");
    assert_eq!(run(&home, &["tag", FENCE]), "3601d36f  #garden #Later\n");
    assert_eq!(run(&home, &["name", FENCE]), "3601d36f  The green fence\n");
    // What is not named stays.
    let done = annotate(&server, FENCE, &json!({"remove_tags": ["GARDEN"]}));
    assert_eq!(done["annotations"]["tags"], json!(["Later"]));
    assert_eq!(server.get("/api/v1/tags"), json!({"tags": [{"tag": "Later", "sessions": 1}]}));
    for list in ["sessions", "rows"] {
        let path = format!("/api/v1/{list}");
        assert_eq!(listed(&server, &path), [FENCE, QUAY], "the pinned one is first");
        assert_eq!(listed(&server, &format!("{path}?pinned=true")), [FENCE]);
        assert_eq!(listed(&server, &format!("{path}?tag=later")), [FENCE]);
        assert_eq!(listed(&server, &format!("{path}?tag=none")), [""; 0]);
    }
    let row = &server.get("/api/v1/rows?pinned=true")["rows"][0];
    assert_eq!(
        (&row["title"], &row["tags"], &row["note"]),
        (&json!("The green fence"), &json!(["Later"]), &json!("ask Ada"))
    );
    annotate(&server, QUAY, &json!({"hidden": true}));
    for list in ["sessions", "rows"] {
        assert_eq!(listed(&server, &format!("/api/v1/{list}")), [FENCE]);
        assert_eq!(listed(&server, &format!("/api/v1/{list}?hidden=true")), [QUAY]);
    }
    assert!(run(&home, &["list", "--hidden"]).contains("measure the quay"));
    annotate(&server, QUAY, &json!({"hidden": false}));
    assert_eq!(listed(&server, "/api/v1/rows"), [FENCE, QUAY]);
}

#[test]
fn pages_go_on_behind_a_pinned_session() {
    let home = home();
    session(&home, "5601d36f-b6c0-4e4b-9000-7b07e25374f7", &home.dir("shop"), "mow the lawn", "Done.");
    let server = Server::start(&home, &[]);
    let oldest = listed(&server, "/api/v1/sessions").pop().unwrap();
    annotate(&server, &oldest, &json!({"pinned": true}));
    let all = listed(&server, "/api/v1/sessions");
    assert_eq!(all[0], oldest);
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/api/v1/sessions?limit=1{next}"));
        found.push(page["sessions"][0]["session_id"].as_str().unwrap().to_owned());
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert_eq!(found, all);
}

#[test]
fn annotations_that_make_no_sense_are_refused() {
    let home = home();
    let server = Server::start(&home, &[]);
    let refused =
        |id: &str, body: &Value, status| server.ask("PATCH", &place(id)).json(body).send().failed(status);
    assert_eq!(refused(FENCE, &json!({"add_tags": ["two words"]}), 400), "usage");
    assert_eq!(refused(FENCE, &json!({"sessions": [QUAY]}), 400), "usage");
    assert_eq!(refused(FENCE, &json!({"name": "a".repeat(201)}), 413), "too_large");
    assert_eq!(refused("9999999f", &json!({"pinned": true}), 404), "not_found");
    let reader = token(&home, "reader", "read");
    let asking = server.bare("PATCH", &place(FENCE)).header("Authorization", &format!("Bearer {reader}"));
    assert_eq!(asking.json(&json!({"pinned": true})).send().failed(403), "forbidden");
    assert_eq!(server.get("/api/v1/tags"), json!({"tags": []}));
}

#[test]
fn every_listener_hears_of_a_change_whoever_makes_it() {
    let home = home();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/v1/events").listen();
    stream.until(|heard| heard.name == "sessions-refresh");
    annotate(&server, FENCE, &json!({"pinned": true}));
    let heard = stream.until(|heard| heard.name == "session-annotated");
    assert_eq!(heard.data["sessionId"], FENCE);
    assert_eq!(heard.data["annotations"]["pinned"], true, "{heard:?}");
    run(&home, &["tag", QUAY, "water"]);
    let heard = stream.until(|heard| heard.name == "session-annotated");
    assert_eq!(
        (&heard.data["sessionId"], &heard.data["annotations"]["tags"]),
        (&json!(QUAY), &json!(["water"]))
    );
    let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
    run(&home, &["note", QUAY, &format!("with {secret}")]);
    let heard = stream.until(|heard| heard.name == "session-annotated");
    let note = heard.data["annotations"]["note"].as_str().unwrap();
    assert!(note.starts_with("with ") && !note.contains(&secret[4..]), "{note}");
    run(&home, &["pin", FENCE, "--undo"]);
    let heard = stream.until(|heard| heard.name == "session-annotated");
    assert_eq!(
        (&heard.data["sessionId"], &heard.data["annotations"]["pinned"]),
        (&json!(FENCE), &json!(false))
    );
}

#[test]
fn pins_and_tags_that_the_dashboard_kept_itself_are_taken_over_once() {
    let home = home();
    let server = Server::start(&home, &[]);
    let gone = "9601d36f-b6c0-4e4b-9000-7b07e25374f7";
    let marks = json!({"pinned": [FENCE, gone, "../x"], "tags": {FENCE: ["to do", "garden"], QUAY: []}});
    let body = json!({"value": marks.to_string()});
    server.ask("PUT", "/api/settings/dashboard.marks").json(&body).send().succeeded();
    run(&home, &["tag", FENCE, "old"]);
    server.stop();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/v1/events").listen();
    let is_taken_over = |server: &Server| server.get("/api/settings").get("dashboard.marks").is_none();
    while !is_taken_over(&server) {
        stream.next().unwrap();
    }
    assert_eq!(run(&home, &["tag", FENCE]), "3601d36f  #garden #old #to-do\n");
    assert_eq!(listed(&server, "/api/v1/rows?pinned=true"), [FENCE]);
    run(&home, &["pin", FENCE, "--undo"]);
    server.stop();
    let server = Server::start(&home, &[]);
    assert_eq!(listed(&server, "/api/v1/rows?pinned=true"), [""; 0], "it is done once");
}
