//! The settings `mcp.projects` and `mcp.deny`: what they keep from a model is in no answer of any tool.

use std::path::Path;

use serde_json::{Value, json};
use testkit::Transcript;

use crate::client::Client;
use crate::scene::{LONG, Scene, TIDES, TOKENS};

/// Everything that the server says of what is kept from it.
fn all_answers(scene: &Scene, client: &mut Client) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let harbor = scene.directory("harbor").display().to_string();
    let calls = [
        ("session_list", json!({})),
        ("session_list", json!({"project": "harbor"})),
        ("search", json!({"query": "tides lighthouse lamp"})),
        ("search", json!({"query": "tides", "session": TIDES})),
        ("search", json!({"query": "tides project:harbor"})),
        ("smart_fork", json!({"intent": "tides lighthouse lamp"})),
        ("smart_fork", json!({"intent": TIDES, "auto_fork": true})),
        ("smart_fork", json!({"intent": "zzyzx", "min_score": 1})),
        ("read_session", json!({"session": TIDES})),
        ("read_session", json!({"session": &LONG[..8]})),
        ("project_status", json!({"repo": "harbor"})),
        ("project_status", json!({"repo": harbor})),
        ("pick_session", json!({"task": "Show the tides", "repo": harbor})),
        ("spawn_worker", json!({"task": "Show the tides", "project_path": harbor})),
        ("spawn_worker", json!({"task": "Show the tides", "resume_session_id": TIDES})),
        ("spawn_worker", json!({"task": "Show the tides", "resume_session_id": TIDES, "fork_session": true})),
        ("message_worker", json!({"workers": [TIDES], "message": "And again"})),
        ("list_workers", json!({})),
    ];
    for (tool, arguments) in calls {
        all.push((
            format!("{tool} {arguments}"),
            client.result(tool, arguments)["structuredContent"].clone(),
        ));
    }
    for (method, parameters) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": format!("session://{TIDES}")})),
        ("prompts/get", json!({"name": "recall", "arguments": {"topic": "tides"}})),
        ("prompts/get", json!({"name": "handoff", "arguments": {"session": LONG}})),
    ] {
        all.push((method.to_owned(), client.ask(method, parameters)));
    }
    all
}

