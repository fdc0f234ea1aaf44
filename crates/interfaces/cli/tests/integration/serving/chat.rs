//! Chat, with the real `claude` against a scripted model.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Answer, Claude, Gate, Script};

use super::claude_server::{script, server};
use super::client::{Heard, Listening};
use super::{Server, claude_server};
use crate::desk::Desk;

pub(super) fn desk() -> Desk {
    Desk::new(Claude::newest(), script())
}

/// A session that a person had, and its key.
pub(super) fn had(desk: &Desk) -> (String, String) {
    let shop = desk.project("shop").path().to_owned();
    desk.claude(&shop, &["-p", "say hello"]);
    let id = desk.json(&["list"])["sessions"][0]["session_id"].as_str().expect("an id").to_owned();
    (format!("claude:{id}"), id)
}

pub(super) fn say(server: &Server, key: &str, words: &str) -> Listening {
    let listening =
        server.ask("POST", &format!("/api/chat/{key}/stream")).json(&json!({"message": words})).listen();
    assert_eq!(listening.status, 200);
    listening
}

/// All events to the end of a stream.
pub(super) fn all(mut listening: Listening) -> Vec<Heard> {
    std::iter::from_fn(|| listening.next()).collect()
}

pub(super) fn text(events: &[Heard]) -> String {
    let pieces = events.iter().filter(|heard| heard.name == "delta");
    pieces.map(|heard| heard.data["text"].as_str().expect("a text")).collect()
}

pub(super) fn names(events: &[Heard]) -> Vec<&str> {
    let mut names: Vec<_> = events.iter().map(|heard| heard.name.as_str()).collect();
    names.dedup();
    names
}

pub(super) fn idle(desk: &Desk, server: &Server) -> Value {
    let is_idle = || server.get("/api/v1/workers")["workers"][0]["status"] == "idle";
    wait_until(desk.home.path(), "an idle worker", is_idle);
    server.get("/api/v1/workers")["workers"][0].clone()
}

#[test]
fn a_session_goes_on_in_a_stream_and_in_one_piece() {
    let desk = desk();
    let (key, id) = had(&desk);
    let server = server(&desk);
    let events = all(say(&server, &key, "and again"));
    assert_eq!(names(&events).first(), Some(&"start"), "{events:?}");
    assert_eq!(names(&events).last(), Some(&"done"), "{events:?}");
    assert_eq!(text(&events), "Hello again.");
    let worker = idle(&desk, &server);
    assert_eq!(worker["session_id"], id.as_str());
    // The same worker has the next message.
    let reply = server.post(&format!("/api/chat/{key}/send"), &json!({"message": "say hello"}));
    assert_eq!(reply, json!({"response": "Hello there.", "tokens": 0, "success": true}));
    assert_eq!(idle(&desk, &server)["pid"], worker["pid"]);
    let history = server.get(&format!("/api/chat/{key}/history"));
    let said: Vec<_> =
        history["messages"].as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    assert_eq!(said, ["say hello", "Hello there.", "and again", "Hello again.", "say hello", "Hello there."]);
    let own = format!("/api/v1/workers/{}", worker["worker"]);
    assert_eq!(server.ask("POST", &format!("{own}/interrupt")).json(&json!({})).send().failed(409), "held");
    let change = |token: &str, mode: &str| {
        let request = server.bare("POST", &format!("{own}/options"));
        let request = request.header("Authorization", &format!("Bearer {token}"));
        request.json(&json!({"model": "haiku", "permission_mode": mode})).send().status
    };
    let phone = super::token(&desk.home, "phone", "act");
    assert_eq!((change(&phone, "acceptEdits"), change(&phone, "plan")), (403, 204));
    assert_eq!(change(&server.token, "acceptEdits"), 204);
    let killed = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    assert_eq!(killed["success"], true, "{killed}");
    let stopped = server.get("/api/v1/workers")["workers"][0].clone();
    assert_eq!((&stopped["status"], &stopped["pid"]), (&json!("stopped"), &Value::Null));
    assert_eq!(server.post(&format!("/api/chat/{key}/kill"), &json!({}))["success"], false);
}

