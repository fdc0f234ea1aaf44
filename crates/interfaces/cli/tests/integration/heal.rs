//! Sessions whose directory was moved are found in the new place, by `backstory` and by `claude` itself.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Script, Terminal};

use crate::desk::{Desk, prompts};

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

fn script() -> Script {
    Script::new()
        .on("feed the walrus", [Answer::text("The walrus ate eleven herrings.")])
        .on("next question", [Answer::text("Next answer.")])
}

/// The one directory that `heal` finds gone.
#[track_caller]
fn lost(answer: &Value) -> &Value {
    let all = answer["directories"].as_array().expect("directories");
    assert_eq!(all.len(), 1, "{answer}");
    &all[0]
}

fn rename(from: &Path, to: &Path) {
    fs::rename(from, to).expect("a directory that can be renamed");
}

#[test]
fn a_renamed_repository_keeps_its_sessions() {
    for claude in [Claude::newest(), Claude::v2_1_197()] {
        let desk = Desk::new(claude, script());
        let old = desk.project("shop");
        old.commit("README.md", "a shop", "Open the shop");
        let old = old.path().to_owned();
        desk.claude(&old, &["-p", "feed the walrus", "--session-id", ONE]);
        let content = bytes(&desk.transcript(&old, ONE));
        desk.json(&["index"]);
        let new = old.with_file_name("store");
        rename(&old, &new);

        let refused = desk.backstory(&["resume", ONE, "--print"]);
        assert!(refused.stderr.contains(&format!("backstory heal {}", &ONE[..8])), "{}", refused.stderr);
        let unasked = desk.backstory(&["heal"]);
        assert!(unasked.code == Some(2) && unasked.stderr.contains("--yes"), "{}", unasked.stderr);
        let planned = desk.json(&["heal", "--dry-run"]);
        assert_eq!(lost(&planned)["now"], json!(new), "{planned}");
        assert_eq!(lost(&planned)["sessions"], json!([ONE]));
        assert_eq!(bytes(&desk.transcript(&old, ONE)), content, "nothing is moved by looking");

        let healed = desk.json(&["heal", "--yes"]);
        assert_eq!(healed["unmoved"], json!([]), "{healed}");
        assert!(!desk.transcript(&old, ONE).exists());
        desk.json(&["heal", "--undo"]);
        assert_eq!(bytes(&desk.transcript(&old, ONE)), content);
        desk.json(&["heal", ONE, "--yes"]);

        // `--continue` takes the newest session of the directory: that is this one now.
        desk.claude(&new, &["-p", "next question", "--continue"]);
        desk.claude(&new, &["-p", "next question", "--resume", ONE]);
        let resumed = desk.backstory(&["resume", ONE, "--", "-p", "next question"]).succeeded();
        assert_eq!(resumed.answer(), "Next answer.");
        let moved = desk.transcript(&new, ONE);
        assert!(bytes(&moved).starts_with(&content));
        assert_eq!(prompts(&moved), ["feed the walrus", "next question", "next question", "next question"]);
        assert_eq!(desk.json(&["heal", "--dry-run"])["directories"], json!([]));
    }
}

#[test]
fn resume_offers_to_follow_the_directory() {
    let desk = Desk::new(Claude::newest(), script());
    let old = desk.project("shop").path().to_owned();
    desk.claude(&old, &["-p", "feed the walrus", "--session-id", ONE]);
    desk.json(&["index"]);
    let new = old.with_file_name("store");
    rename(&old, &new);
    let command = desk.command(&["resume", ONE, "--", "-p", "next question"]);
    let terminal = Terminal::run(&command, 200, 30);
    terminal.until(|screen| screen.contains("Move 1 session? [y/N]"));
    terminal.type_line("y");
    let moved = desk.transcript(&new, ONE);
    let is_answered = || moved.exists() && String::from_utf8_lossy(&bytes(&moved)).contains("Next answer.");
    wait_until(desk.home.path(), "the session continues in the new place", is_answered);
    assert_eq!(prompts(&moved), ["feed the walrus", "next question"]);
}

#[test]
fn a_clone_elsewhere_is_known_by_its_first_commit_and_two_are_not_guessed_between() {
    let desk = Desk::new(Claude::newest(), script());
    let old = desk.project("shop");
    old.commit("README.md", "a shop", "Open the shop");
    let (new, second) = (old.path().with_file_name("store"), old.path().with_file_name("market"));
    desk.claude(old.path(), &["-p", "feed the walrus", "--session-id", ONE]);
    desk.json(&["index"]);
    for to in [&new, &second] {
        old.git(["clone", "--quiet", ".", &to.display().to_string()]);
    }
    fs::remove_dir_all(old.path()).expect("the old clone");
    let planned = desk.json(&["heal", "--dry-run"]);
    assert!(lost(&planned)["now"].is_null(), "{planned}");
    assert_eq!(lost(&planned)["candidates"], json!([second, new]));
    fs::remove_dir_all(&second).expect("the other clone");
    let planned = desk.json(&["heal", "--dry-run"]);
    assert_eq!(lost(&planned)["now"], json!(new), "{planned}");
    // One whose directory has nothing in common with any other is the person's to place.
    desk.json(&["heal", ONE, "--to", &new.display().to_string(), "--yes"]);
    assert!(desk.transcript(&new, ONE).exists());
}

#[test]
fn two_files_with_one_id_are_told_apart() {
    let desk = Desk::new(Claude::newest(), script());
    let old = desk.project("shop");
    old.commit("README.md", "a shop", "Open the shop");
    let old = old.path().to_owned();
    for id in [ONE, OTHER] {
        desk.claude(&old, &["-p", "feed the walrus", "--session-id", id]);
    }
    desk.json(&["index"]);
    let new = old.with_file_name("store");
    rename(&old, &new);
    let copy = desk.transcript(&new, ONE);
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    fs::write(
        &copy,
        "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"role\":\"user\",\"content\":\"a twin\"}}\n",
    )
    .expect("a twin");
    let (one, twin) = (bytes(&desk.transcript(&old, ONE)), bytes(&copy));
    desk.json(&["heal", "--yes"]);
    assert_eq!((bytes(&desk.transcript(&old, ONE)), bytes(&copy)), (one, twin));
    assert!(desk.transcript(&new, OTHER).exists());
}
