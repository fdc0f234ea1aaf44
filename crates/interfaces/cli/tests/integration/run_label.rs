//! `run --label`: a session is found again under its name, with the real `claude` against a scripted model.

use std::path::Path;

use serde_json::Value;
use testkit::{Answer, Claude, Gate, Script};

use crate::desk::Desk;
use crate::run::until_status;
use crate::schemas;

pub(crate) fn desk() -> Desk {
    let script = Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")]);
    Desk::new(Claude::newest(), script)
}

/// The first value that `backstory run --json …` prints, in a directory.
pub(crate) fn ready(desk: &Desk, place: &Path, words: &[&str]) -> Value {
    let mut command = desk.command(&[&["run", "--json"], words].concat());
    command.current_dir(place);
    let run = testkit::claude::Run::of(command).succeeded();
    let values = serde_json::Deserializer::from_str(&run.stdout).into_iter();
    let values: Vec<Value> = values.collect::<Result<_, _>>().expect("JSON");
    for value in &values {
        schemas::check(if value["event"].is_string() { "events" } else { "answers" }, "run", value);
    }
    values.into_iter().next().expect("a value")
}

#[track_caller]
fn is(ready: &Value, start: &str, session: Option<&Value>) -> Value {
    assert_eq!(ready["start"], start, "{ready}");
    if let Some(session) = session {
        assert_eq!(ready["session_id"], *session, "{ready}");
    }
    ready["session_id"].clone()
}

#[test]
fn a_label_names_one_session_in_each_work_tree() {
    let desk = desk();
    let shop = desk.project("shop");
    let tree = desk.home.path().join("tree");
    shop.git(["worktree", "add", "-q", "-b", "other", tree.to_str().expect("UTF-8")]);
    let label = |words: &str| -> Vec<String> { vec!["--label".into(), "auth".into(), words.into()] };
    let run = |place: &Path, task: &str| {
        let words = label(task);
        ready(&desk, place, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let first = run(shop.path(), "say hello");
    let reason = first["decision"]["reason"].as_str().expect("a reason");
    assert_eq!(reason, "no session is called `auth` yet");
    let first = is(&first, "fresh", None);
    // Other words, and from a folder below: it is the label that counts.
    let below = shop.path().join("src");
    std::fs::create_dir_all(&below).expect("a folder");
    is(&run(&below, "and again"), "resume", Some(&first));
    // In another work tree of the repository it is another session's.
    let second = is(&run(&tree, "say hello"), "fresh", None);
    assert_ne!(second, first);
    is(&run(&tree, "and again"), "resume", Some(&second));
    is(&run(shop.path(), "and again"), "resume", Some(&first));
    // `pick` knows it too, and where the session is gone the label begins a new session.
    let mut pick = desk.command(&["pick", "--label", "auth", "--json"]);
    pick.current_dir(&tree);
    let picked: Value =
        serde_json::from_str(&testkit::claude::Run::of(pick).succeeded().stdout).expect("JSON");
    assert_eq!((&picked["action"], &picked["session_id"]), (&"resume".into(), &second), "{picked}");
    let transcript = desk.transcript(&tree, second.as_str().expect("an id"));
    std::fs::remove_file(&transcript).expect("its transcript");
    let third = is(&run(&tree, "say hello"), "fresh", None);
    is(&run(&tree, "and again"), "resume", Some(&third));
}

#[test]
fn a_label_whose_session_is_held_begins_no_other() {
    let gate = Gate::new();
    let script = Script::new()
        .on("work long", [Answer::held(&gate).then_text("Worked.")])
        .on("and again", [Answer::text("Again.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let first = ready(&desk, shop.path(), &["--label", "auth", "--detach", "work long"]);
    let number = first["worker"].to_string();
    gate.wait_until_reached();
    let refused = |expected: &str| {
        let mut command = desk.command(&["run", "--label", "auth", "and again"]);
        command.current_dir(shop.path());
        let run = testkit::claude::Run::of(command);
        assert_eq!(run.code, Some(6), "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    };
    refused(&format!("backstory send {number} <message>"));
    gate.open();
    until_status(&desk, &number, "idle");
    // Idle, it makes way for the next task that goes to its session.
    let second = ready(&desk, shop.path(), &["--label", "auth", "and again"]);
    is(&second, "resume", Some(&first["session_id"]));
    // A person has it open.
    let id = first["session_id"].as_str().expect("an id");
    desk.hold(id, shop.path());
    refused(&format!("--fork {}", &id[..8]));
}
