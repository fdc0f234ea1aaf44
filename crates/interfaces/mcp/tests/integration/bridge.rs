//! The bridge of an OpenClaw agent's worker, called by the real `claude` that Backstory starts.

use std::collections::HashMap;

use serde_json::{Value, json};
use testkit::files::{bytes, records, wait_until};
use testkit::{Answer, Claude, Gate, Script, Terminal};

use crate::client::Client;
use crate::scene::Scene;

const SESSION: &str = "77777777-7777-4777-8777-777777777777";
const NEWS: &str = "The lamp is lit.";

/// The task of a worker that calls every tool, all at once.
fn script() -> Script {
    let call = |name: &str| format!("mcp__openclaw-bridge__openclaw_{name}");
    let all = Answer::tool(&call("conversation_context"), json!({}))
        .then_tool(&call("memory_search"), json!({"query": "lamp oil"}))
        .then_tool(&call("memory_search"), json!({"query": "zebra"}))
        .then_tool(&call("announce"), json!({"message": NEWS}))
        .then_tool(&call("session_info"), json!({}))
        .then_tool(&call("project_status"), json!({}))
        .then_tool(&call("session_list"), json!({"include_native": true}));
    Script::new()
        .on("light the lamp", [all, Answer::text("It is lit.")])
        .otherwise(Answer::text("It is done."))
}

