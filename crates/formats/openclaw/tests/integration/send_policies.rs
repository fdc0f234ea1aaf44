//! Decisions about messages, compared with those that OpenClaw's own resolver made of the same questions:
//! `tests/openclaw/send-policy.mjs` writes the questions and asks each release.

use std::fs;

use openclaw::{
    Entry, Generation, OpenClawConfig, SendDecision, SendStrategy, SendTarget, SessionConfig,
    resolve_send_policy,
};
use serde_json::{Value, json};
use testkit::{OpenClaw, ScratchHome};

const QUESTIONS: &str = include_str!("../send-policy/questions.jsonl");
const ANSWERS: &str = include_str!("../send-policy/answers.json");

/// Our answers, a letter each as the script writes them.
fn decided(questions: &str, generation: Generation) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("openclaw.json");
    let decide = |line: &str| {
        let question: Value = serde_json::from_str(line).unwrap();
        fs::write(&path, json!({"session": {"sendPolicy": question["policy"]}}).to_string()).unwrap();
        let config = SessionConfig::new(&OpenClawConfig::read(&path), &|_| None);
        let entry: Option<Entry> = match &question["entry"] {
            Value::Null => None,
            entry => Some(serde_json::from_str(&entry.to_string()).unwrap()),
        };
        let target = SendTarget { key: question["key"].as_str().unwrap(), entry: entry.as_ref(), generation };
        match resolve_send_policy(config.send_policy.as_ref(), &target, SendStrategy::DenyWins).decision {
            SendDecision::Allow => 'a',
            SendDecision::Deny => 'd',
        }
    };
    questions.lines().map(decide).collect()
}

#[track_caller]
fn check(release: &str, generation: Generation) {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    let expected = answers[release].as_str().unwrap();
    assert!(expected.len() >= 240, "{release}");
    compare(QUESTIONS, expected, generation);
}

#[track_caller]
fn compare(questions: &str, expected: &str, generation: Generation) {
    let found = decided(questions, generation);
    assert_eq!(found.len(), expected.len());
    assert!(expected.contains('a') && expected.contains('d'), "{expected}");
    for ((line, found), expected) in questions.lines().zip(found.chars()).zip(expected.chars()) {
        assert_eq!(found, expected, "{generation:?}: {line}");
    }
}

#[test]
fn sessions_in_a_file_are_decided_about_as_2026_2_does() {
    check("2026.2.1", Generation::File);
}

#[test]
fn sessions_in_a_database_are_decided_about_as_2026_9_does() {
    check("2026.9.6", Generation::Database);
}

/// Other questions than those that were recorded, to the programs themselves.
#[test]
fn the_installed_releases_decide_as_we_do() {
    let script =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/openclaw/send-policy.mjs");
    let releases = [(OpenClaw::installed(), Generation::File), (OpenClaw::newest(), Generation::Database)];
    for (claw, generation) in releases {
        let home = ScratchHome::new();
        let questions = claw.script(&home, &script, &["cases", "7", "120"]).succeeded().stdout;
        home.write("questions.jsonl", &questions);
        let file = home.path().join("questions.jsonl");
        let (package, file) = (claw.package().to_str().unwrap(), file.to_str().unwrap());
        let answers = claw.script(&home, &script, &["answers", package, file]).succeeded().stdout;
        compare(&questions, answers.trim(), generation);
    }
}
