//! Sessions that the real `claude` made are listed, resumed and forked; the originals stay as they are.

use std::path::Path;

use serde_json::{Value, json};
use testkit::files::{bytes, records, wait_until};
use testkit::{Answer, Claude, Script, Snapshot};

use crate::desk::{Desk, prompts};

const PLAIN: &str = "11111111-1111-4111-8111-111111111111";
const TOOL: &str = "22222222-2222-4222-8222-222222222222";
const AGENT: &str = "33333333-3333-4333-8333-333333333333";

#[test]
fn sessions_of_2_1_330_are_continued() {
    check_continuing(Claude::newest());
}

#[test]
fn sessions_of_2_1_100_are_continued() {
    check_continuing(Claude::v2_1_100());
}

fn check_continuing(claude: Claude) {
    let desk = Desk::new(claude, script());
    let shop = desk.project("shop");
    let shop = shop.path();
    desk.claude(shop, &["-p", "say hello", "--session-id", PLAIN]);
    desk.claude(shop, &["-p", "and again", "--resume", PLAIN]);
    desk.claude(
        shop,
        &["-p", "run a command", "--session-id", TOOL, "--allowedTools", "Bash", "--name", "The tool tour"],
    );
    desk.claude(shop, &["-p", "use an agent", "--session-id", AGENT]);

    check_listing(&desk, shop);
    check_searching(&desk, shop);
    check_resuming(&desk, shop);
    check_forking(&desk, shop);
    check_forking_at_a_message(&desk, shop);
    check_forking_elsewhere(&desk, shop);
}

