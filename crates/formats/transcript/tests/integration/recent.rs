//! The latest messages, read from the end of a transcript.

use std::fs;
use std::path::Path;

use testkit::{ScratchHome, Transcript};
use transcript::{Excerpt, RecentMessages, line_number, recent_messages};

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn all(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

fn texts(of: &RecentMessages) -> (Vec<&str>, Option<&str>) {
    (of.prompts.iter().map(|said| said.text.as_str()).collect(), of.answer.as_ref().map(|said| &*said.text))
}

#[test]
fn the_last_prompts_and_the_last_answer() {
    let home = ScratchHome::new();
    let path = Transcript::new("s1")
        .prompt("one")
        .answer("1")
        .prompt("two")
        .answer("2")
        .prompt("<command-name>/exit</command-name>")
        .prompt("three")
        .tool("Bash", serde_json::json!({"command": "ls"}), "a long list")
        .answer("3")
        .prompt("four")
        .write_to(&home);
    let found = recent_messages(&path, None).unwrap();
    assert_eq!(texts(&found), (vec!["two", "three", "four"], Some("3")));
}

#[test]
fn messages_after_a_past_moment_are_ignored() {
    let home = ScratchHome::new();
    let path = Transcript::new("s1")
        .at("2026-11-20T09:00:00Z")
        .prompt("one")
        .answer("1")
        .at("2026-11-20T10:00:00Z")
        .prompt("two")
        .answer("2")
        .write_to(&home);
    let found = recent_messages(&path, Some("2026-11-20T09:30:00Z".parse().unwrap())).unwrap();
    assert_eq!(texts(&found), (vec!["one"], Some("1")));
}

#[test]
fn the_end_of_a_long_transcript_suffices() {
    let home = ScratchHome::new();
    let long = "word ".repeat(200_000);
    let path = Transcript::new("s1")
        .prompt("lost in the beginning")
        .answer(&long)
        .prompt("one")
        .answer(&long)
        .prompt("two")
        .prompt("three")
        .answer("the end")
        .write_to(&home);
    let found = recent_messages(&path, None).unwrap();
    assert_eq!(texts(&found), (vec!["one", "two", "three"], Some("the end")));
    let bytes = all(&path);
    let cited = |said: &Excerpt| {
        let number = usize::try_from(line_number(&path, said.offset).unwrap()).unwrap();
        let line = bytes.split(|byte| *byte == b'\n').nth(number - 1).unwrap();
        assert!(String::from_utf8_lossy(line).contains(&said.text), "line {number} holds {:?}", said.text);
    };
    found.prompts.iter().chain(&found.answer).for_each(cited);
}

#[test]
fn lines_without_messages_are_skipped() {
    let home = ScratchHome::new();
    let path = Transcript::new("s1").prompt("one").write_to(&home);
    let torn = [all(&path), vec![0; 300_000], b"\n{\"type\":\"us".to_vec()].concat();
    fs::write(&path, torn).unwrap();
    assert_eq!(texts(&recent_messages(&path, None).unwrap()), (vec!["one"], None));
    fs::write(&path, b"").unwrap();
    assert_eq!(recent_messages(&path, None).unwrap(), RecentMessages::default());
}
