//! The real `claude` makes, resumes and forks sessions against the scripted model, in the newest and in an
//! older format.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::files::{bytes, records};
use testkit::held_claude::Start;
use testkit::{Answer, Claude, ModelServer, Repository, ScratchHome, Script, Snapshot, Transcript};

const ID: &str = "11111111-1111-4111-8111-111111111111";
const FORK: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn a_session_is_made_resumed_and_forked_by_2_1_330() {
    check_life_of_a_session(&Claude::newest());
}

#[test]
fn a_session_is_made_resumed_and_forked_by_2_1_100() {
    check_life_of_a_session(&Claude::v2_1_100());
}

fn check_life_of_a_session(claude: &Claude) {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let server = ModelServer::start(
        Script::new()
            .on("say hello", [Answer::thinking("A greeting.").then_text("Hello there!")])
            .on("and again", [Answer::text("Hello once more.")])
            .on("another way", [Answer::text("Good morning.")]),
    );
    let ask = |arguments: &[&str]| claude_answer(claude, &home, &server, &shop, arguments);

    assert_eq!(ask(&["-p", "say hello", "--session-id", ID]), "Hello there!");
    let file = transcript(&home, &shop, ID);
    let made = bytes(&file);
    assert_eq!(blocks(&file), ["prompt", "thinking", "text"]);

    assert_eq!(ask(&["-p", "and again", "--resume", ID]), "Hello once more.");
    let resumed = bytes(&file);
    assert!(resumed.len() > made.len() && resumed.starts_with(&made), "resume appends to the same file");

    let before = Snapshot::read(&home.config_dir().join("projects"));
    let fork = ["-p", "another way", "--resume", ID, "--fork-session", "--session-id", FORK];
    assert_eq!(ask(&fork), "Good morning.");
    let after = Snapshot::read(&home.config_dir().join("projects"));
    let fork = transcript(&home, &shop, FORK);
    assert_eq!(before.differences(&after), [below_projects(&home, &fork)], "only the fork's file is new");
    assert_eq!(blocks(&fork), ["prompt", "thinking", "text", "prompt", "text", "prompt", "text"]);
    assert_eq!(home.transcripts(), [file, fork]);
}

#[test]
fn a_tool_runs_in_2_1_330() {
    check_tool(&Claude::newest());
}

#[test]
fn a_tool_runs_in_2_1_100() {
    check_tool(&Claude::v2_1_100());
}

fn check_tool(claude: &Claude) {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let echo = json!({"command": "echo from-the-shell", "description": "Say a word"});
    let server = ModelServer::start(
        Script::new()
            .on("run a command", [Answer::text("I will.").then_tool("Bash", echo), Answer::text("It ran.")]),
    );

    let arguments = ["-p", "run a command", "--allowedTools", "Bash", "--session-id", ID];
    let run = claude.run(&home, &server, shop.path(), &arguments).succeeded();

    assert_eq!(run.answer(), "It ran.");
    let file = transcript(&home, &shop, ID);
    assert_eq!(blocks(&file), ["prompt", "text", "tool_use", "tool_result", "text"]);
    let result = records(&file).into_iter().find(|record| record["toolUseResult"].is_object());
    assert_eq!(result.map(|record| record["toolUseResult"]["stdout"].clone()), Some("from-the-shell".into()));
    assert_eq!(usage_on_disk(&file), server_usage(&server));
}

#[test]
fn a_subagent_of_2_1_330_has_a_file_of_its_own() {
    check_subagent(&Claude::newest());
}

#[test]
fn a_subagent_of_2_1_100_has_a_file_of_its_own() {
    check_subagent(&Claude::v2_1_100());
}