/// A worker of agent main that has done its task, and everything that was printed.
fn worked(scene: &Scene, more: &[&str]) -> String {
    scene.home.write(".openclaw/agents/main/memory/oil.md", "The lamp oil is in the cellar.");
    scene.home.write(".openclaw/agents/ops/memory/oil.md", "The lamp oil of ops is in the attic.");
    let task = ["run", "--agent", "main", "--session-id", SESSION, "--budget", "2", "light the lamp"];
    let output = scene.command(&[&task, more].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The results of the tools that the worker's session called, in the order of the calls.
fn results(scene: &Scene) -> Vec<String> {
    let file = scene.home.project_folder(&scene.directory("web")).join(format!("{SESSION}.jsonl"));
    let (mut calls, mut results) = (Vec::new(), HashMap::new());
    for record in records(&file) {
        for part in record["message"]["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("tool_use") => calls.push(part["id"].to_string()),
                Some("tool_result") => {
                    assert_ne!(part["is_error"], true, "{part}");
                    let blocks = part["content"].as_array().into_iter().flatten();
                    let text: String = blocks.filter_map(|block| block["text"].as_str()).collect();
                    let text = part["content"].as_str().map_or(text, str::to_owned);
                    results.insert(part["tool_use_id"].to_string(), text);
                }
                _ => {}
            }
        }
    }
    calls.iter().filter_map(|call| results.remove(call)).collect()
}

#[test]
fn every_release_calls_all_six_tools_unasked() {
    for claude in Claude::releases() {
        let release = claude.version();
        let scene = Scene::with(claude, script());
        let said = worked(&scene, &[]);
        assert!(said.contains(&format!("announced: {NEWS}")), "{release}: {said}");
        check_answers(release, &results(&scene));
        // Neither was a tool searched for, nor anybody asked.
        let frames = bytes(&scene.home.state_dir().join("workers/1/frames.jsonl"));
        let frames = String::from_utf8(frames).unwrap();
        assert_eq!(frames.matches("can_use_tool").count(), 0, "{release}");
        assert_eq!(frames.matches("\"name\":\"ToolSearch\"").count(), 0, "{release}");
        check_announcement(&scene);
    }
}

fn check_answers(release: &str, results: &[String]) {
    let [context, memory, nothing, announced, info, status, sessions] = results else {
        panic!("{release}: {results:?}");
    };
    let parsed =
        |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let context = parsed(context);
    assert_eq!((&context["task"], &context["agentId"]), (&json!("light the lamp"), &json!("main")));
    assert!(context["budgetRemaining"].as_str().unwrap().starts_with('$'), "{context}");
    let memory = parsed(memory);
    assert_eq!(memory[0]["content"], "The lamp oil is in the cellar.", "{memory}");
    assert!(!memory.to_string().contains("attic"), "{memory}");
    assert_eq!(nothing, "No matching memory files found for query: zebra");
    assert_eq!(announced, "Message queued for delivery to user's chat.");
    let info = parsed(info);
    let (cost, left) =
        (info["costAccumulatedUsd"].as_f64().unwrap(), info["budgetRemainingUsd"].as_f64().unwrap());
    assert!((cost + left - 2.0).abs() < 1e-9, "{info}");
    assert!(parsed(status)["repo"]["path"].is_string(), "{status}");
    let sessions = parsed(sessions);
    let native = sessions["sessions"].as_array().unwrap().iter().filter(|one| one["source"] == "native-only");
    assert_eq!(native.count(), 1, "{sessions}");
}

#[test]
fn the_budget_falls_in_the_middle_of_a_turn() {
    const INFO: &str = "mcp__openclaw-bridge__openclaw_session_info";
    let gate = Gate::new();
    let ask = |answer: Answer| answer.then_tool(INFO, json!({})).output_tokens(1_000);
    let context = Answer::tool("mcp__openclaw-bridge__openclaw_conversation_context", json!({}));
    let first = ask(Answer::text("What does it cost?"));
    let script = Script::new()
        .on("light the lamp", [first, ask(Answer::held(&gate)), context, Answer::text("It is lit.")])
        .otherwise(Answer::text("It is done."));
    let scene = Scene::with(Claude::newest(), script);
    let transcript = scene.home.project_folder(&scene.directory("web")).join(format!("{SESSION}.jsonl"));
    std::thread::scope(|scope| {
        scope.spawn(|| worked(&scene, &[]));
        // Claude Code writes a message a moment after it has called the tool.
        gate.wait_until_reached();
        wait_until(scene.home.path(), "the first message", || {
            // On a slow machine the transcript itself comes later than that.
            transcript.exists() && String::from_utf8_lossy(&bytes(&transcript)).contains("What does it cost?")
        });
        gate.open();
    });
    let results = results(&scene);
    let [first, second, context] = results.as_slice() else { panic!("{results:?}") };
    let spent = |text: &str| {
        let info: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let (cost, left) = (info["costAccumulatedUsd"].as_f64(), info["budgetRemainingUsd"].as_f64());
        assert!((cost.unwrap() + left.unwrap() - 2.0).abs() < 1e-9, "{info}");
        cost.unwrap()
    };
    let (first, second) = (spent(first), spent(second));
    assert!(
        second > 0.0 && second >= first,
        "the turn is not over, and its messages count: {first}, {second}"
    );
    let context: Value = serde_json::from_str(context).unwrap();
    let remaining = context["budgetRemaining"].as_str().unwrap();
    let remaining: f64 = remaining.strip_prefix('$').unwrap().parse().unwrap();
    assert!(remaining <= 2.0 - second + 0.005, "{remaining} is left after {second}");
}

#[test]
fn an_announcement_is_on_the_screen_of_watch() {
    let gate = Gate::new();
    let announce = Answer::tool("mcp__openclaw-bridge__openclaw_announce", json!({"message": NEWS}));
    let script = Script::new()
        .on("light the lamp", [Answer::held(&gate).then_text("Now."), Answer::text("It is lit.")])
        .on("tell them", [announce, Answer::text("They know.")])
        .otherwise(Answer::text("It is done."));
    let scene = Scene::with(Claude::newest(), script);
    let start = ["run", "--agent", "main", "--session-id", SESSION, "--detach", "light the lamp"];
    let started = scene.command(&start).output().unwrap();
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    gate.wait_until_reached();
    let board = Terminal::run(&scene.command(&["watch", "--notify", "off"]), 110, 20);
    board.until(|screen| screen.contains("light the lamp"));
    gate.open();
    let sent = scene.command(&["send", "1", "tell them"]).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    board.until(|screen| screen.contains(&format!("announces: {NEWS}")));
    let stopped = scene.command(&["stop", "1"]).output().unwrap();
    assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
}

/// What was announced is kept with the worker, and is in a file for a host.
fn check_announcement(scene: &Scene) {
    let output = scene.command(&["workers", "--json"]).output().unwrap();
    let workers: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(workers["workers"][0]["announcements"][0]["message"], NEWS, "{workers}");
    let folder = scene.home.path().join(".tmp/openclaw-mcp-bridge");
    let files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert!(file.to_str().unwrap().ends_with("-announce.ndjson"), "{}", file.display());
    let line: Value = serde_json::from_slice(&bytes(file)).unwrap();
    assert_eq!(line["message"], NEWS);
    assert!(line["timestamp"].is_string(), "{line}");
}

#[test]
fn settings_switch_it_and_its_tools() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    let settings = "[bridge]\ntools = [\"openclaw_session_info\", \"announce\"]\n[agents.quiet.bridge]\nenabled = false\n";
    scene.home.write(".config/backstory/config.toml", settings);
    worked(&scene, &[]);
    let names = |worker: &str| {
        let mut client = Client::begin(scene.command(&["mcp", "--worker", worker]));
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("1"), ["openclaw_announce", "openclaw_session_info"]);
    let output = scene.command(&["run", "--agent", "quiet", "--fresh", "say hello"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(names("2"), Vec::<String>::new());
    let frames = String::from_utf8(bytes(&scene.home.state_dir().join("workers/2/frames.jsonl"))).unwrap();
    assert!(!frames.contains("openclaw-bridge"), "a worker without tools has no bridge");
}

#[test]
fn a_project_that_is_kept_from_models_is_kept_from_it() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    let listed = || {
        let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
        let answer = client.ask("tools/call", json!({"name": "openclaw_session_list", "arguments": {}}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["total"].clone()
    };
    assert_eq!(listed(), 2);
    scene.home.write(".config/backstory/config.toml", "[mcp]\ndeny = [\"web\"]\n");
    assert_eq!(listed(), 0);
}

#[test]
fn without_the_file_it_says_that_the_message_is_only_kept() {
    let scene = Scene::with(Claude::newest(), script());
    // Where the folder should be is a file.
    scene.home.write(".tmp/openclaw-mcp-bridge", "");
    worked(&scene, &[]);
    let answers = results(&scene);
    assert!(answers.iter().any(|answer| answer.starts_with("Message kept with the worker")), "{answers:?}");
}

#[test]
fn it_is_a_server_with_tools_alone() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    insta::assert_json_snapshot!("bridge_tools", tools);
    let missing = client.ask("tools/call", json!({"name": "openclaw_announce", "arguments": {}}));
    assert_eq!(missing["result"]["isError"], true, "{missing}");
    let unknown = client.ask("tools/call", json!({"name": "search", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let none = client.ask("resources/list", json!({}))["error"].clone();
    assert_eq!(none["code"], -32601, "{none}");
    assert!(none["data"]["next_steps"].to_string().contains("tools/list"), "{none}");
    // Its worker is over: nobody is there to announce anything.
    let gone =
        client.ask("tools/call", json!({"name": "openclaw_announce", "arguments": {"message": "late"}}));
    assert_eq!(gone["result"]["isError"], true, "{gone}");
    let why = gone["result"]["content"][0]["text"].as_str().unwrap();
    assert!(why.starts_with("worker 1 cannot announce anything: it has ended ("), "{why}");
    // What it was told to do itself is no memory.
    let asked = json!({"name": "openclaw_memory_search", "arguments": {"query": "light the lamp"}});
    let found = client.ask("tools/call", asked).to_string();
    assert!(!found.contains(SESSION), "{found}");
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn settings_that_make_no_sense_are_said_instead_of_no_tools() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    scene.home.write(".config/backstory/config.toml", "[agents.main.bridge]\ntools = [\"openclaw_spawn\"]\n");
    let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
    for (method, parameters) in
        [("tools/list", json!({})), ("tools/call", json!({"name": "openclaw_announce", "arguments": {}}))]
    {
        let error = client.ask(method, parameters)["error"].clone();
        assert!(
            error["message"].as_str().is_some_and(|said| said.contains("`openclaw_spawn`")),
            "{method}: {error}"
        );
        assert!(error["data"]["next_steps"].to_string().contains("openclaw_announce"), "{method}: {error}");
    }
}

#[test]
fn its_sessions_are_read_before_it_is_asked() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    let catalog = scene.home.state_dir().join("catalog.sqlite");
    std::fs::remove_file(&catalog).unwrap();
    let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
    wait_until(scene.home.path(), "the catalog", || catalog.exists());
    // What comes later is in the answers all the same.
    let late = "99999999-4444-4444-8444-444444444444";
    testkit::Transcript::new(late).cwd(scene.directory("web")).prompt("Trim the wick").write_to(&scene.home);
    let answer = client.ask("tools/call", json!({"name": "openclaw_session_list", "arguments": {}}));
    assert!(answer.to_string().contains(late), "{answer}");
}

#[test]
fn its_memory_is_indexed_before_it_is_asked_and_kept_fresh() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    let _ = std::fs::remove_dir_all(scene.home.state_dir().join("index"));
    let pending = || -> u64 {
        let output = scene.command(&["index", "--dry-run", "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["pending_files"].as_u64().unwrap_or_else(|| panic!("{answer}"))
    };
    assert!(pending() > 0);
    let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
    wait_until(scene.home.path(), "the index", || pending() == 0);
    testkit::Transcript::new("99999999-4444-4444-8444-444444444444")
        .cwd(scene.directory("web"))
        .prompt("Trim the wick")
        .write_to(&scene.home);
    assert_eq!(pending(), 1);
    client.ask("tools/call", json!({"name": "openclaw_session_info", "arguments": {}}));
    wait_until(scene.home.path(), "what is new in it", || pending() == 0);
}

#[test]
fn settings_switch_it_and_each_tool_for_all_agents_and_for_one() {
    let scene = Scene::with(Claude::newest(), Script::new().otherwise(Answer::text("It is done.")));
    worked(&scene, &[]);
    let check = |settings: &str, expected: &[&str]| {
        scene.home.write(".config/backstory/config.toml", settings);
        let mut client = Client::begin(scene.command(&["mcp", "--worker", "1"]));
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<_> =
            tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{settings}");
        // What is switched off is not called either.
        for tool in ["openclaw_memory_search", "openclaw_session_info"] {
            let answer = client.ask("tools/call", json!({"name": tool, "arguments": {"query": "oil"}}));
            let is_there = answer["result"]["content"].is_array();
            assert_eq!(is_there, expected.contains(&tool), "{settings}: {answer}");
        }
    };
    let (memory, info) = ("openclaw_memory_search", "openclaw_session_info");
    check("[bridge]\nenabled = false\n", &[]);
    check(
        "[bridge]\nenabled = false\n[agents.main.bridge]\nenabled = true\ntools = [\"memory_search\"]\n",
        &[memory],
    );
    check("[agents.main.bridge]\nenabled = false\n", &[]);
    check("[bridge]\ntools = [\"session_info\"]\n[agents.ops.bridge]\nenabled = false\n", &[info]);
    let off =
        json!({"agents": {"defaults": {"subagents": {"claudeCode": {"mcpBridge": {"enabled": false}}}}}});
    scene.home.write(".openclaw/openclaw.json", off.to_string());
    check("", &[]);
    check(
        "[bridge]\nenabled = true\ntools = [\"session_info\", \"openclaw_memory_search\"]\n",
        &[memory, info],
    );
}
