//! OpenClaw of 2026.8 and newer, whose conversations are in SQLite: unread stores are mentioned, older files are found.

use serde_json::Value;
use testkit::ScratchHome;
use testkit::claude::Run;

const TALK: &str = "11fe5fbc-0000-4000-8000-000000000001";

/// A home as OpenClaw's own upgrade leaves it: a database, and the transcripts that were taken over into it.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let mut header = b"SQLite format 3\0".to_vec();
    header.resize(60, 0);
    header.extend(23_u32.to_be_bytes());
    home.write(".openclaw/agents/main/agent/openclaw-agent.sqlite", header);
    home.write(".openclaw/state/openclaw.sqlite", "");
    home.write(".openclaw/openclaw.json", r#"{"memory": {"search": {"sources": ["sessions"]}}}"#);
    let said = |id: &str, role: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"timestamp\":\"2026-08-01T10:00:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let header = "{\"type\":\"session\",\"version\":4}\n".to_owned();
    let talk = header
        + &said("a1", "user", "Explain the sliding window, password=hunter2X9")
        + &said("a2", "assistant", "It slides.");
    home.write(
        &format!(".openclaw/agents/main/session-sqlite-import-archive/agent_main_main.{TALK}.jsonl.imported-1789000000000"),
        talk,
    );
    home
}

fn backstory(home: &ScratchHome, arguments: &[&str]) -> Run {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments);
    Run::of(command)
}

fn json(home: &ScratchHome, arguments: &[&str]) -> Value {
    let run = backstory(home, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

#[test]
fn a_database_that_cannot_be_read_is_told_of_wherever_it_would_be_missed() {
    let home = home();
    let check = |arguments: &[&str]| {
        let run = backstory(&home, arguments);
        let said = run.stdout.contains("openclaw-agent.sqlite") && run.stdout.contains("schema 23");
        assert!(said && run.stdout.contains("cannot be read"), "{arguments:?}: {}{}", run.stdout, run.stderr);
    };
    check(&["doctor"]);
    check(&["memory", "status"]);
    check(&["memory", "search", "nobody said that"]);
    check(&["list", "--origin", "openclaw"]);
    check(&["search", "--source", "sessions", "nobodysaidthat"]);
    // The older conversation is listed all the same.
    let listed = backstory(&home, &["list", "--origin", "openclaw"]).succeeded().stdout;
    assert!(listed.contains("11fe5fbc") && listed.contains("openclaw:main"), "{listed}");
    let nowhere = backstory(&ScratchHome::new(), &["list", "--origin", "openclaw"]).succeeded().stdout;
    assert!(nowhere.contains("set OPENCLAW_STATE_DIR"), "{nowhere}");
    let report = json(&home, &["doctor"]);
    assert_eq!(report["openclaw_folders"].as_array().map(Vec::len), Some(1), "{report}");
    let listed = json(&home, &["list", "--origin", "openclaw"]);
    assert!(listed["notes"].to_string().contains("openclaw-agent.sqlite"), "{listed}");
    assert!(json(&home, &["list"]).get("notes").is_none());
    let sought = backstory(&home, &["search", "--source", "sessions", "nobodysaidthat"]).succeeded().stdout;
    assert!(sought.contains("backstory memory status") && !sought.contains("CLAUDE_CONFIG_DIR"), "{sought}");
    let notes = json(&home, &["search", "--source", "sessions", "nobodysaidthat"])["notes"].to_string();
    assert!(notes.contains("openclaw-agent.sqlite"), "{notes}");
}

#[test]
fn a_conversation_that_was_taken_over_is_found_and_opened() {
    let home = home();
    let found = json(&home, &["search", "sliding window"]);
    let hit = &found["hits"][0];
    assert_eq!(
        (hit["session_id"].as_str(), hit["source"].as_str()),
        (Some(TALK), Some("sessions")),
        "{found}"
    );
    let printed = backstory(&home, &["search", "sliding window"]).succeeded().stdout;
    assert!(
        printed.contains("backstory show 11fe5fbc") && !printed.contains("backstory resume"),
        "{printed}"
    );
    let shown = backstory(&home, &["show", "11fe5fbc"]).succeeded().stdout;
    assert!(shown.contains("Explain the sliding window") && shown.contains("It slides."), "{shown}");
    assert!(!shown.contains("hunter2X9"), "{shown}");
    let whole = json(&home, &["show", TALK]);
    assert_eq!(whole["session"]["origin"], "openclaw", "{whole}");
    let roles: Vec<_> =
        whole["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    let around = json(&home, &["show", TALK, "--around", "a2"]);
    assert_eq!(around["messages"].as_array().map(Vec::len), Some(2), "{around}");
    let before = json(&home, &["show", TALK, "--before", "a2"]);
    assert_eq!(before["messages"][0]["role"], "user", "{before}");
    assert_eq!(before["messages"].as_array().map(Vec::len), Some(1), "{before}");
    assert_eq!(backstory(&home, &["show", "22fe5fbc"]).code, Some(3));
}