#[track_caller]
fn check(scene: &Scene, settings: &[(&str, &str)]) {
    let mut client = scene.client_with(settings);
    for (asked, answer) in all_answers(scene, &mut client) {
        let told = answer.to_string();
        for secret in ["tide tables", "The lamp turns", "Question 5"] {
            assert!(!told.contains(secret), "{asked} tells of `{secret}`: {told}");
        }
        assert_ne!(answer["error"], "forbidden", "{asked}: what is hidden does not exist: {told}");
        // What was asked for may be repeated in the refusal.
        let names = told.contains(TIDES) || told.contains(LONG);
        assert!(!names || answer["error"].is_string() || answer["error"].is_object(), "{asked}: {told}");
    }
    let seen = client.call("session_list", json!({}));
    assert_eq!(seen["sessions"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(seen["sessions"][0]["session_id"], TOKENS, "{seen}");
    assert_eq!(seen["known"], 1, "{seen}");
    assert_eq!(client.call("search", json!({"query": "refresh token"}))["hits"][0]["session_id"], TOKENS);
    client.call("read_session", json!({"session": TOKENS}));
    client.call("project_status", json!({}));
}

#[test]
fn projects_that_are_denied_are_nowhere() {
    let scene = Scene::new();
    let harbor = scene.directory("harbor").display().to_string();
    check(&scene, &[("BACKSTORY_MCP_DENY", "harbor")]);
    check(&scene, &[("BACKSTORY_MCP_DENY", &harbor)]);
    check(&scene, &[("BACKSTORY_MCP_PROJECTS", "web")]);
    check(&scene, &[("BACKSTORY_MCP_PROJECTS", "~/web:~/nowhere")]);
    check(&scene, &[("BACKSTORY_MCP_PROJECTS", "~"), ("BACKSTORY_MCP_DENY", "harbor")]);
}

#[test]
fn a_worker_of_a_denied_project_is_out_of_reach() {
    let scene = Scene::new();
    let harbor = scene.directory("harbor").display().to_string();
    let mut client = scene.client();
    let worker =
        client.call("spawn_worker", json!({"task": "Show the tides", "project_path": harbor}))["worker"]
            .clone();
    let waited = client.call("wait_workers", json!({"workers": [worker]}));
    assert_eq!(waited["idle"], json!([worker]), "{waited}");
    let mut other = scene.client_with(&[("BACKSTORY_MCP_DENY", "harbor")]);
    assert_eq!(other.call("list_workers", json!({}))["workers"], json!([]));
    for (tool, arguments) in [
        ("worker_log", json!({"worker": worker})),
        ("stop_worker", json!({"worker": worker})),
        ("wait_workers", json!({"workers": [worker]})),
        ("message_worker", json!({"workers": [worker], "message": "And again"})),
    ] {
        let error = other.fail(tool, arguments);
        assert_eq!(error["error"], "not_found", "{tool}: {error}");
    }
    client.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn inside_an_agents_worker_the_server_shows_the_agents_own() {
    const OWN: &str = "77777777-7777-4777-8777-777777777777";
    let scene = Scene::new();
    let task = ["run", "--agent", "main", "--session-id", OWN, "Draw the map of the shoals"];
    let output = scene.command(&task).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mark = format!("{}#1", scene.home.state_dir().canonicalize().unwrap().display());
    let mut client = scene.client_with(&[("BACKSTORY_WORKER", &mark)]);
    let seen = client.call("session_list", json!({}));
    let ids: Vec<_> = seen["sessions"].as_array().unwrap().iter().map(|one| &one["session_id"]).collect();
    assert_eq!(ids, [OWN], "{seen}");
    assert_eq!(client.call("search", json!({"query": "tides lighthouse refresh token"}))["hits"], json!([]));
    for (tool, arguments) in [
        ("read_session", json!({"session": TIDES})),
        ("spawn_worker", json!({"task": "And again", "resume_session_id": TOKENS})),
        ("message_worker", json!({"workers": [TOKENS], "message": "And again"})),
    ] {
        assert_eq!(client.fail(tool, arguments)["error"], "not_found", "{tool}");
    }
    assert!(client.ask("resources/list", json!({})).to_string().matches("session://").count() == 1);
}

#[test]
fn a_session_that_was_in_a_denied_project_is_nowhere_by_whatever_path() {
    let scene = Scene::new();
    let (web, harbor) = (scene.directory("web"), scene.directory("harbor"));
    std::os::unix::fs::symlink(&harbor, web.join("lamp")).unwrap();
    let id = |number: u8| format!("8888888{number}-8888-4888-8888-888888888888");
    let begun = |number: u8, directory: &Path| {
        Transcript::new(&id(number)).cwd(directory).prompt("Polish the foghorn").answer("The foghorn shines.")
    };
    for (number, directory) in [(1, web.join("lamp")), (2, web.join("../harbor"))] {
        begun(number, &directory).write_to(&scene.home);
    }
    let moved = begun(3, &web).cwd(&harbor).prompt("And the foghorn here").answer("It shines, too.");
    moved.write_to(&scene.home);
    begun(4, &web).write_to(&scene.home);
    let check = |settings: &[(&str, &str)], expected: &[u8]| {
        let mut client = scene.client_with(settings);
        let found = client.call("search", json!({"query": "foghorn"}));
        let seen = client.call("session_list", json!({}));
        for number in 1..=4 {
            let (id, is_seen) = (id(number), expected.contains(&number));
            for answer in [&found["hits"], &seen["sessions"]] {
                assert_eq!(answer.to_string().contains(&id), is_seen, "{settings:?} {id}: {answer}");
            }
            let read = client.result("read_session", json!({"session": id}));
            assert_eq!(read["isError"] != true, is_seen, "{settings:?} {id}: {read}");
        }
    };
    let folder = harbor.display().to_string();
    check(&[], &[1, 2, 3, 4]);
    check(&[("BACKSTORY_MCP_DENY", "harbor")], &[4]);
    check(&[("BACKSTORY_MCP_DENY", &folder)], &[4]);
    check(&[("BACKSTORY_MCP_PROJECTS", "web")], &[4]);
    check(&[("BACKSTORY_MCP_PROJECTS", "harbor")], &[1, 2]);
    check(&[("BACKSTORY_MCP_PROJECTS", "web:harbor")], &[1, 2, 3, 4]);
}
