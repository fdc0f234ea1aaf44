//! What is said to a session whose worker waits for an answer, and who is told what it waits for; with the real `claude`
//! against a scripted model.

use serde_json::json;
use testkit::files::wait_until;

use super::Server;
use super::chat::{agent, all, desk, had, idle, names, say};
use super::claude_server::{self, server};

#[test]
fn words_to_who_waits_are_no_message_and_show_what_is_asked() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    // It came up outside the chat: nobody has been shown anything there.
    let task = json!({"task": "make a file", "repo": shop, "fresh": true});
    let ready = server.ask("POST", "/api/v1/workers").json(&task).send().succeeded();
    let key = format!("claude:{}", ready["session_id"].as_str().expect("an id"));
    let is_waiting = || server.get("/api/v1/workers")["workers"][0]["status"] == "waiting_permission";
    wait_until(desk.home.path(), "a permission", is_waiting);
    let send = |words: &str| server.post(&format!("/api/chat/{key}/send"), &json!({"message": words}));
    let told = send("Approve");
    let error = told["error"].as_str().expect("an error");
    assert!(
        error.contains("waits for an answer to Bash: touch made && rm -rf nothing\ndescription: Make a file\nsend `Approve` or `Deny`"),
        "{told}"
    );
    assert!(!shop.join("made").exists());
    // It has been shown now.
    assert_eq!(send("Approve")["response"], "Made.");
    assert!(shop.join("made").exists());
    let prompts: Vec<_> = desk.server.calls().iter().map(|call| call.body.to_string()).collect();
    assert!(prompts.iter().all(|prompt| !prompt.contains("Approve")), "no message was made of it");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn a_message_to_a_worker_that_asks_is_refused_over_our_api_as_in_the_chat() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let task = json!({"task": "make a file", "repo": shop, "fresh": true});
    let ready = server.ask("POST", "/api/v1/workers").json(&task).send().succeeded();
    let worker = || server.get("/api/v1/workers")["workers"][0].clone();
    wait_until(desk.home.path(), "a permission", || worker()["status"] == "waiting_permission");
    for place in [
        format!("sessions/{}", ready["session_id"].as_str().unwrap()),
        format!("workers/{}", ready["worker"]),
    ] {
        let path = format!("/api/v1/{place}/messages");
        let refused = server.ask("POST", &path).json(&json!({"message": "and again"})).send();
        assert_eq!(refused.failed(409), "held", "{path}");
        let problem = refused.to_json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.ends_with("it waits for an answer to Bash: answer that first"), "{problem}");
        assert!(problem["next_steps"].to_string().contains("attach"), "{problem}");
    }
    let path = format!("/api/v1/workers/{}/answers", ready["worker"]);
    let reply = json!({"request": worker()["requests"][0]["request"], "reply": {"behavior": "allow"}});
    assert_eq!(server.ask("POST", &path).json(&reply).send().status, 204);
    assert_eq!(idle(&desk, &server)["text"], "Made.");
    let calls = desk.server.calls();
    assert!(
        calls.iter().all(|call| !call.body.to_string().contains("and again")),
        "it is delivered to nobody"
    );
    let _ = server.ask("DELETE", &format!("/api/v1/workers/{}", ready["worker"])).send().succeeded();
}

#[test]
fn a_new_stream_of_who_waits_tells_what_is_asked_and_ends() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let key = agent(&server, "dev", &shop);
    let mut first = say(&server, &key, "make a file");
    let asked = first.until(|heard| heard.name == "permission").data;
    drop(first);
    let is_waiting = || server.get("/api/v1/workers")["workers"][0]["status"] == "waiting_permission";
    wait_until(desk.home.path(), "a permission", is_waiting);
    let events = all(say(&server, &key, "and again"));
    assert_eq!(names(&events), ["start", "permission", "done"], "{events:?}");
    assert_eq!(events[1].data, asked);
    let decide = json!({"action": "approve"});
    assert_eq!(server.post(&format!("/api/chat/{key}/permission"), &decide), json!({"success": true}));
    // What was said meanwhile is not delivered later.
    assert_eq!(idle(&desk, &server)["text"], "Made.");
    let calls = desk.server.calls();
    assert!(calls.iter().all(|call| !call.body.to_string().contains("and again")));
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn an_agents_question_is_told_with_the_agents_key() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let asks = |server: &Server, path: &str| {
        let mut stream = server.ask("GET", path).listen();
        stream.until(|heard| heard.name == "worker-asks").data["sessionKey"].clone()
    };
    let mut live = server.ask("GET", "/api/events").listen();
    live.until(|heard| heard.name == "sessions-refresh");
    let key = agent(&server, "dev", &shop);
    say(&server, &key, "make a file").until(|heard| heard.name == "permission");
    // The agent has its session once its chat is begun, which the monitor may have heard before.
    assert_eq!(asks(&server, "/api/events"), "cc:dev");
    live.until(|heard| heard.name == "worker-asks");
    server.kill();
    let server = claude_server::server(&desk);
    assert_eq!(asks(&server, "/api/events"), "cc:dev");
    let own = asks(&server, "/api/v1/events");
    assert!(own.as_str().is_some_and(|key| key.starts_with("claude:")), "{own}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn what_is_asked_is_told_again_by_the_next_server() {
    let desk = desk();
    let (key, _) = had(&desk);
    let server = server(&desk);
    let mut stream = say(&server, &key, "make a file");
    let asked = stream.until(|heard| heard.name == "permission").data;
    server.kill();
    let server = claude_server::server(&desk);
    let told = server.ask("GET", "/api/v1/events").listen().until(|heard| heard.name == "worker-asks").data;
    assert_eq!(told["requests"][0]["request"], asked["request"], "{told}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}
