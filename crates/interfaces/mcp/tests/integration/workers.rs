//! The tools that start and lead workers, with the real `claude` against a scripted model.

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Answer, Claude, Gate, Script};

use crate::client::Client;
use crate::scene::{LONG, Scene, TIDES, TOKENS};

fn touch(name: &str) -> Value {
    json!({"command": format!("touch {name} && rm -rf nothing"), "description": "Make a file"})
}

fn scene() -> Scene {
    Scene::with(
        Claude::newest(),
        Script::new()
            .on("say hello", [Answer::text("Hello there.")])
            .on("and again", [Answer::text("Hello again.")])
            .on(
                "make a file",
                [Answer::text("I will.").then_tool("Bash", touch("made")), Answer::text("Made.")],
            )
            .otherwise(Answer::text("It is done.")),
    )
}

/// Waits until the workers have finished or ask for something.
#[track_caller]
fn waited(client: &mut Client, workers: &[&Value]) -> Value {
    client.call("wait_workers", json!({"workers": workers}))
}

#[test]
fn a_worker_is_started_told_more_read_and_stopped() {
    let scene = scene();
    let mut client = scene.client();
    let started =
        client.call("spawn_worker", json!({"prompt": "say hello", "name": "Greeting", "budget_usd": 5}));
    assert_eq!(
        (&started["start"], &started["directory"]),
        (&json!("fresh"), &json!(scene.directory("web"))),
        "{started}"
    );
    let worker = &started["worker"];
    let first = waited(&mut client, &[worker]);
    assert_eq!(
        (&first["idle"], &first["all_idle"], &first["timed_out"]),
        (&json!([worker]), &json!(true), &json!(false))
    );
    assert_eq!(
        (&first["workers"][0]["text"], &first["failed"]),
        (&json!("Hello there."), &json!([])),
        "{first}"
    );
    assert!(first["notice"].is_string(), "{first}");

    let sent = client.call(
        "message_worker",
        json!({"workers": [worker], "message": "and again", "wait_mode": "all", "timeout_seconds": 3600}),
    );
    assert_eq!((&sent["sent"][0]["resumed"], &sent["failed"]), (&json!(false), &json!([])), "{sent}");
    assert_eq!(sent["waited"]["idle"], json!([worker]), "{sent}");
    assert_eq!(sent["waited"]["workers"][0]["text"], "Hello again.", "{sent}");
    let log = client.call("worker_log", json!({"worker": worker}));
    let said = log["page"]["messages"].to_string();
    assert!(
        said.contains("Hello there.") && said.contains("Hello again."),
        "what was waited for is there: {log}"
    );
    assert_eq!(log["worker"]["session_id"], started["session_id"]);
    let newer = client.call("worker_log", json!({"worker": worker, "after": log["page"]["newer"]}));
    assert_eq!(newer["page"]["messages"], json!([]), "{newer}");

    let alone = client.call("wait_workers", json!({"workers": worker}));
    assert_eq!(alone["idle"], json!([worker]), "one name needs no list: {alone}");
    let listed = client.call("list_workers", json!({"active": true, "project": "web"}));
    assert_eq!(listed["workers"][0]["worker"], *worker, "{listed}");
    assert_eq!(client.call("list_workers", json!({"status": "running"}))["workers"], json!([]));
    assert_eq!(client.call("list_workers", json!({"project": "harbor"}))["workers"], json!([]));
    let stopped = client.call("stop_worker", json!({"worker": worker}));
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    assert_eq!(client.call("list_workers", json!({}))["workers"], json!([]), "those that have not ended");
    let all = client.call("list_workers", json!({"active": false}));
    assert_eq!(all["workers"][0]["status"], "stopped", "{all}");
    let over = client.fail("stop_worker", json!({"worker": worker}));
    assert!(over["next_steps"].to_string().contains("read_session {"), "{over}");

    // One that has ended goes on when it is told more.
    let sent = client
        .call("message_worker", json!({"workers": [worker], "message": "and again", "wait_mode": "any"}));
    assert_eq!(sent["sent"][0]["resumed"], true, "{sent}");
    client.call("stop_worker", json!({"worker": sent["sent"][0]["worker"]}));
}

