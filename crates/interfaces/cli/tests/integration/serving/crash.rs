//! `kill -9` of a server in the middle of what it does: the next one finds it as it was left, and goes on with it.

use std::io::Write as _;

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Answer, Claude, Gate};

use super::claude_server::{script, server};
use super::{Server, client};
use crate::desk::Desk;

fn desk(gate: &Gate) -> Desk {
    let agent = json!({"description": "Count", "prompt": "count the files", "subagent_type": "general-purpose", "run_in_background": false});
    let script = script()
        .on("work long", [Answer::held(gate).then_text("Worked.")])
        .on("count the files", [Answer::held(gate).then_text("There are three.")])
        .on("send an agent", [Answer::tool("Agent", agent), Answer::text("Three, it says.")]);
    Desk::new(Claude::newest(), script)
}

/// Starts a worker, and returns its number.
fn start(desk: &Desk, server: &Server, task: &str) -> Value {
    let shop = desk.project("shop").path().to_owned();
    let started = server
        .ask("POST", "/api/v1/workers")
        .json(&json!({"task": task, "repo": shop, "fresh": true}))
        .send();
    assert_eq!(started.status, 201, "{started:?}");
    started.to_json()["worker"].clone()
}

/// The only worker there is.
fn worker(server: &Server) -> Value {
    let workers = server.get("/api/v1/workers")["workers"].clone();
    assert_eq!(workers.as_array().map(Vec::len), Some(1), "{workers}");
    workers[0].clone()
}

#[track_caller]
fn until_status(desk: &Desk, server: &Server, status: &str) -> Value {
    wait_until(desk.home.path(), status, || worker(server)["status"] == status);
    worker(server)
}

/// Sends a request without waiting for its answer.
fn begin(server: &Server, method: &str, path: &str, body: &Value) -> std::net::TcpStream {
    let body = body.to_string();
    let mut stream = client::connect(&server.address);
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        server.token,
        body.len()
    )
    .unwrap();
    stream
}

#[test]
fn a_start_is_done_once() {
    let gate = Gate::new();
    let desk = desk(&gate);
    let shop = desk.project("shop").path().to_owned();
    let first = server(&desk);
    let task = json!({"task": "work long", "repo": shop, "fresh": true});
    let asked = begin(&first, "POST", "/api/v1/workers", &task);
    gate.wait_until_reached();
    first.kill();
    drop(asked);
    gate.open();
    let next = server(&desk);
    let done = until_status(&desk, &next, "idle");
    assert_eq!((&done["turns"], &done["task"]), (&json!(1), &json!("work long")), "{done}");
    assert_eq!(desk.server.calls().iter().filter(|call| call.prompt().contains("work long")).count(), 1);
    let _ = next.ask("DELETE", &format!("/api/v1/workers/{}", done["worker"])).send().succeeded();
}

#[test]
fn a_permission_is_still_asked_for() {
    let desk = desk(&Gate::new());
    let first = server(&desk);
    let number = start(&desk, &first, "make a file");
    let asked = until_status(&desk, &first, "waiting_permission")["requests"][0]["request"].clone();
    first.kill();
    let next = server(&desk);
    let still = until_status(&desk, &next, "waiting_permission");
    assert_eq!(still["requests"][0]["request"], asked, "{still}");
    let reply = json!({"request": asked, "reply": {"behavior": "allow"}});
    let answered = next.ask("POST", &format!("/api/v1/workers/{number}/answers")).json(&reply).send();
    assert_eq!(answered.status, 204, "{answered:?}");
    until_status(&desk, &next, "idle");
    assert!(desk.home.path().join("shop/made").exists());
    let _ = next.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
}

