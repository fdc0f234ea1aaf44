//! What a worker asks in a chat, and the ways to answer it, with the real `claude` against a scripted model.

use serde_json::{Value, json};

use super::chat::{agent, all, desk, had, names, say, text};
use super::claude_server::server;
use super::client::Heard;

#[test]
fn a_permission_is_asked_for_and_allowed_or_denied() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let mut events = server.ask("GET", "/api/events").listen();
    let told_late = |asked: &Value| {
        for path in ["/api/events", "/api/v1/events"] {
            let mut late = server.ask("GET", path).listen();
            let is_it = |heard: &Heard| {
                let is_named = heard.name == "worker-asks" && heard.data["worker"] == asked["worker"];
                is_named && heard.data["requests"][0]["request"] == asked["request"]
            };
            late.until(is_it);
        }
    };
    for (id, is_allowed) in [("dev", false), ("qa", true)] {
        // A session's stream has a pause; each time it is another worker, of another session.
        let key = agent(&server, id, &shop);
        let mut stream = say(&server, &key, "make a file");
        let asked = stream.until(|heard| heard.name == "permission").data;
        assert_eq!((&asked["tool"], &asked["detail"]), (&json!("Bash"), &json!("Make a file")), "{asked}");
        let told =
            events.until(|heard| heard.name == "worker-asks" && heard.data["worker"] == asked["worker"]).data;
        assert_eq!(
            (&told["requests"][0]["request"], &told["requests"][0]["kind"]),
            (&asked["request"], &json!("permission"))
        );
        told_late(&asked);
        let reply = if is_allowed {
            json!({"behavior": "allow"})
        } else {
            json!({"behavior": "deny", "message": "Not now."})
        };
        let path = format!("/api/v1/workers/{}/answers", asked["worker"]);
        let answer =
            server.ask("POST", &path).json(&json!({"request": asked["request"], "reply": reply})).send();
        assert_eq!(answer.status, 204, "{answer:?}");
        stream.until(|heard| heard.name == "done");
        assert_eq!(shop.join("made").exists(), is_allowed);
        let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    }
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
    // Within the pause between two messages: an answer is none.
    assert_eq!(text(&all(say(&server, &key, "Blue"))), "Blue it is.");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn each_answer_is_for_one_question() {
    let desk = desk();
    let (key, _) = had(&desk);
    let server = server(&desk);
    let asked = |events: &[Heard]| {
        let question = events.iter().find(|heard| heard.name == "question").expect("a question");
        let questions = question.data["questions"].as_array().expect("questions").clone();
        questions.into_iter().map(|one| (one["header"].clone(), one["question"].clone())).collect::<Vec<_>>()
    };
    let first = asked(&all(say(&server, &key, "ask me twice")));
    assert_eq!(first, [(json!("Colour"), json!("Which colour?"))]);
    let second = asked(&all(say(&server, &key, "Blue")));
    assert_eq!(second, [(json!("Number"), json!("How many?"))]);
    let events = all(say(&server, &key, "Three"));
    assert_eq!(text(&events), "Three blue ones it is.");
    let answered = desk.server.calls().last().expect("a call").body["messages"].to_string();
    assert!(answered.contains("Which colour?") && answered.contains("Blue"), "{answered}");
    assert!(answered.contains("How many?") && answered.contains("Three"), "{answered}");
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn the_buttons_of_a_chat_allow_and_deny() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let decide = |key: &str, action: &str| {
        server.ask("POST", &format!("/api/chat/{key}/permission")).json(&json!({"action": action})).send()
    };
    let mut events = server.ask("GET", "/api/events").listen();
    for (id, action) in [("dev", "deny"), ("qa", "approve")] {
        let key = agent(&server, id, &shop);
        assert_eq!(decide(&key, "approve").failed(404), "not_found");
        let mut stream = say(&server, &key, "make a file");
        stream.until(|heard| heard.name == "permission");
        // The front end shows its buttons for this state of a session under the key that it has.
        let is_asked = |heard: &Heard| {
            let session = (&heard.data["status"], &heard.data["sessionKey"]);
            heard.name == "session-updated" && session == (&json!("waiting_permission"), &json!(key))
        };
        let is_thin = |heard: &Heard| is_asked(heard) && heard.data.get("key").is_none();
        let waiting = events.until(is_thin).data;
        assert_eq!(waiting["source"], "claude_code", "{waiting}");
        let asked = json!("Bash: touch made && rm -rf nothing");
        assert_eq!(waiting["activity_detail"], asked, "the command is what is allowed");
        // The session's row has the same words, as a chat takes them from it, too.
        let rows = server.get("/api/sessions")["sessions"].clone();
        let row = rows.as_array().unwrap().iter().find(|row| row["key"] == key.as_str()).expect("its row");
        assert_eq!((&row["activity_detail"], &row["activityDetail"]), (&asked, &asked), "{row}");
        // Who opens the chat now is told, too.
        let mut later = server.ask("GET", "/api/events").listen();
        let _ = server.get(&format!("/api/chat/{key}/history"));
        assert_eq!(later.until(is_thin).data["activity_detail"], asked);
        assert_eq!(decide(&key, "perhaps").failed(400), "usage");
        assert_eq!(decide(&key, action).succeeded(), json!({"success": true}));
        stream.until(|heard| heard.name == "done");
        assert_eq!(shop.join("made").exists(), action == "approve");
        assert_eq!(decide(&key, "approve").failed(409), "held");
        let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
    }
}

