//! Transcripts that are not as Claude Code writes them: every answer is given all the same.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde_json::Value;
use testkit::ScratchHome;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn prompt(text: &[u8]) -> Vec<u8> {
    let start = br#"{"type":"user","uuid":"u1","cwd":"/p","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":""#;
    [start.as_slice(), text, b"\"}}"].concat()
}

fn write(home: &ScratchHome, folder: &[u8], content: &[u8]) -> PathBuf {
    let folder = home.config_dir().join("projects").join(OsStr::from_bytes(folder));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{ID}.jsonl"));
    fs::write(&file, content).unwrap();
    file
}

fn backstory(home: &ScratchHome, arguments: &[&str]) -> String {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let actual = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {actual}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(home: &ScratchHome, arguments: &[&str]) -> Value {
    serde_json::from_str(&backstory(home, arguments)).unwrap()
}

#[test]
fn a_path_that_is_no_utf8_ends_no_answer() {
    let home = ScratchHome::new();
    write(&home, b"-bad\xff", &[prompt(b"Fix the parser"), b"\n".to_vec()].concat());
    let listed = json(&home, &["list", "--json"]);
    let file = listed["sessions"][0]["file"].as_str().unwrap().to_owned();
    assert!(file.contains("-bad\u{fffd}"), "{file}");
    assert_eq!(json(&home, &["show", ID, "--json"])["session"]["session_id"], ID);
    let forks = json(&home, &["fork", "parser", "--json"]);
    assert!(forks.to_string().contains(ID), "{forks}");
}

/// A state folder can be read-only.
#[test]
fn a_list_of_nothing_makes_no_file() {
    let home = ScratchHome::new();
    for list in [&["workers"][..], &["cron", "list"], &["cron", "history"]] {
        backstory(&home, list);
    }
    for file in ["workers.sqlite", "schedule.sqlite"] {
        assert!(!home.state_dir().join(file).exists(), "{file}");
    }
}

/// "No matches" would be wrong: nothing was searched.
#[test]
fn a_search_without_a_usable_index_fails() {
    let home = ScratchHome::new();
    write(&home, b"-p", &[prompt(b"Fix the parser"), b"\n".to_vec()].concat());
    fs::create_dir_all(home.state_dir()).unwrap();
    fs::write(home.state_dir().join("index"), "in the way").unwrap();
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(["search", "parser"]).output().unwrap();
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{problem}");
    assert!(problem.contains("the search index failed: "), "{problem}");
}

#[test]
fn bytes_that_are_no_utf8_are_read_as_claude_code_reads_them() {
    let home = ScratchHome::new();
    write(&home, b"-p", &[prompt(b"Fix the p\xe4rser quickly"), b"\ntorn {\n".to_vec()].concat());
    let listed = json(&home, &["list", "--json"]);
    assert_eq!(listed["sessions"][0]["title"], "Fix the p\u{fffd}rser quickly");
    assert!(backstory(&home, &["show", ID]).contains("p\u{fffd}rser"));
    let found = json(&home, &["search", "quickly", "--json"]);
    assert!(found.to_string().contains(ID), "{found}");
    for _ in 0..2 {
        let actual = findings(&home);
        assert_eq!(
            actual,
            [
                "1 line cannot be read, in 1 session (11111111)",
                "1 line with bytes that are not UTF-8, in 1 session (11111111)"
            ]
        );
    }
}

/// The advice of `doctor` about transcripts.
fn findings(home: &ScratchHome) -> Vec<String> {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let advice = findings.filter(|finding| finding["severity"] == "advice");
    advice.map(|finding| finding["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_last_record_without_a_newline_is_read_once() {
    let home = ScratchHome::new();
    let answer = br#"{"type":"assistant","uuid":"u2","parentUuid":"u1","requestId":"r","timestamp":"2026-11-01T10:00:01Z","message":{"id":"m","model":"claude-opus-5-5","content":[{"type":"text","text":"Rewritten by hand"}],"usage":{"output_tokens":7}}}"#;
    let file = write(&home, b"-p", &[prompt(b"Fix it"), b"\n".to_vec(), answer.to_vec()].concat());
    let check = || {
        let listed = json(&home, &["list", "--json"]);
        let session = &listed["sessions"][0];
        let actual =
            ["message_count", "visible_messages", "total_output_tokens"].map(|field| session[field].as_u64());
        assert_eq!(actual, [Some(2), Some(2), Some(7)]);
        assert_eq!(backstory(&home, &["show", ID]).matches("Rewritten by hand").count(), 1);
        let found = json(&home, &["search", "\"rewritten by hand\"", "--json"]);
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{found}");
        assert!(findings(&home).is_empty());
    };
    check();
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"\n").unwrap();
    check();
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"type\":\"user\"").unwrap();
    assert_eq!(findings(&home), ["1 line cut off at the end of 1 session (11111111)"]);
}

#[test]
fn a_huge_file_that_holds_nothing_costs_little() {
    let home = ScratchHome::new();
    let file = write(&home, b"-p", b"");
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
    for _ in 0..2 {
        assert_eq!(json(&home, &["list", "--json"])["sessions"][0]["file_size_bytes"], 1_u64 << 40);
        backstory(&home, &["show", ID, "--all"]);
        backstory(&home, &["search", "anything"]);
        backstory(&home, &["export", "--markdown", home.path().join("md").to_str().unwrap()]);
        findings(&home);
    }
}

#[test]
fn a_file_without_json_is_no_session() {
    let home = ScratchHome::new();
    let file = write(&home, b"-p", b"12:00 started\n12:01 stopped\n\n");
    for _ in 0..2 {
        assert_eq!(json(&home, &["list", "--json"])["sessions"].as_array().map(Vec::len), Some(0));
        let actual = findings(&home);
        assert_eq!(
            actual,
            ["it is named like a transcript, but none of its lines is JSON, so it is not listed"]
        );
    }
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(&prompt(b"Fix it")).unwrap();
    assert_eq!(json(&home, &["list", "--json"])["sessions"][0]["title"], "Fix it");
}

#[test]
fn messages_of_other_branches_are_counted() {
    let home = ScratchHome::new();
    let said = |id: &str, parent: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"cwd\":\"/p\",\"message\":{{\"content\":\"say {id}\"}}}}\n"
        )
    };
    let lines = [said("a", "null"), said("b", "\"a\""), said("c", "\"b\""), said("d", "\"a\"")];
    write(&home, b"-p", lines.concat().as_bytes());
    let text = backstory(&home, &["show", ID]);
    assert!(text.ends_with("2 messages of other branches; --all shows them\n"), "{text}");
    assert_eq!(json(&home, &["show", ID, "--json"])["omitted_messages"], 2);
    assert!(!backstory(&home, &["show", ID, "--all"]).contains("--all"));
    assert_eq!(json(&home, &["show", ID, "--json", "--all"])["omitted_messages"], 0);
}