fn check_subagent(claude: &Claude) {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let task = json!({
        "description": "Count the files",
        "prompt": "Look and count everything",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let server = ModelServer::start(
        Script::new()
            .on("use an agent", [Answer::tool("Agent", task), Answer::text("The agent found one.")])
            .on("Look and count", [Answer::text("There is one file.")]),
    );

    let run = claude.run(&home, &server, shop.path(), &["-p", "use an agent", "--session-id", ID]);

    assert_eq!(run.succeeded().answer(), "The agent found one.");
    let side = Snapshot::read(&transcript(&home, &shop, ID).with_extension("").join("subagents"));
    let names = side.paths().iter().map(|path| without_agent_id(path)).collect::<Vec<_>>();
    assert_eq!(names, ["agent-….jsonl", "agent-….meta.json"]);
    assert_eq!(home.transcripts().len(), 1);
}

#[test]
fn a_session_is_compacted_by_2_1_330() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let server = ModelServer::start(
        Script::new()
            .on("say hello", [Answer::text("Hello.")])
            .on("go on", [Answer::text("On we go.")])
            .on_compaction("They were asked to say hello."),
    );
    let ask =
        |prompt, flag| claude_answer(&Claude::newest(), &home, &server, &shop, &["-p", prompt, flag, ID]);

    ask("say hello", "--session-id");
    ask("/compact", "--resume");
    assert_eq!(ask("go on", "--resume"), "On we go.");

    let all = records(&transcript(&home, &shop, ID));
    let boundary = all.iter().position(|record| record["subtype"] == "compact_boundary");
    let summary = &all[boundary.map_or(0, |at| at + 1)];
    assert_eq!(summary["isCompactSummary"], true);
    assert!(summary["message"]["content"].to_string().contains("They were asked to say hello."));
}

#[test]
fn a_built_transcript_is_resumed_by_2_1_330() {
    check_built_transcript(&Claude::newest());
}

#[test]
fn a_built_transcript_is_resumed_by_2_1_100() {
    check_built_transcript(&Claude::v2_1_100());
}

/// The builder's lines are good enough for the program they imitate.
fn check_built_transcript(claude: &Claude) {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let file = Transcript::new(ID)
        .version(claude.version())
        .cwd(shop.path())
        .prompt("Why does the login fail?")
        .thinking("The token may be stale.")
        .answer("Let me look.")
        .tool("Bash", json!({"command": "grep -rn refresh src"}), "src/token.rs:12")
        .answer("The refresh never runs.")
        .write_to(&home);
    let before = bytes(&file);
    let server = ModelServer::start(Script::new().on("So fix it", [Answer::text("Fixed.")]));

    let run = claude.run(&home, &server, shop.path(), &["-p", "So fix it", "--resume", ID]);

    assert_eq!(run.succeeded().answer(), "Fixed.");
    assert!(bytes(&file).starts_with(&before));
    let sent = server.calls()[0].body["messages"].to_string();
    for words in ["Why does the login fail?", "Let me look.", "src/token.rs:12", "The refresh never runs."] {
        assert!(sent.contains(words), "the model was not sent: {words}");
    }
}

fn claude_answer(
    claude: &Claude,
    home: &ScratchHome,
    server: &ModelServer,
    project: &Repository<'_>,
    arguments: &[&str],
) -> String {
    claude.run(home, server, project.path(), arguments).succeeded().answer().to_owned()
}

fn transcript(home: &ScratchHome, project: &Repository<'_>, id: &str) -> PathBuf {
    home.project_folder(project.path()).join(format!("{id}.jsonl"))
}

/// `agent-a1b2.meta.json` becomes `agent-….meta.json`.
fn without_agent_id(path: &Path) -> String {
    let name = path.display().to_string();
    let end = name.find('.').unwrap_or(name.len());
    name.replace(&name["agent-".len()..end], "…")
}

fn below_projects(home: &ScratchHome, file: &Path) -> PathBuf {
    file.strip_prefix(home.config_dir().join("projects")).unwrap_or(file).to_path_buf()
}

/// The content of each record of the conversation.
fn blocks(file: &Path) -> Vec<String> {
    conversation(file)
        .iter()
        .map(|record| match &record["message"]["content"] {
            Value::Array(blocks) => blocks[0]["type"].as_str().unwrap_or_default().to_owned(),
            _ => "prompt".to_owned(),
        })
        .collect()
}

fn conversation(file: &Path) -> Vec<Value> {
    let mut all = records(file);
    all.retain(|record| record["type"] == "user" || record["type"] == "assistant");
    all
}

/// `(message id, output tokens)` of each API message, once.
fn usage_on_disk(file: &Path) -> Vec<(String, Value)> {
    let mut all: Vec<_> = conversation(file)
        .iter()
        .map(|record| &record["message"])
        .filter(|message| message["role"] == "assistant")
        .map(|message| (message["id"].to_string(), message["usage"]["output_tokens"].clone()))
        .collect();
    all.dedup();
    all
}

fn server_usage(server: &ModelServer) -> Vec<(String, Value)> {
    let numbered = server.calls().into_iter().filter_map(|call| call.usage).zip(1..);
    numbered.map(|(usage, n)| (format!("\"msg_01Scripted{n:010}\""), usage.output.into())).collect()
}

#[test]
fn a_claude_is_held_where_it_was_started() {
    let home = ScratchHome::new();
    let holdable = Claude::newest().install_holdable(&home);
    let version = || {
        let mut command = home.command(home.path().join("bin/claude"));
        command.arg("--version").stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let held = holdable.hold(Start::Version);
    let mut child = version();
    held.wait_for_child_of(std::process::id());
    held.wait_for_process(child.id());
    assert!(child.try_wait().unwrap().is_none());
    drop(held);
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("2.1.332"), "{output:?}");
    // Held for one purpose, it goes on for another; and what is held once can be held again.
    let _work = holdable.hold(Start::Work);
    assert!(version().wait_with_output().unwrap().status.success());
    let held = holdable.hold(Start::Version);
    let child = version();
    held.wait_for_process(child.id());
    drop(held);
    assert!(child.wait_with_output().unwrap().status.success());
}