#[test]
fn a_chat_without_buttons_for_permissions_asks_with_those_of_a_question() {
    let desk = desk();
    let (key, _) = had(&desk);
    let shop = desk.home.path().join("shop");
    let server = server(&desk);
    let events = all(say(&server, &key, "make a file"));
    assert_eq!(names(&events).last(), Some(&"done"), "{events:?}");
    let question = events.iter().find(|heard| heard.name == "question").expect("a question");
    let question = &question.data["questions"][0];
    assert_eq!(question["question"], "Bash: touch made && rm -rf nothing\ndescription: Make a file");
    let labels = [0, 1].map(|place| question["options"][place]["label"].as_str());
    assert_eq!(labels, [Some("Approve"), Some("Deny")]);
    assert!(!shop.join("made").exists());
    assert_eq!(text(&all(say(&server, &key, "Approve"))), "Made.");
    assert!(shop.join("made").exists());
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}

#[test]
fn who_may_only_act_allows_what_is_asked_once() {
    let desk = desk();
    let shop = desk.project("shop").path().to_owned();
    let server = server(&desk);
    let key = agent(&server, "dev", &shop);
    let phone = super::token(&desk.home, "phone", "act");
    let mut stream = say(&server, &key, "make a file");
    let asked = stream.until(|heard| heard.name == "permission").data;
    let path = format!("/api/v1/workers/{}/answers", asked["worker"]);
    let answer = |reply: Value| {
        let request = server.bare("POST", &path).header("Authorization", &format!("Bearer {phone}"));
        request.json(&json!({"request": asked["request"], "reply": reply})).send()
    };
    let other = json!({"command": "touch other"});
    for reply in [
        json!({"behavior": "allow", "grant": "always"}),
        json!({"behavior": "allow", "input": other}),
        json!({"behavior": "allow", "grant": "always", "input": other}),
    ] {
        assert_eq!(answer(reply).failed(403), "forbidden");
    }
    // Nor is anybody's reason longer than a message.
    let long = json!({"behavior": "deny", "message": "x".repeat(100_001)});
    assert_eq!(answer(long).failed(413), "too_large");
    assert_eq!(answer(json!({"behavior": "allow"})).status, 204);
    stream.until(|heard| heard.name == "done");
    assert!(shop.join("made").exists() && !shop.join("other").exists());
    assert!(!shop.join(".claude/settings.local.json").exists());
    let _ = server.post(&format!("/api/chat/{key}/kill"), &json!({}));
}
