//! The real `claude` calls the tools, over standard input and HTTP, in three releases; what it got stands in its transcript.

use serde_json::{Value, json};
use testkit::files::records;
use testkit::{Answer, Claude, Script};

use crate::client::program;
use crate::http::Listening;
use crate::scene::{Scene, TOKENS, planted_as_quoted};

/// What a model does that looks something up.
fn script() -> Script {
    let search = json!({"query": "refresh token race", "limit": 2});
    let read = json!({"session": TOKENS, "tools": true});
    Script::new()
        .on(
            "recall the token",
            [
                Answer::tool("mcp__backstory__search", search),
                Answer::tool("mcp__backstory__read_session", read),
                Answer::tool("mcp__backstory__read_session", json!({"session": "99999999"})),
                Answer::text("I remember."),
            ],
        )
        .on(
            "let somebody greet",
            [
                Answer::tool(
                    "mcp__backstory__spawn_worker",
                    json!({"task": "say hello", "session_id": GREETED}),
                ),
                Answer::tool("mcp__backstory__wait_workers", json!({"workers": [1]})),
                Answer::tool("mcp__backstory__worker_log", json!({"worker": 1})),
                Answer::tool("mcp__backstory__stop_worker", json!({"worker": 1})),
                Answer::text("They were greeted."),
            ],
        )
        .on("say hello", [Answer::text("Hello from the worker.")])
        .otherwise(Answer::text("It is done."))
}

const GREETED: &str = "88888888-8888-4888-8888-888888888888";
const ASKING: &str = "66666666-6666-4666-8666-666666666666";

/// The results of the tools that a session called, in order, with whether each is an error.
fn results(scene: &Scene, session: &str) -> Vec<(String, bool)> {
    let file = scene.home.project_folder(&scene.directory("web")).join(format!("{session}.jsonl"));
    let mut results = Vec::new();
    for record in records(&file) {
        for part in record["message"]["content"].as_array().into_iter().flatten() {
            if part["type"] == "tool_result" {
                let content = &part["content"];
                let blocks = content.as_array().into_iter().flatten();
                let text = content
                    .as_str()
                    .map_or_else(|| blocks.filter_map(|one| one["text"].as_str()).collect(), str::to_owned);
                results.push((text, part["is_error"] == true));
            }
        }
    }
    results
}

/// Lets the real `claude` work on a prompt with the server.
fn ask(scene: &Scene, server: Value, prompt: &str) -> Vec<(String, bool)> {
    let servers = json!({"mcpServers": {"backstory": server}}).to_string();
    let web = scene.directory("web");
    let arguments = [
        "-p",
        prompt,
        "--session-id",
        ASKING,
        "--strict-mcp-config",
        "--mcp-config",
        &servers,
        "--allowedTools",
        "mcp__backstory",
    ];
    let mut command = scene.claude.command(&scene.home, &scene.server);
    command.args(arguments).current_dir(&web);
    let _ = testkit::claude::Run::of(command).succeeded();
    results(scene, ASKING)
}

fn stdio() -> Value {
    json!({"type": "stdio", "command": program(), "args": ["mcp"], "alwaysLoad": true})
}

/// What has to be in the transcript of a session that recalled something.
#[track_caller]
fn check_recalled(release: &str, results: &[(String, bool)]) {
    let [(found, false), (read, false), (lost, true)] = results else { panic!("{release}: {results:?}") };
    let found: Value =
        serde_json::from_str(found).unwrap_or_else(|error| panic!("{release}: {error}: {found}"));
    assert_eq!(found["hits"][0]["session_id"], TOKENS, "{release}: {found}");
    let read: Value = serde_json::from_str(read).unwrap_or_else(|error| panic!("{release}: {error}: {read}"));
    let said = read["quoted"].to_string();
    assert!(said.contains("The login holds a lock now."), "{release}: {read}");
    assert!(
        said.contains(&json!(planted_as_quoted()).to_string().trim_matches('"').to_owned()),
        "{release}: quoted whole"
    );
    assert!(lost.contains("not_found") && lost.contains("session_list"), "{release}: {lost}");
}

#[test]
fn every_release_reads_its_memory_over_stdio() {
    for claude in [Claude::newest(), Claude::v2_1_197(), Claude::v2_1_100()] {
        let release = claude.version();
        let scene = Scene::with(claude, script());
        check_recalled(release, &ask(&scene, stdio(), "recall the token"));
    }
}

#[test]
fn every_release_reads_its_memory_over_http() {
    for claude in Claude::releases() {
        let release = claude.version();
        let scene = Scene::with(claude, script());
        let listening = Listening::start(&scene);
        let server = json!({
            "type": "http", "url": format!("http://{}/mcp", listening.address), "alwaysLoad": true,
            "headers": {"Authorization": format!("Bearer {}", listening.token)},
        });
        check_recalled(release, &ask(&scene, server, "recall the token"));
    }
}

#[test]
fn the_printed_server_is_one_whose_token_claude_asks_for() {
    let scene = Scene::with(Claude::newest(), script());
    let listening = Listening::start(&scene);
    let mut server = listening.server.clone();
    assert_eq!(server["headersHelper"], "backstory mcp --headers");
    server["headersHelper"] = json!(format!("{} mcp --headers", program().display()));
    server["alwaysLoad"] = json!(true);
    check_recalled(Claude::newest().version(), &ask(&scene, server, "recall the token"));
}

#[test]
fn one_claude_lets_another_work() {
    let scene = Scene::with(Claude::newest(), script());
    let results = ask(&scene, stdio(), "let somebody greet");
    let [(spawned, false), (waited, false), (log, false), (stopped, false)] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert!(spawned.contains(GREETED) && waited.contains("\"all_idle\":true"), "{results:?}");
    assert!(log.contains("Hello from the worker.") && stopped.contains("\"stopped\""), "{results:?}");
    let worker = scene.home.project_folder(&scene.directory("web")).join(format!("{GREETED}.jsonl"));
    assert!(worker.exists(), "a session like any other");
}

#[test]
fn the_model_has_two_tools_from_the_first_word_on() {
    let scene = Scene::with(Claude::newest(), script());
    let server = json!({"type": "stdio", "command": program(), "args": ["mcp"]});
    let results = ask(&scene, server, "recall the token");
    assert!(results.len() == 3 && !results[0].1, "{results:?}");
    let calls = scene.server.calls();
    let first = calls.iter().find(|call| call.prompt().contains("recall the token")).unwrap();
    let names: Vec<&str> =
        first.body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for (tool, is_loaded) in
        [("search", true), ("read_session", true), ("smart_fork", false), ("stop_worker", false)]
    {
        let name = format!("mcp__backstory__{tool}");
        assert_eq!(names.contains(&name.as_str()), is_loaded, "{name}: {names:?}");
    }
}
