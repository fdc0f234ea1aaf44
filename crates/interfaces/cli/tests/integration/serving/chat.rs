//! Chat, with the real `claude` against a scripted model.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Answer, Claude, Gate, Script};

use super::Server;
use super::client::{Heard, Listening};
use crate::desk::Desk;

fn script() -> Script {
    let make = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Like a barn"}, {"label": "Blue", "description": "Like the sea"},
    ]}]});
    Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("make a file", [Answer::text("I will.").then_tool("Bash", make), Answer::text("Made.")])
        .on("ask me", [Answer::tool("AskUserQuestion", question), Answer::text("Blue it is.")])
}

fn desk() -> Desk {
    Desk::new(Claude::newest(), script())
}

fn server(desk: &Desk) -> Server {
    Server::of(&desk.home, desk.command(&[]), &[])
}

/// A session that a person had, and its key.
fn had(desk: &Desk) -> (String, String) {
    let shop = desk.project("shop").path().to_owned();
    desk.claude(&shop, &["-p", "say hello"]);
    let id = desk.json(&["list"])["sessions"][0]["session_id"].as_str().expect("an id").to_owned();
    (format!("claude:{id}"), id)
}

fn say(server: &Server, key: &str, words: &str) -> Listening {
    let listening =
        server.ask("POST", &format!("/api/chat/{key}/stream")).json(&json!({"message": words})).listen();
    assert_eq!(listening.status, 200);
    listening
}

/// All events to the end of a stream.
fn all(mut listening: Listening) -> Vec<Heard> {
    std::iter::from_fn(|| listening.next()).collect()
}

fn text(events: &[Heard]) -> String {
    let pieces = events.iter().filter(|heard| heard.name == "delta");
    pieces.map(|heard| heard.data["text"].as_str().expect("a text")).collect()
}

fn names(events: &[Heard]) -> Vec<&str> {
    let mut names: Vec<_> = events.iter().map(|heard| heard.name.as_str()).collect();
    names.dedup();
    names
}

fn idle(desk: &Desk, server: &Server) -> Value {
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
fn a_permission_is_asked_for_and_allowed_or_denied() {
    let desk = desk();
    let (key, _) = had(&desk);
    let shop = desk.home.path().join("shop");
    let server = server(&desk);
    let mut events = server.ask("GET", "/api/events").listen();
    for (is_allowed, outcome) in [(false, "error"), (true, "done")] {
        // A session's stream has a pause; each time it is another worker, of another session.
        let key = if is_allowed { key.clone() } else { format!("cc:{}", agent(&server, &shop)) };
        let mut stream = say(&server, &key, "make a file");
        let asked = stream.until(|heard| heard.name == "permission").data;
        assert_eq!((&asked["tool"], &asked["detail"]), (&json!("Bash"), &json!("Make a file")), "{asked}");
        let told =
            events.until(|heard| heard.name == "worker-asks" && heard.data["worker"] == asked["worker"]).data;
        assert_eq!(
            (&told["requests"][0]["request"], &told["requests"][0]["kind"]),
            (&asked["request"], &json!("permission"))
        );
        let reply = if is_allowed {
            json!({"behavior": "allow"})
        } else {
            json!({"behavior": "deny", "message": "Not now."})
        };
        let path = format!("/api/v1/workers/{}/answers", asked["worker"]);
        let answer =
            server.ask("POST", &path).json(&json!({"request": asked["request"], "reply": reply})).send();
        assert_eq!(answer.status, 204, "{answer:?}");
        let used = stream.until(|heard| heard.name == "tool").data;
        assert_eq!((&used["name"], &used["status"]), (&json!("Bash"), &json!(outcome)), "{used}");
        stream.until(|heard| heard.name == "done");
        assert_eq!(shop.join("made").exists(), is_allowed);
        let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    }
}

/// A fixed agent that works in a folder.
fn agent(server: &Server, folder: &std::path::Path) -> String {
    let made = server.post("/api/agents", &json!({"id": "dev", "name": "Dev", "project_path": folder}));
    made["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_fixed_agent_begins_a_session_and_goes_on_with_it() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    agent(&server, &shop);
    let _ = server
        .ask("PUT", "/api/agents/dev")
        .json(&json!({"default_room_id": "headquarters", "system_prompt": "Be kind."}))
        .send()
        .succeeded();
    let events = all(say(&server, "cc:dev", "say hello"));
    assert_eq!(text(&events), "Hello there.");
    let system = desk.server.calls().last().expect("a call").body["system"].to_string();
    assert!(system.contains("Be kind.") && system.contains("crewhub-context"), "{system}");
    let known = server.get("/api/agents/dev");
    assert_eq!(known["current_session_id"], idle(&desk, &server)["session_id"]);
    let reply = server.post("/api/chat/cc:dev/send", &json!({"message": "and again"}));
    assert_eq!(reply["response"], "Hello again.", "{reply}");
    let history = server.get("/api/sessions/cc:dev/history");
    assert_eq!(history["count"], 4, "{history}");
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
}

#[test]
fn the_next_message_answers_a_question() {
    let desk = desk();
    let (key, _) = had(&desk);
    let server = server(&desk);
    let events = all(say(&server, &key, "ask me"));
    let question = events.iter().find(|heard| heard.name == "question").expect("a question");
    assert_eq!(question.data["questions"][0]["question"], "Which colour?", "{question:?}");
    assert_eq!(names(&events).last(), Some(&"done"));
    let reply = server.post(&format!("/api/chat/{key}/send"), &json!({"message": "Blue"}));
    assert_eq!(reply["response"], "Blue it is.", "{reply}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
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
    let server = self::server(&desk);
    let worker = idle(&desk, &server);
    assert_eq!((&worker["session_id"], &worker["turns"]), (&json!(id), &json!(1)), "{worker}");
    let reply = server.post(&format!("/api/chat/{key}/send"), &json!({"message": "and again"}));
    assert_eq!(reply["response"], "Hello again.", "{reply}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
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
fn the_buttons_of_a_chat_allow_and_deny() {
    let desk = desk();
    let (key, _) = had(&desk);
    let shop = desk.home.path().join("shop");
    let server = server(&desk);
    agent(&server, &shop);
    let decide = |key: &str, action: &str| {
        server.ask("POST", &format!("/api/chat/{key}/permission")).json(&json!({"action": action})).send()
    };
    assert_eq!(decide("cc:dev", "approve").failed(404), "not_found");
    let mut events = server.ask("GET", "/api/events").listen();
    for (key, action, outcome) in [(key.as_str(), "deny", "error"), ("cc:dev", "approve", "done")] {
        let mut stream = say(&server, key, "make a file");
        stream.until(|heard| heard.name == "permission");
        // The front end shows its buttons for this state of a session under the key that it has.
        let is_asked = |heard: &Heard| {
            let session = (&heard.data["status"], &heard.data["sessionKey"]);
            heard.name == "session-updated" && session == (&json!("waiting_permission"), &json!(key))
        };
        let waiting = events.until(|heard| is_asked(heard) && heard.data.get("key").is_none()).data;
        assert_eq!(waiting["source"], "claude_code", "{waiting}");
        assert_eq!(decide(key, "perhaps").failed(400), "usage");
        assert_eq!(decide(key, action).succeeded(), json!({"success": true}));
        let used = stream.until(|heard| heard.name == "tool").data;
        assert_eq!((&used["name"], &used["status"]), (&json!("Bash"), &json!(outcome)), "{used}");
        stream.until(|heard| heard.name == "done");
        assert_eq!(shop.join("made").exists(), action == "approve");
        assert_eq!(decide(key, "approve").failed(409), "held");
        let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    }
}
