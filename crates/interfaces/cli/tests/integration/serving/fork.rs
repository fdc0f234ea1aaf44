//! A worker is started in a fork at one message, with the real `claude` against a scripted model.

use serde_json::json;
use testkit::files::{bytes, records, wait_until};
use testkit::{Answer, Claude, Script};

use super::Server;
use crate::desk::{Desk, prompts};

const ID: &str = "11111111-1111-4111-8111-111111111111";

#[test]
fn a_worker_of_2_1_330_goes_on_from_a_message() {
    check(Claude::newest());
}

#[test]
fn a_worker_of_2_1_100_goes_on_from_a_message() {
    check(Claude::v2_1_100());
}

fn check(claude: Claude) {
    let script = Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("another way", [Answer::text("Done another way.")]);
    let desk = Desk::new(claude, script);
    let shop = desk.project("shop").path().to_owned();
    desk.claude(&shop, &["-p", "say hello", "--session-id", ID]);
    desk.claude(&shop, &["-p", "and again", "--resume", ID]);
    let original = desk.transcript(&shop, ID);
    let (before, all) = (bytes(&original), records(&original));
    let first = all.iter().find(|record| record["type"] == "assistant").expect("an answer");
    let at = first["uuid"].as_str().expect("an id");
    let server = Server::of(&desk.home, desk.command(&[]), &[]);
    let start = |body: &serde_json::Value| server.ask("POST", "/api/v1/workers").json(body).send();

    let unknown = start(&json!({"task": "go another way", "fork": ID, "at": "no-such-record"}));
    assert_eq!(unknown.failed(404), "not_found");
    for body in [json!({"task": "x", "at": at}), json!({"task": "x", "resume": ID, "at": at})] {
        assert_eq!(start(&body).failed(400), "usage");
    }
    assert_eq!(server.get("/api/v1/workers")["workers"].as_array().map(Vec::len), Some(0));

    let started = start(&json!({"task": "go another way", "fork": ID, "at": at}));
    assert_eq!((started.status, started.to_json()["start"].as_str()), (201, Some("fork")), "{started:?}");
    let fork = started.to_json()["session_id"].as_str().expect("an id").to_owned();
    let is_idle = || server.get("/api/v1/workers")["workers"][0]["status"] == "idle";
    wait_until(desk.home.path(), "an idle worker", is_idle);

    let calls = desk.server.calls();
    let asked = |call: &&testkit::model_server::Request| call.prompt().contains("go another way");
    let sent = calls.iter().rfind(asked).expect("a call").body["messages"].to_string();
    assert!(sent.contains("say hello") && sent.contains("Hello there."), "{sent}");
    assert!(!sent.contains("and again") && !sent.contains("Hello again."), "{sent}");
    // Claude Code says that a turn is done before its transcript has it.
    let copied = desk.transcript(&shop, &fork);
    wait_until(desk.home.path(), "the task in the fork", || {
        prompts(&copied) == ["say hello", "go another way"]
    });
    assert_eq!(bytes(&original), before, "the session itself is not changed");
    let known = server.get(&format!("/api/v1/sessions/{fork}"));
    assert_eq!(known["forked_from"], json!({"session_id": ID, "message_uuid": at}), "{known}");
}
