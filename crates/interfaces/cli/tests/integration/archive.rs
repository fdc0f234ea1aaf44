//! Sessions that Claude Code deletes are listed, searched, read, forked, put back and continued.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Script};

use crate::desk::{Desk, prompts};

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TOOL: &str = "22222222-2222-4222-8222-222222222222";
const OTHER: &str = "33333333-3333-4333-8333-333333333333";

fn script() -> Script {
    let task = json!({
        "description": "Count the walruses",
        "prompt": "Look and count every walrus",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Script::new()
        .on("feed the walrus", [Answer::text("The walrus ate eleven herrings.")])
        .on("use an agent", [Answer::tool("Agent", task), Answer::text("The agent counted seven.")])
        .on("Look and count", [Answer::text("There are seven walruses on the ice.")])
        .on("next question", [Answer::text("Next answer.")])
        .on("cook soup", [Answer::text("Leeks and potatoes.")])
}

fn listed(desk: &Desk, id: &str) -> Value {
    let answer = desk.json(&["list"]);
    let sessions = answer["sessions"].as_array().expect("sessions");
    sessions.iter().find(|session| session["session_id"] == id).cloned().unwrap_or(Value::Null)
}

/// Deletes a session as Claude Code does: its transcript and the folder beside it.
fn delete(file: &Path) {
    fs::remove_file(file).expect("a transcript");
    let _ = fs::remove_dir_all(file.with_extension(""));
}

#[test]
fn a_deleted_session_is_read_as_before_and_put_back() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "feed the walrus", "--session-id", ONE]);
    desk.claude(shop, &["-p", "use an agent", "--session-id", TOOL]);
    let file = desk.transcript(shop, TOOL);
    let (before, shown, cost) =
        (listed(&desk, TOOL), desk.json(&["show", TOOL]), desk.json(&["cost", "--by", "session"]));
    let side = files_below(&file.with_extension(""));
    assert!(!side.is_empty(), "the sub-agent has files");
    let content = bytes(&file);
    // A search keeps what it finds, once its answer is printed.
    assert_eq!(desk.json(&["search", "herrings"])["hits"][0]["session_id"], ONE);
    delete(&file);
    delete(&desk.transcript(shop, ONE));
    desk.json(&["archive"]);

    let after = listed(&desk, TOOL);
    assert_eq!((&after["origin"], &after["archived"]), (&json!("archived"), &json!(true)), "{after}");
    assert!(after["deleted_at"].is_string(), "the pass noticed it: {after}");
    let head = desk.backstory(&["show", TOOL]).succeeded().stdout;
    assert!(
        head.contains("Deleted by ") && head.contains(&format!("backstory restore {}", &TOOL[..8])),
        "{head}"
    );
    for field in
        ["title", "first_message", "message_count", "cwd", "cost_usd", "usage", "file_size", "last_modified"]
    {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["subagents"].as_array().map(Vec::len), Some(1), "{after}");
    let only = desk.json(&["list", "--origin", "archived"]);
    assert_eq!(only["sessions"].as_array().map(Vec::len), Some(2), "{only}");
    assert_eq!(desk.json(&["show", TOOL])["messages"], shown["messages"]);
    assert_eq!(desk.json(&["cost", "--by", "session"])["total"], cost["total"]);
    let found = desk.json(&["search", "herrings"]);
    let hit = &found["hits"][0];
    assert_eq!((&hit["session_id"], &hit["origin"]), (&json!(ONE), &json!("archived")), "{hit}");
    assert!(hit["snippet"].as_str().is_some_and(|text| text.contains("herrings")), "{hit}");
    assert_eq!(desk.json(&["index"])["files"], 0, "what was indexed is not read again");
    let _ = desk.backstory(&["index", "--rebuild"]).succeeded();
    assert_eq!(desk.json(&["search", "herrings"])["hits"][0]["session_id"], ONE);

    let refused = desk.backstory(&["resume", TOOL, "--print"]);
    assert!(refused.stderr.contains(&format!("backstory restore {}", &TOOL[..8])), "{}", refused.stderr);
    let forked =
        desk.backstory(&["fork", ONE, "--pick", "1", "--", "-p", "next question", "--output-format", "json"]);
    let fork = forked.succeeded().result();
    assert_eq!(fork["result"], "Next answer.");
    let fork = desk.transcript(shop, fork["session_id"].as_str().expect("an id"));
    assert_eq!(prompts(&fork), ["feed the walrus", "next question"]);

    let planned = desk.json(&["restore", TOOL, "--dry-run"]);
    assert!(planned["dry_run"] == true && !file.exists());
    desk.json(&["restore", &TOOL[..8]]);
    assert_eq!(bytes(&file), content);
    for (path, content) in side {
        assert_eq!(bytes(&path), content, "{}", path.display());
    }
    let again = desk.backstory(&["restore", TOOL]);
    assert!(again.code != Some(0) && again.stderr.contains("already exists"), "{}", again.stderr);
    let resumed = desk.backstory(&["resume", TOOL, "--", "-p", "next question"]).succeeded();
    assert_eq!(resumed.answer(), "Next answer.");
    let continued = bytes(&file);
    assert!(continued.starts_with(&content) && continued.len() > content.len());
    assert_eq!(listed(&desk, TOOL)["origin"], "native");
}

