//! The work of workers for an agent of OpenClaw's is recorded in that agent's registry, once, beside all that was there.

#![allow(clippy::disallowed_methods, reason = "a test reads its own small files")]

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::files::wait_until;

use crate::desk::Desk;
use crate::run_label::{desk, ready};

const REGISTRY: &str = ".openclaw/agents/main/claude-code-sessions.json";

fn registry(desk: &Desk) -> Value {
    let text = std::fs::read_to_string(desk.home.path().join(REGISTRY)).expect("a registry");
    serde_json::from_str(&text).expect("JSON")
}

/// The cost of all workers together, and their turns.
fn spent(desk: &Desk) -> (f64, u64) {
    let workers = desk.json(&["workers"])["workers"].as_array().cloned().expect("workers");
    let cost = workers.iter().filter_map(|worker| worker["cost_usd"].as_f64()).sum();
    (cost, workers.iter().filter_map(|worker| worker["turns"].as_u64()).sum())
}

#[track_caller]
fn holds_what_was_spent(desk: &Desk, entry: &Value) {
    let (cost, turns) = spent(desk);
    let total = entry["totalCostUsd"].as_f64().expect("a total");
    assert!(cost > 0.0 && (total - cost).abs() < 1e-9, "{total} of {cost}: {entry}");
    assert_eq!(entry["totalTurns"].as_u64(), Some(turns), "{entry}");
}

#[test]
fn a_run_for_an_agent_is_registered_and_its_label_found_again() {
    let desk = desk();
    let shop = desk.project("shop");
    let root: PathBuf = shop.path().canonicalize().expect("real");
    let theirs = json!({"sessions": {"/elsewhere": {"sessionId": "s1", "more": [1]}}, "version": 7});
    desk.home.write(REGISTRY, theirs.to_string());

    let words = |task: &'static str| ["--agent", "main", "--label", "auth", task];
    let first = ready(&desk, shop.path(), &words("say hello"));
    assert_eq!(first["start"], "fresh", "{first}");
    let key = format!("{}::auth", root.display());
    let entry = registry(&desk)["sessions"][&key].clone();
    assert_eq!((&entry["sessionId"], &entry["label"]), (&first["session_id"], &"auth".into()), "{entry}");
    assert_eq!(entry["taskHistory"][0]["task"], "say hello");
    holds_what_was_spent(&desk, &entry);

    // A second run goes on there, and only what it costs itself is added.
    let second = ready(&desk, shop.path(), &words("and again"));
    assert_eq!(
        (&second["start"], &second["session_id"]),
        (&"resume".into(), &first["session_id"]),
        "{second}"
    );
    let entry = registry(&desk)["sessions"][&key].clone();
    assert_eq!(entry["taskHistory"].as_array().map(Vec::len), Some(2), "{entry}");
    holds_what_was_spent(&desk, &entry);

    // The person's own label is another one.
    let own = ready(&desk, shop.path(), &["--label", "auth", "say hello"]);
    assert_eq!(own["start"], "fresh", "{own}");
    let whole = registry(&desk);
    assert_eq!(
        (&whole["version"], &whole["sessions"]["/elsewhere"]),
        (&7.into(), &theirs["sessions"]["/elsewhere"])
    );
    assert_eq!(whole["sessions"].as_object().map(serde_json::Map::len), Some(2), "{whole}");
    let listed = desk.json(&["list", "--agent", "main"])["sessions"].clone();
    let ours =
        listed.as_array().and_then(|all| all.iter().find(|one| one["session_id"] == first["session_id"]));
    assert_eq!(ours.map(|ours| &ours["label"]), Some(&"auth".into()), "{listed}");
}