fn script() -> Script {
    let echo = json!({"command": "echo from-the-shell", "description": "Say a word"});
    let task = json!({
        "description": "Count the files",
        "prompt": "Look and count everything",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Script::new()
        .on("say hello", [Answer::text("Hello.")])
        .on("run a command", [Answer::text("I will.").then_tool("Bash", echo), Answer::text("It ran.")])
        .on("use an agent", [Answer::tool("Agent", task), Answer::text("The agent found one.")])
        .on("Look and count", [Answer::text("There is one file.")])
        .on("next question", [Answer::text("Next answer.")])
}

fn check_listing(desk: &Desk, shop: &Path) {
    let answer = desk.json(&["list"]);
    let sessions = answer["sessions"].as_array().expect("sessions");
    let ids: Vec<_> =
        sessions.iter().map(|session| session["session_id"].as_str().unwrap_or_default()).collect();
    assert_eq!(ids, [AGENT, TOOL, PLAIN], "newest first, and no sub-agent among them");
    assert_eq!(sessions[0]["subagents"].as_array().map(Vec::len), Some(1));
    assert_eq!(sessions[2]["title"], "say hello");
    for session in sessions {
        assert_eq!(session["cwd"], shop.display().to_string());
        assert_eq!(session["version"], desk.claude.version());
        assert_eq!(session["is_running"], false);
    }
}

/// Words and files of a session lead to it.
fn check_searching(desk: &Desk, shop: &Path) {
    let found = desk.json(&["search", "from-the-shell"]);
    assert_eq!(found["hits"][0]["session_id"], TOOL, "{found}");
    let offered = desk.backstory(&["resume", "from-the-shell", "--print"]);
    assert_eq!((offered.code, offered.stdout.as_str()), (Some(4), ""), "a word in a command is not enough");
    assert!(offered.stderr.contains(&TOOL[..8]), "{}", offered.stderr);
    let offered = desk.json(&["fork", "count every file"]);
    let first = &offered["results"][0];
    assert_eq!((&first["session_id"], &first["rank"]), (&AGENT.into(), &1.into()), "{offered}");
    assert_eq!(first["working_directory"], shop.display().to_string());
    assert!(first["snippet"].as_str().is_some_and(|snippet| snippet.contains("ount")), "{offered}");
    let picked = desk.backstory(&["fork", "count every file", "--pick", "1", "--print"]).succeeded();
    assert_eq!(desk.plain(picked.answer()), format!("cd ~/shop && claude --resume={AGENT} --fork-session"));
}

/// The new turn is in the same file, behind all that was there.
fn check_resuming(desk: &Desk, shop: &Path) {
    let printed = desk.backstory(&["resume", PLAIN, "--print"]).succeeded();
    assert_eq!(desk.plain(printed.answer()), format!("cd ~/shop && claude --resume={PLAIN}"));

    let file = desk.transcript(shop, PLAIN);
    let before = Snapshot::read(&desk.home.config_dir().join("projects"));
    let old = bytes(&file);
    let run = desk.backstory(&["resume", &PLAIN[..8], "--", "-p", "next question"]).succeeded();
    assert_eq!(run.answer(), "Next answer.");
    let new = bytes(&file);
    assert!(new.len() > old.len() && new.starts_with(&old), "what was there is unchanged");
    let after = Snapshot::read(&desk.home.config_dir().join("projects"));
    assert_eq!(before.differences(&after).len(), 1, "no other file was touched");
    assert_eq!(prompts(&file), ["say hello", "and again", "next question"]);
}

/// The fork is a new file; the original is the same, byte for byte.
fn check_forking(desk: &Desk, shop: &Path) {
    let offered = desk.json(&["fork", TOOL]);
    assert_eq!(offered["results"][0]["can_fork"], true, "{offered}");
    assert_eq!(offered["results"][0]["jsonl_path"], desk.transcript(shop, TOOL).display().to_string());

    let projects = desk.home.config_dir().join("projects");
    let before = Snapshot::read(&projects);
    let id = forked(desk, &["fork", TOOL, "--pick", "1"]);
    let after = Snapshot::read(&projects);
    let fork = desk.transcript(shop, &id);
    assert_eq!(before.differences(&after), [fork.strip_prefix(&projects).expect("below").to_path_buf()]);
    assert_eq!(prompts(&fork), ["run a command", "next question"]);
}

/// The model hears nothing of what came after the message.
fn check_forking_at_a_message(desk: &Desk, shop: &Path) {
    let original = desk.transcript(shop, PLAIN);
    let before = bytes(&original);
    let answers = records(&original);
    let first = answers.iter().find(|record| record["type"] == "assistant").expect("an answer");
    let at = first["uuid"].as_str().expect("an id");

    let id = forked(desk, &["fork", PLAIN, "--at", at]);

    assert_eq!(bytes(&original), before);
    let fork = desk.transcript(shop, &id);
    assert_eq!(prompts(&fork), ["say hello", "next question"]);
    check_chain(&records(&fork));
    let sent = desk.server.calls().pop().expect("a call").body["messages"].to_string();
    assert!(sent.contains("say hello") && !sent.contains("and again"), "{sent}");
    let listed = desk.json(&["list"]);
    let session =
        listed["sessions"].as_array().into_iter().flatten().find(|session| session["session_id"] == id);
    assert_eq!(session.map(|session| session["forked_from"]["session_id"].clone()), Some(PLAIN.into()));
}

/// The fork is in the other directory's folder, and nothing else is new there.
fn check_forking_elsewhere(desk: &Desk, shop: &Path) {
    let attic = desk.home.dir("attic");
    let original = desk.transcript(shop, PLAIN);
    let before = bytes(&original);
    let id = forked(desk, &["fork", PLAIN, "--in", &attic.display().to_string()]);
    let copy = desk.transcript(&attic, PLAIN);
    wait_until(desk.home.path(), "the copy is gone", || !copy.exists());
    assert_eq!(bytes(&original), before);
    assert_eq!(prompts(&desk.transcript(&attic, &id)).last().map(String::as_str), Some("next question"));
    let names = Snapshot::read(&desk.home.project_folder(&attic));
    assert_eq!(names.paths(), [Path::new(&format!("{id}.jsonl"))]);
}

/// Runs a fork that asks one question; its id.
fn forked(desk: &Desk, arguments: &[&str]) -> String {
    let question = ["--", "-p", "next question", "--output-format", "json"];
    let result = desk.backstory(&[arguments, &question].concat()).succeeded().result();
    assert_eq!(result["result"], "Next answer.");
    result["session_id"].as_str().expect("a session id").to_owned()
}

/// Every record's parent comes before it.
fn check_chain(records: &[Value]) {
    let mut seen = Vec::new();
    for record in records.iter().filter(|record| record["uuid"].is_string()) {
        let parent = &record["parentUuid"];
        assert!(parent.is_null() || seen.contains(parent), "{record}");
        seen.push(record["uuid"].clone());
    }
}