#[test]
fn what_the_clean_up_of_claude_code_deletes_is_kept() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "feed the walrus", "--session-id", ONE]);
    let file = desk.transcript(shop, ONE);
    let content = bytes(&file);
    age(&file, 31);
    desk.json(&["archive"]);
    clean_up(&desk, shop);
    assert!(!file.exists(), "the clean-up deleted it");
    assert_eq!(listed(&desk, ONE)["archived"], true);
    desk.json(&["restore", ONE]);
    assert_eq!(bytes(&file), content);
    clean_up(&desk, shop);
    assert_eq!(bytes(&file), content, "the clean-up leaves what was just put back");
    desk.claude(shop, &["-p", "next question", "--resume", ONE]);
    assert_eq!(prompts(&file), ["feed the walrus", "next question"]);
}

#[test]
fn what_claude_code_deletes_after_the_first_command_is_copied() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "feed the walrus", "--session-id", ONE]);
    let file = desk.transcript(shop, ONE);
    let long = due_for_deletion(&desk, &file, &bytes(&file));
    let said = desk.backstory(&["list"]).succeeded().stderr;
    assert!(said.contains("deletes 1 session") && said.contains("Backstory has copies"), "{said}");
    clean_up(&desk, shop);
    assert!(!file.exists(), "the clean-up deleted it");
    desk.json(&["restore", ONE]);
    assert!(bytes(&file) == long, "not all of it was copied");
}

#[test]
fn whichever_command_comes_first_what_is_due_for_deletion_is_copied() {
    for first in [&["search", "walrus"][..], &["day", "today"], &["today"]] {
        let desk = Desk::new(Claude::newest(), script());
        let shop = desk.project("shop");
        let file = desk.transcript(shop.path(), ONE);
        fs::create_dir_all(file.parent().expect("a project folder")).expect("a project folder");
        let prompt = json!({
            "type": "user", "uuid": OTHER, "parentUuid": null, "sessionId": ONE, "cwd": shop.path(),
            "timestamp": "2026-11-20T08:00:00.000Z",
            "message": {"role": "user", "content": "feed the walrus"},
        });
        let long = due_for_deletion(&desk, &file, format!("{prompt}\n").as_bytes());
        let _ = desk.backstory(first).succeeded();
        fs::remove_file(&file).expect("a transcript");
        desk.json(&["restore", ONE]);
        assert!(bytes(&file) == long, "{first:?}: not all of it was copied");
    }
}

/// Writes a transcript that Claude Code deletes next, beside the lock that a pass leaves which was cut short a moment ago;
/// a long transcript, of which a short pass would copy the beginning only.
fn due_for_deletion(desk: &Desk, file: &Path, beginning: &[u8]) -> Vec<u8> {
    let record = json!({"type": "user", "sessionId": ONE, "filler": "word ".repeat(2000)});
    let long = [beginning, format!("{record}\n").repeat(800).as_bytes()].concat();
    let _ = fs::remove_file(desk.home.config_dir().join("settings.json"));
    fs::write(file, &long).expect("a long transcript");
    age(file, 31);
    desk.home.write(".backstory/archive/lock", "");
    long
}