#[test]
fn a_session_is_resumed_forked_or_named() {
    let scene = scene();
    let mut client = scene.client();
    let mut start = |arguments: Value| {
        let started = client.call("spawn_worker", arguments);
        waited(&mut client, &[&started["worker"]]);
        client.call("stop_worker", json!({"worker": started["worker"]}));
        started
    };
    let forked = start(json!({"task": "say hello", "resume_session_id": &TOKENS[..8], "fork_session": true}));
    assert_eq!(forked["start"], "fork", "{forked}");
    assert_ne!(forked["session_id"], TOKENS);
    let resumed = start(json!({"task": "say hello", "resume_session_id": TOKENS, "project_path": "web"}));
    assert_eq!((&resumed["start"], &resumed["session_id"]), (&json!("resume"), &json!(TOKENS)), "{resumed}");
    let last = start(json!({"task": "say hello", "continue_session": true, "project_path": "harbor"}));
    assert_eq!(
        (&last["start"], &last["session_id"]),
        (&json!("resume"), &json!(LONG)),
        "an id, not --continue: {last}"
    );
    let own = "77777777-7777-4777-8777-777777777777";
    let named = start(json!({"task": "say hello", "session_id": own, "project_path": "auto"}));
    assert_eq!((&named["start"], &named["session_id"]), (&json!("fresh"), &json!(own)), "{named}");
    let flags = workers_flags(&scene);
    assert!(!flags.contains("--continue") && !flags.contains("bypass"), "{flags}");

    for contradiction in [
        json!({"task": "t", "resume_session_id": TIDES, "continue_session": true}),
        json!({"task": "t", "fork_session": true}),
        json!({"task": "t", "resume_session_id": TIDES, "project_path": "web"}),
        json!({"task": "t", "session_id": own, "resume_session_id": TIDES}),
        json!({"task": "t", "session_id": "no-uuid"}),
        json!({"task": ""}),
        json!({}),
    ] {
        assert_eq!(client.fail("spawn_worker", contradiction.clone())["error"], "usage", "{contradiction}");
    }
    for forbidden in ["permission_mode", "allowed_tools", "mcp_config", "settings", "environment"] {
        let error = client.fail("spawn_worker", json!({"task": "t", forbidden: "bypassPermissions"}));
        assert!(error["message"].as_str().unwrap().contains("unknown field"), "{error}");
    }
    assert_eq!(client.fail("spawn_worker", json!({"task": "t", "session_id": own}))["error"], "held");
}

/// The command lines of what was started, as the table of workers keeps them.
fn workers_flags(scene: &Scene) -> String {
    let mut command = scene.command(&["workers", "--json"]);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_fork_is_a_worker_on_the_intent() {
    let scene = scene();
    let mut client = scene.client();
    let answer = client.call("smart_fork", json!({"intent": "refresh token race", "auto_fork": true}));
    assert_eq!((&answer["forked_index"], &answer["forked_rank"]), (&json!(0), &json!(1)), "{answer}");
    let fork = &answer["forked_session"];
    let fields: Vec<&String> = fork.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["resume_session_id", "session_id", "session_name", "terminal_id", "worker_id"],
        "{fork}"
    );
    assert_eq!((&fork["resume_session_id"], &fork["terminal_id"]), (&json!(TOKENS), &Value::Null));
    let worker = &fork["worker_id"];
    waited(&mut client, &[worker]);
    let log = client.call("worker_log", json!({"worker": worker, "limit": 2}));
    assert!(log["page"]["messages"].to_string().contains("refresh token race"), "{log}");
    let listed = client.call("list_workers", json!({}));
    assert_eq!(listed["workers"][0]["permission_mode"], "default", "{listed}");
    client.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn what_a_worker_asks_is_the_persons_to_answer() {
    let scene = scene();
    let made = scene.directory("web").join("made");
    let mut client = scene.client();
    let worker = client.call("spawn_worker", json!({"task": "make a file"}))["worker"].clone();
    let waited = waited(&mut client, &[&worker]);
    assert_eq!((&waited["asking"], &waited["all_idle"]), (&json!([worker]), &json!(false)), "{waited}");
    let asked = &waited["workers"][0]["requests"][0];
    let id: String = asked["request"].as_str().unwrap().chars().take(8).collect();
    assert_eq!(asked["person_runs"], format!("backstory answer {worker} {id} yes|always|no"), "{waited}");
    let listed = client.call("list_workers", json!({"status": "waiting_permission"}));
    let request = listed["workers"][0]["requests"][0].clone();
    assert_eq!(request["tool"], "Bash", "{listed}");
    let arguments = json!({"worker": worker, "request": request["request"], "reply": {"behavior": "allow"}});
    let hidden = client.ask("tools/call", json!({"name": "answer_worker", "arguments": arguments}));
    assert!(
        hidden["error"]["message"].as_str().unwrap().contains("unknown tool `answer_worker`"),
        "{hidden}"
    );

    let mut allowed = scene.client_with(&[("BACKSTORY_MCP_ANSWER_PERMISSIONS", "true")]);
    let mut always = arguments.clone();
    always["reply"]["grant"] = json!("always");
    assert_eq!(allowed.fail("answer_worker", always)["error"], "forbidden");
    assert!(!made.exists());
    allowed.call("answer_worker", arguments);
    wait_until(scene.home.path(), "the file", || made.exists());
    allowed.call("wait_workers", json!({"workers": [worker]}));
    allowed.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn waiting_ends_with_its_time_with_the_call_and_with_the_client() {
    let gate = Gate::new();
    let scene = Scene::with(Claude::newest(), Script::new().on("never end", [Answer::held(&gate)]));
    let mut client = scene.client();
    let worker = client.call("spawn_worker", json!({"task": "never end"}))["worker"].clone();
    let waited = client.call("wait_workers", json!({"workers": [worker], "timeout_seconds": 0}));
    assert_eq!((&waited["waiting_on"], &waited["timed_out"]), (&json!([worker]), &json!(true)), "{waited}");

    // What is cancelled is not answered, and the next request is.
    let wait =
        json!({"name": "wait_workers", "arguments": {"workers": [worker]}, "_meta": {"progressToken": 7}});
    let id = client.send("tools/call", wait.clone());
    let told = client.receive();
    assert_eq!(
        (&told["method"], &told["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!(7))
    );
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "changed my mind"}));
    client.notify("notifications/cancelled", json!({"requestId": 12345}));
    client.ask("ping", json!({}));
    client.line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": wait}));
    let again = client.receive();
    assert_eq!(
        (&again["id"], &again["error"]["code"]),
        (&json!(id), &json!(-32600)),
        "an id is used once: {again}"
    );
    // The client may go away in the middle.
    client.send("tools/call", wait);
    let told = client.receive();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    let end = client.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);

    let mut client = scene.client();
    assert_eq!(
        client.call("list_workers", json!({"active": true}))["workers"][0]["worker"],
        worker,
        "it works on"
    );
    client.call("stop_worker", json!({"worker": worker}));
    client.fail("wait_workers", json!({"workers": []}));
    client.fail("wait_workers", json!({"workers": [99]}));
}