#[test]
fn in_the_background_every_turn_is_registered_once() {
    let desk = desk();
    let shop = desk.project("shop");
    let root: PathBuf = shop.path().canonicalize().expect("real");
    let ready = ready(&desk, shop.path(), &["--agent", "coder", "--fresh", "--detach", "say hello"]);
    let number = ready["worker"].to_string();
    // OpenClaw was not here before: the agent has a folder now.
    let file = desk.home.path().join(".clawcode/agents/coder/claude-code-sessions.json");
    let entry = || -> Value {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let whole: Value = serde_json::from_str(&text).unwrap_or_default();
        whole["sessions"][root.display().to_string()].clone()
    };
    wait_until(desk.home.path(), "the first turn", || entry()["totalCostUsd"].as_f64() > Some(0.0));
    assert_eq!(entry()["sessionId"], ready["session_id"]);
    wait_until(desk.home.path(), "its rest", || {
        let workers = desk.json(&["workers"]);
        workers["workers"][0]["status"] == "idle"
    });
    let _ = desk.backstory(&["send", &number, "and again"]).succeeded();
    wait_until(desk.home.path(), "the second turn", || {
        entry()["taskHistory"][1]["costUsd"].as_f64() > Some(0.0)
    });
    assert_eq!(entry()["taskHistory"][1]["task"], "and again");
    let _ = desk.backstory(&["stop", &number]).succeeded();
    let entry = entry();
    assert_eq!(entry["taskHistory"].as_array().map(Vec::len), Some(2), "{entry}");
    let (cost, turns) = spent(&desk);
    let total = entry["totalCostUsd"].as_f64().expect("a total");
    assert!((total - cost).abs() < 1e-9, "{total} of {cost}: {entry}");
    assert_eq!(entry["totalTurns"].as_u64(), Some(turns), "{entry}");
}

#[test]
fn the_mark_of_an_agent_is_shown_nowhere() {
    const MARK: &str = "openclaw:agent=";
    let desk = desk();
    let shop = desk.project("shop");
    let run = ready(&desk, shop.path(), &["--agent", "main", "say hello"]);
    let id = run["session_id"].as_str().expect("a session");
    let transcript = std::fs::read_to_string(desk.transcript(shop.path(), id)).expect("a transcript");
    assert!(transcript.contains(MARK), "{transcript}");
    for words in [
        &["list"][..],
        &["search", "say hello"],
        &["search", "--json", "say hello"],
        &["fork", "--json", "say hello"],
        &["show", id],
        &["show", id, "--json"],
        &["show", id, "--export", "md"],
        &["show", id, "--export", "html"],
        &["show", id, "--export", "json"],
    ] {
        let shown = desk.backstory(words).succeeded().stdout;
        // A name in a task is there on purpose.
        let shown = shown.replace(r#""origin_marker": "[openclaw:agent=main]""#, "");
        assert!(shown.contains("say hello") && !shown.contains(MARK), "{words:?}: {shown}");
    }
    let listed = desk.json(&["list"])["sessions"][0].clone();
    assert_eq!((&listed["title"], &listed["first_message"]), (&"say hello".into(), &"say hello".into()));
}

#[test]
fn a_registry_that_cannot_be_read_is_told_of_and_left() {
    let desk = desk();
    let shop = desk.project("shop");
    desk.home.write(REGISTRY, "{broken");
    let mut command = desk.command(&["run", "--fresh", "--agent", "main", "say hello"]);
    command.current_dir(shop.path());
    let run = testkit::claude::Run::of(command).succeeded();
    assert!(run.stdout.contains("Hello there."), "{}", run.stdout);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("claude-code-sessions.json was not written: it is no JSON"), "{said}");
    let path = desk.home.path().join(REGISTRY);
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), "{broken");
    // Repaired, it is entered by the next who looks after workers.
    std::fs::write(&path, "{}").expect("repaired");
    let _ = desk.backstory(&["workers"]).succeeded();
    let whole = registry(&desk);
    let entry =
        whole["sessions"].as_object().and_then(|all| all.values().next()).cloned().unwrap_or_default();
    holds_what_was_spent(&desk, &entry);
}