#[test]
fn what_is_not_copied_is_said() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "feed the walrus", "--session-id", ONE]);
    desk.claude(shop, &["-p", "cook soup", "--session-id", OTHER]);
    fs::remove_file(desk.home.config_dir().join("settings.json")).expect("settings");
    for id in [ONE, OTHER] {
        age(&desk.transcript(shop, id), 31);
    }
    // Another process has the archive.
    let lock = fs::File::create(desk.home.write(".backstory/archive/lock", "")).expect("the lock");
    lock.lock().expect("the lock");
    let said = desk.backstory(&["list"]).succeeded().stderr;
    assert!(said.contains("2 have no copy yet"), "{said}");
    let report = desk.backstory(&["doctor"]).stdout;
    assert!(report.contains("2 sessions have no copy yet; Claude Code will delete 2 of them"), "{report}");
    assert!(report.contains("backstory archive"), "{report}");
    drop(lock);
    desk.json(&["archive"]);
    assert!(!desk.backstory(&["doctor"]).stdout.contains("no copy yet"));
}

/// Lets Claude Code clean up, which it does once a day, some seconds after the start of a process that stays.
fn clean_up(desk: &Desk, project: &Path) {
    let last = desk.home.config_dir().join(".last-cleanup");
    let _ = fs::remove_file(&last);
    // Those of the desk keep sessions for ever.
    let _ = fs::remove_file(desk.home.config_dir().join("settings.json"));
    let mut command = desk.claude.command(&desk.home, &desk.server);
    command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    command.current_dir(project).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("claude");
    wait_until(desk.home.path(), "the clean-up is over", || last.exists());
    drop(child.stdin.take());
    let _ = child.wait().expect("the end of claude");
}

#[test]
fn a_forgotten_session_is_in_none_of_our_files() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "feed the walrus", "--session-id", ONE]);
    desk.claude(shop, &["-p", "cook soup", "--session-id", OTHER]);
    let file = desk.transcript(shop, ONE);
    desk.json(&["index"]);
    desk.json(&["list"]);
    desk.json(&["pick", "feed the walrus", "--repo", &shop.display().to_string()]);
    let sentences = ["feed the walrus", "eleven herrings"];
    let refused = desk.backstory(&["forget", ONE]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    let meant = desk.json(&["forget", ONE, "--dry-run"]);
    assert_eq!(meant["sessions"], json!([ONE]));
    assert!(listed(&desk, ONE).is_object());

    let told = desk.json(&["forget", ONE, "--yes"]);
    assert_eq!(told["sessions"], json!([ONE]));
    let holds = |path: &Path| {
        let content = bytes(path);
        sentences
            .iter()
            .any(|sentence| content.windows(sentence.len()).any(|part| part == sentence.as_bytes()))
    };
    let left: Vec<_> = files_below(&desk.home.state_dir())
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| holds(path))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(file.exists(), "Claude Code's own file was not asked for");
    for _ in 0..2 {
        assert!(listed(&desk, ONE).is_null() && listed(&desk, OTHER).is_object());
        let found = desk.json(&["search", "herrings"]);
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(0), "{found}");
        assert!(desk.backstory(&["show", ONE]).code != Some(0));
        // A backup brings the file back elsewhere; a rebuilt index reads everything.
        let elsewhere = desk.home.config_dir().join("projects/-elsewhere");
        fs::create_dir_all(&elsewhere).expect("a folder");
        fs::copy(&file, elsewhere.join(format!("{ONE}.jsonl"))).expect("a copy");
        let _ = desk.backstory(&["index", "--rebuild"]).succeeded();
    }
    // What was noted can be finished: now with Claude Code's own files.
    desk.json(&["forget", OTHER, "--yes", "--transcripts"]);
    assert!(!desk.transcript(shop, OTHER).exists());
    assert!(listed(&desk, OTHER).is_null());
}

/// Makes a file look as if nothing had been written to it for so many days.
fn age(file: &Path, days: u64) {
    let open = fs::File::options().write(true).open(file).expect("a file");
    let modified = open.metadata().and_then(|found| found.modified()).expect("a time");
    open.set_modified(modified - Duration::from_hours(24 * days)).expect("an older file");
}

fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push((path.clone(), bytes(&path)));
        }
    }
    found
}