#[test]
fn a_permission_is_denied_at_the_next_server() {
    let desk = desk(&Gate::new());
    let first = server(&desk);
    let number = start(&desk, &first, "make a file");
    let asked = until_status(&desk, &first, "waiting_permission")["requests"][0]["request"].clone();
    first.kill();
    let next = server(&desk);
    until_status(&desk, &next, "waiting_permission");
    let reply = json!({"request": asked, "reply": {"behavior": "deny", "message": "Paint it instead."}});
    let answered = next.ask("POST", &format!("/api/v1/workers/{number}/answers")).json(&reply).send();
    assert_eq!(answered.status, 204, "{answered:?}");
    let done = until_status(&desk, &next, "idle");
    assert!(!desk.home.path().join("shop/made").exists(), "{done}");
    // The model has read why, and went on.
    let told = desk.server.calls().iter().any(|call| call.body.to_string().contains("Paint it instead."));
    assert!(told, "{done}");
    let _ = next.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
}

#[test]
fn a_question_is_answered_at_the_next_server() {
    let desk = desk(&Gate::new());
    let first = server(&desk);
    let number = start(&desk, &first, "ask me");
    let session = until_status(&desk, &first, "waiting_permission")["session_id"].clone();
    first.kill();
    let next = server(&desk);
    let key = format!("claude:{}", session.as_str().expect("an id"));
    let reply = next.post(&format!("/api/chat/{key}/send"), &json!({"message": "Blue"}));
    assert_eq!(reply["response"], "Blue it is.", "{reply}");
    let _ = next.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
}

#[test]
fn a_permission_is_shown_again_and_approved_in_the_chat_at_the_next_server() {
    let desk = desk(&Gate::new());
    let shop = desk.project("shop").path().to_owned();
    desk.claude(&shop, &["-p", "say hello"]);
    let id = desk.json(&["list"])["sessions"][0]["session_id"].as_str().expect("an id").to_owned();
    let key = format!("claude:{id}");
    let first = server(&desk);
    let say = |server: &Server, words: &str| {
        let asking = server.ask("POST", &format!("/api/chat/{key}/stream"));
        let mut stream = asking.json(&json!({"message": words})).listen();
        std::iter::from_fn(move || stream.next()).collect::<Vec<_>>()
    };
    let asked = say(&first, "make a file").into_iter().find(|heard| heard.name == "question");
    first.kill();
    let next = server(&desk);
    // This server has shown nothing yet.
    let again = say(&next, "Approve");
    let names: Vec<_> = again.iter().map(|heard| heard.name.as_str()).collect();
    assert_eq!(names, ["start", "permission", "question", "done"]);
    assert_eq!(again[2].data, asked.expect("a question").data);
    assert!(!shop.join("made").exists());
    let reply = next.post(&format!("/api/chat/{key}/send"), &json!({"message": "Approve"}));
    assert_eq!(reply["response"], "Made.", "{reply}");
    assert!(shop.join("made").exists());
    let _ = next.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn a_sub_agent_completes() {
    let gate = Gate::new();
    let desk = desk(&gate);
    let first = server(&desk);
    let number = start(&desk, &first, "send an agent");
    gate.wait_until_reached();
    first.kill();
    let next = server(&desk);
    gate.open();
    let done = until_status(&desk, &next, "idle");
    let session = next.get(&format!("/api/v1/sessions/{}", done["session_id"].as_str().expect("an id")));
    assert_eq!(session["subagents"].as_array().map(Vec::len), Some(1), "{session}");
    let _ = next.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
}

#[test]
fn a_kill_is_done_or_can_be_repeated() {
    let desk = desk(&Gate::new());
    let first = server(&desk);
    let number = start(&desk, &first, "say hello");
    let idle = until_status(&desk, &first, "idle");
    let asked = begin(&first, "DELETE", &format!("/api/v1/workers/{number}"), &json!({}));
    first.kill();
    drop(asked);
    let next = server(&desk);
    let again = next.ask("DELETE", &format!("/api/v1/workers/{number}")).send();
    assert!(matches!(again.status, 200 | 404 | 409), "{again:?}");
    let over = until_status(&desk, &next, "stopped");
    assert_eq!(over["session_id"], idle["session_id"], "{over}");
    let process = format!("/proc/{}", idle["pid"].as_u64().expect("a process"));
    wait_until(desk.home.path(), "the end of its process", || !std::path::Path::new(&process).exists());
}