#[test]
fn a_worker_that_failed_is_not_idle() {
    let gate = Gate::new();
    let script = Script::new()
        .on("never end", [Answer::held(&gate)])
        .otherwise(Answer::refusal(400, "invalid_request_error"));
    let scene = Scene::with(Claude::newest(), script);
    let mut client = scene.client();
    let check = |worker: &Value, client: &mut Client| {
        let seen = waited(client, &[worker]);
        let lists = (&seen["idle"], &seen["failed"], &seen["all_idle"]);
        assert_eq!(lists, (&json!([]), &json!([worker]), &json!(false)), "{seen}");
        seen["workers"][0].clone()
    };
    let worker = client.call("spawn_worker", json!({"task": "say hello"}))["worker"].clone();
    let refused = check(&worker, &mut client);
    assert_eq!((&refused["status"], &refused["turn_failed"]), (&json!("idle"), &json!(true)), "{refused}");
    assert!(refused["text"].as_str().unwrap().contains("400"), "{refused}");
    client.call("stop_worker", json!({"worker": worker}));

    let worker = client.call("spawn_worker", json!({"task": "never end"}))["worker"].clone();
    gate.wait_until_reached();
    let listed = client.call("list_workers", json!({"status": "running"}));
    let pid = listed["workers"][0]["pid"].as_u64().unwrap_or_else(|| panic!("{listed}"));
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(check(&worker, &mut client)["status"], "failed");
}

#[test]
fn stopping_says_what_became_of_the_worker_and_its_work_tree() {
    let scene = scene();
    let shop = scene.home.repository("shop").path().display().to_string();
    let mut client = scene.client();
    let plain = client.call("spawn_worker", json!({"task": "say hello"}))["worker"].clone();
    let message = |answer: &Value| answer["message"].as_str().unwrap_or_default().to_owned();
    let kept = client.fail("stop_worker", json!({"worker": plain, "remove_worktree": true}));
    assert!(
        message(&kept).contains(&format!("worker {plain} was stopped; it had no work tree of its own")),
        "{kept}"
    );
    let task = json!({"task": "say hello", "project_path": shop, "new_worktree": true});
    let apart = client.call("spawn_worker", task)["worker"].clone();
    waited(&mut client, &[&apart]);
    client.call("stop_worker", json!({"worker": apart, "remove_worktree": true}));
    let again = client.fail("stop_worker", json!({"worker": apart, "remove_worktree": true}));
    assert!(message(&again).contains("is gone already"), "{again}");
}

#[test]
fn a_model_is_no_flag() {
    let scene = scene();
    let mut client = scene.client();
    let arguments = json!({"task": "say hello", "model": "--dangerously-skip-permissions"});
    let error = client.fail("spawn_worker", arguments);
    assert_eq!(error["error"], "usage", "{error}");
}

#[test]
fn what_a_worker_is_told_is_short() {
    let scene = scene();
    let mut client = scene.client();
    let long = "x".repeat(4_000_000);
    for (tool, arguments) in [
        ("spawn_worker", json!({"task": long})),
        ("message_worker", json!({"workers": [TOKENS], "message": long})),
        ("pick_session", json!({"task": long})),
        ("smart_fork", json!({"intent": long, "auto_fork": true})),
    ] {
        let error = client.fail(tool, arguments);
        assert_eq!(error["error"], "too_large", "{tool}: {error}");
        assert!(
            error["message"].as_str().unwrap().ends_with("may have at most 100 kB; this one has 4000 kB")
        );
    }
    assert_eq!(client.call("list_workers", json!({}))["workers"], json!([]));
}
