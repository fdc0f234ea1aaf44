//! The chats of CrewHub's fixed agents, with the real `claude` against a scripted model.

use serde_json::json;

use super::chat::{agent, all, desk, idle, say, text};
use super::claude_server::server;

#[test]
fn a_fixed_agent_begins_a_session_and_goes_on_with_it() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    agent(&server, "dev", &shop);
    let _ = server
        .ask("PUT", "/api/agents/dev")
        .json(&json!({"default_room_id": "headquarters", "system_prompt": "Be kind."}))
        .send()
        .succeeded();
    let events = all(say(&server, "cc:dev", "say hello"));
    assert_eq!(text(&events), "Hello there.");
    let system = desk.server.calls().last().expect("a call").body["system"].to_string();
    assert!(system.contains("Be kind.") && !system.contains("crewhub-context"), "{system}");
    let known = server.get("/api/agents/dev");
    assert_eq!(known["current_session_id"], idle(&desk, &server)["session_id"]);
    let reply = server.post("/api/chat/cc:dev/send", &json!({"message": "and again"}));
    assert_eq!(reply["response"], "Hello again.", "{reply}");
    let history = server.get("/api/sessions/cc:dev/history");
    assert_eq!(history["count"], 4, "{history}");
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
}

#[test]
fn a_fixed_agent_goes_on_as_it_is_now_once_its_worker_has_ended() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    agent(&server, "dev", &shop);
    let instruct = |words: &str| {
        server.ask("PUT", "/api/agents/dev").json(&json!({ "system_prompt": words })).send().succeeded()
    };
    instruct("Be kind.");
    assert_eq!(text(&all(say(&server, "cc:dev", "say hello"))), "Hello there.");
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
    instruct("Be brief.");
    let reply = server.post("/api/chat/cc:dev/send", &json!({"message": "and again"}));
    assert_eq!(reply["response"], "Hello again.", "{reply}");
    let system = desk.server.calls().last().expect("a call").body["system"].to_string();
    assert!(system.contains("Be brief.") && !system.contains("Be kind."), "{system}");
    assert_eq!(server.get("/api/sessions/cc:dev/history")["count"], 4);
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
}

#[test]
fn a_fixed_agent_whose_session_is_not_there_begins_another() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    agent(&server, "dev", &shop);
    // Its first worker failed before there was a transcript.
    let never = "0bab4563-0000-4000-8000-000000000000";
    let lost = json!({ "current_session_id": never });
    let _ = server.ask("PUT", "/api/agents/dev").json(&lost).send().succeeded();
    let reply = server.post("/api/chat/cc:dev/send", &json!({"message": "say hello"}));
    assert_eq!(reply["response"], "Hello there.", "{reply}");
    assert_ne!(server.get("/api/agents/dev")["current_session_id"], never);
    let _ = server.post("/api/chat/cc:dev/kill", &json!({}));
}