#[test]
fn a_chat_starts_the_program_of_its_connection() {
    let desk = desk();
    let (key, _) = had(&desk);
    let server = server(&desk);
    let detected = server.get("/api/connections/claude-code/detect");
    let real = detected["cli_path"].as_str().expect("a program");
    let odd = desk.home.write(
        "odd/claude",
        format!("#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/used\"\nexec '{real}' \"$@\"\n"),
    );
    std::fs::set_permissions(&odd, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = json!({"config": {"cli_path": "~/odd/claude"}});
    let changed = server.ask("PATCH", "/api/connections/local-claude").json(&config).send().succeeded();
    assert_eq!(changed["status"], "connected", "{changed}");
    assert_eq!(text(&all(say(&server, &key, "and again"))), "Hello again.");
    let used = String::from_utf8(testkit::files::bytes(&desk.home.path().join("odd/used"))).unwrap();
    assert!(used.contains("--resume") && used.contains("stream-json"), "{used}");
    server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn a_message_whose_turn_fails_is_not_sent_again() {
    let desk = desk();
    let server = server(&desk);
    let key = agent(&server, "dev", desk.project("shop").path());
    let mut stream = say(&server, &key, "make a file");
    let asked = stream.until(|heard| heard.name == "permission").data;
    let pid = server.get(&format!("/api/v1/workers/{}", asked["worker"]))["pid"].to_string();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    // At an `error` the front end sends the message once more.
    let rest = all(stream);
    assert_eq!(names(&rest), ["delta", "done"], "{rest:?}");
    assert!(text(&rest).contains("the worker failed: claude ended in the middle"), "{rest:?}");
}

/// A fixed agent that works in a folder, and the key of its chat.
pub(super) fn agent(server: &Server, id: &str, folder: &std::path::Path) -> String {
    let made = server.post("/api/agents", &json!({"id": id, "name": "Dev", "project_path": folder}));
    made["agent_session_key"].as_str().expect("a key").to_owned()
}

#[test]
fn a_worker_outlives_a_server_that_is_killed() {
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let desk = Desk::new(Claude::newest(), script);
    let (key, id) = had(&desk);
    let server = server(&desk);
    let mut stream = say(&server, &key, "work long");
    gate.wait_until_reached();
    server.kill();
    while stream.next().is_some() {}
    gate.open();
    let server = claude_server::server(&desk);
    let worker = idle(&desk, &server);
    assert_eq!((&worker["session_id"], &worker["turns"]), (&json!(id), &json!(1)), "{worker}");
    let reply = server.post(&format!("/api/chat/{key}/send"), &json!({"message": "and again"}));
    assert_eq!(reply["response"], "Hello again.", "{reply}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn sub_agents_are_heard_of_on_the_stream() {
    let gate = Gate::new();
    let errand = json!({"description": "Count", "prompt": "count the files", "subagent_type": "general-purpose", "run_in_background": false});
    let script = script()
        .on("count the files", [Answer::held(&gate).then_text("There are three.")])
        .on("send an agent", [Answer::tool("Agent", errand), Answer::text("Three, it says.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let mut streams = ["/api/v1/events", "/api/events"].map(|path| server.ask("GET", path).listen());
    for stream in &mut streams {
        stream.until(|heard| heard.name == "sessions-refresh");
    }
    let task = json!({"task": "send an agent", "repo": shop, "fresh": true});
    let ready = server.ask("POST", "/api/v1/workers").json(&task).send().succeeded();
    gate.wait_until_reached();
    let spawned =
        streams.each_mut().map(|stream| stream.until(|heard| heard.name == "subagent-spawned").data);
    for spawned in &spawned {
        assert_eq!(spawned["sessionId"], ready["session_id"], "{spawned}");
    }
    gate.open();
    for (stream, spawned) in streams.iter_mut().zip(&spawned) {
        let completed = stream.until(|heard| heard.name == "subagent-completed").data;
        assert_eq!(completed["taskId"], spawned["taskId"], "{completed}");
    }
    let _ = server.ask("DELETE", &format!("/api/v1/workers/{}", ready["worker"])).send().succeeded();
}

#[test]
fn a_worker_is_started_followed_told_and_stopped() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let task = json!({"task": "say hello", "repo": shop, "fresh": true});
    let ready = server.ask("POST", "/api/v1/workers").json(&task).send();
    assert_eq!(ready.status, 201, "{ready:?}");
    let number = ready.to_json()["worker"].clone();
    let mut stream = server.ask("GET", &format!("/api/v1/workers/{number}/events")).listen();
    let result = stream.until(|heard| heard.name == "result");
    assert_eq!(result.data["text"], "Hello there.");
    idle(&desk, &server);
    let sent = server.post(&format!("/api/v1/workers/{number}/messages"), &json!({"message": "and again"}));
    assert_eq!(sent["resumed"], false, "{sent}");
    stream.until(|heard| heard.name == "result" && heard.data["text"] == "Hello again.");
    let stopped = server.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
    assert_eq!(stopped["status"], "stopped");
    stream.until(|heard| heard.name == "ended");
    assert!(stream.next().is_none());
    assert_eq!(server.ask("GET", "/api/v1/workers/999").send().failed(404), "not_found");
}

#[test]
fn many_followers_leave_room_for_answers() {
    // More than the requests that are answered at the same time, and as many as one worker takes.
    const FOLLOWERS: usize = 30;
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let desk = Desk::new(Claude::newest(), script);
    let (key, _) = had(&desk);
    let server = server(&desk);
    let mut stream = say(&server, &key, "work long");
    gate.wait_until_reached();
    let number = server.get("/api/v1/workers")["workers"][0]["worker"].clone();
    let path = format!("/api/v1/workers/{number}/events");
    let mut followers: Vec<_> = (0..FOLLOWERS).map(|_| server.ask("GET", &path).listen()).collect();
    assert!(followers.iter().all(|follower| follower.status == 200));
    assert_eq!(server.get("/api/v1/sessions")["matching"], 1);
    assert_eq!(server.get("/api/sessions")["sessions"][0]["key"], key.as_str());
    gate.open();
    stream.until(|heard| heard.name == "done");
    followers[0].until(|heard| heard.name == "result");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn who_may_only_act_gets_nobody_who_acts_without_asking() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let phone = super::token(&desk.home, "phone", "act");
    let ask = |path: &str, body: &Value| {
        let request = server.bare("POST", path).header("Authorization", &format!("Bearer {phone}"));
        request.json(body).send()
    };
    let task = json!({"task": "say hello", "repo": shop, "fresh": true, "permission_mode": "acceptEdits"});
    let ready = server.ask("POST", "/api/v1/workers").json(&task).send().to_json();
    let (number, id) = (&ready["worker"], ready["session_id"].as_str().expect("an id"));
    idle(&desk, &server);
    let own = format!("/api/v1/workers/{number}");
    let again = json!({"message": "and again"});
    let paths = [
        format!("{own}/messages"),
        format!("/api/v1/sessions/{id}/messages"),
        format!("/api/chat/claude:{id}/send"),
        format!("/api/chat/claude:{id}/stream"),
    ];
    let check = || {
        for path in &paths {
            assert_eq!(ask(path, &again).failed(403), "forbidden", "{path}");
        }
    };
    check();
    let _ = server.ask("DELETE", &own).send().succeeded();
    check();
    // An agent that an administrator made, and that nobody has talked to.
    let made =
        json!({"id": "dev", "name": "Dev", "project_path": shop, "permission_mode": "bypassPermissions"});
    server.post("/api/agents", &made);
    for way in ["send", "stream"] {
        assert_eq!(ask(&format!("/api/chat/cc:dev/{way}"), &again).failed(403), "forbidden", "{way}");
    }
    let workers = server.get("/api/v1/workers")["workers"].clone();
    assert_eq!(workers.as_array().map(Vec::len), Some(1), "{workers}");
    // Who may do everything goes on with it.
    let sent = server.post(&paths[1], &again);
    assert_eq!(sent["resumed"], true, "{sent}");
    let _ = server.ask("DELETE", &format!("/api/v1/workers/{}", sent["worker"])).send().succeeded();
}

#[test]
fn the_room_comes_before_each_message_and_is_in_no_history() {
    let desk = desk();
    let (key, _) = had(&desk);
    let server = server(&desk);
    let room = "headquarters";
    let last = || desk.server.calls().last().expect("a call").body["messages"].to_string();
    let made = json!({"id": "dev", "name": "Dev", "project_path": desk.home.path().join("shop"),
        "default_room_id": room, "bio": "ü".repeat(6000)});
    server.post("/api/agents", &made);
    for (key, body) in [
        (key.as_str(), json!({"message": "say hello", "room_id": room})),
        ("cc:dev", json!({"message": "say hello"})),
    ] {
        let reply = server.post(&format!("/api/chat/{key}/send"), &body);
        assert_eq!(reply["response"], "Hello there.", "{reply}");
        let sent = last();
        assert!(sent.contains("```crewhub-context") && sent.contains(room), "{sent}");
        assert_eq!(sent.contains("**You are Dev**"), key == "cc:dev", "{sent}");
        let history = server.get(&format!("/api/chat/{key}/history"));
        assert!(!history.to_string().contains("crewhub-context"), "{history}");
    }
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    let workers = server.get("/api/v1/workers").to_string();
    assert!(!workers.contains("crewhub-context"), "{workers}");
    let context = server.get(&format!("/api/rooms/{room}/context"));
    assert!(
        context["formatted"].as_str().is_some_and(|text| text.len() <= 2048 && text.contains('…')),
        "{context}"
    );
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
}

#[test]
fn a_revoked_token_ends_its_streams() {
    let gate = Gate::new();
    let script = Script::new().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop").path().to_owned();
    let other = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
    super::session(&desk.home, other, &shop, "paint the fence", "Done.");
    let server = server(&desk);
    let phone = super::token(&desk.home, "phone", "act");
    let ask = |method: &str, path: &str| {
        server.bare(method, path).header("Authorization", &format!("Bearer {phone}"))
    };
    let task = json!({"task": "work long", "repo": shop, "fresh": true});
    let ready = ask("POST", "/api/v1/workers").json(&task).send().succeeded();
    let (number, id) = (&ready["worker"], ready["session_id"].as_str().expect("an id"));
    gate.wait_until_reached();
    let message = json!({"message": "and tell"});
    let mut streams = [
        ask("GET", "/api/v1/events").listen(),
        ask("GET", "/api/events").listen(),
        ask("GET", &format!("/api/v1/workers/{number}/events")).listen(),
        ask("POST", &format!("/api/chat/claude:{id}/stream")).json(&message).listen(),
    ];
    assert_eq!(streams.each_ref().map(|stream| stream.status), [200; 4]);
    super::revoke(&desk.home, "phone");
    gate.open();
    // Something that each of them would tell.
    let name = json!({"name": "told-to-nobody"});
    let path = format!("/api/v1/sessions/{other}/annotations");
    server.ask("PATCH", &path).json(&name).send().succeeded();
    for stream in &mut streams {
        while let Some(heard) = stream.next() {
            let text = heard.data.to_string();
            assert!(!text.contains("told-to-nobody") && !text.contains("Worked."), "{heard:?}");
        }
    }
    assert_eq!(ask("GET", "/api/v1/events").listen().status, 401);
    // What it began goes on.
    idle(&desk, &server);
    let _ = server.ask("DELETE", &format!("/api/v1/workers/{number}")).send().succeeded();
}
