//! Clients that break the protocol: no crash, no hang, a clear error, and the next one is served.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Answer, Claude, Gate, Script};

use crate::client::Client;
use crate::scene::Scene;

#[track_caller]
fn lives(client: &mut Client) {
    assert!(client.ask("ping", json!({}))["result"].is_object(), "it still answers");
}

#[test]
fn malformed_messages_are_answered_with_what_is_wrong() {
    let scene = Scene::new();
    let mut client = scene.client();
    let mut check = |line: &[u8], code: i64, id: Value| {
        client.raw(line);
        client.raw(b"\n");
        let answer = client.receive();
        let told = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{told}: {answer}");
        lives(&mut client);
    };
    check(b"{", -32700, Value::Null);
    check(b"nonsense", -32700, Value::Null);
    check(b"\xff\xfe\x00", -32700, Value::Null);
    check(&b"[".repeat(200_000), -32700, Value::Null);
    check(b"[]", -32600, Value::Null);
    check(b"{}", -32600, Value::Null);
    check(br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a"));
    check(br#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7));
    check(br#"{"jsonrpc":"2.0","id":8,"method":"no/such"}"#, -32601, json!(8));
    check(br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}"#, -32602, json!(9));
    check(
        br#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"no_such"}}"#,
        -32602,
        json!(10),
    );
    check(
        br#"{"jsonrpc":"2.0","id":11,"method":"prompts/get","params":{"name":"no_such"}}"#,
        -32602,
        json!(11),
    );
    check(
        br#"{"jsonrpc":"2.0","id":12,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#,
        -32602,
        json!(12),
    );
    // What is only told is never answered.
    client.raw(b"\n\r\n  \n");
    client.notify("notifications/no/such", json!({"a": 1}));
    client.line(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen"}));
    client.line(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    lives(&mut client);
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn a_message_of_fifty_megabytes_is_refused_and_not_kept() {
    let scene = Scene::new();
    let mut client = scene.client();
    let before = resident(client.pid());
    client.raw(br#"{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{"name":"search","arguments":{"query":""#);
    let piece = "x".repeat(1 << 20);
    for _ in 0..50 {
        client.raw(piece.as_bytes());
    }
    client.raw(b"\"}}}\n");
    let answer = client.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer than 4 MB"), "{answer}");
    lives(&mut client);
    let grown = resident(client.pid()).saturating_sub(before);
    assert!(grown < 20 << 20, "the server grew by {grown} bytes");
}

/// How much memory a process has at this moment, in bytes.
fn resident(pid: u32) -> u64 {
    let status = crate::client::text(std::path::Path::new(&format!("/proc/{pid}/status")));
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn what_comes_before_initialize_is_refused_and_the_client_may_begin() {
    let scene = Scene::new();
    let mut client = Client::start(scene.command(&["mcp"]));
    for method in ["tools/list", "tools/call", "resources/list", "prompts/list"] {
        let answer = client.ask(method, json!({"name": "session_list", "arguments": {}}));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{method}: {answer}"));
        assert!(message.contains("initialize"), "{answer}");
    }
    for (method, parameters, says) in [
        ("initialize", json!({}), "missing field `protocolVersion`"),
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
            "missing field `clientInfo`",
        ),
        ("server/discover", json!({}), "`_meta` lacks `io.modelcontextprotocol/protocolVersion`"),
        ("no/such", json!({}), "unknown method `no/such`"),
    ] {
        let error = client.ask(method, parameters)["error"].clone();
        assert!(error["message"].as_str().is_some_and(|message| message.contains(says)), "{method}: {error}");
        assert!(error["data"]["next_steps"][0].is_string(), "{method}: {error}");
    }
    client.notify("notifications/initialized", json!({}));
    lives(&mut client);
    assert_eq!(client.initialize("2025-06-18")["result"]["protocolVersion"], "2025-06-18");
    assert!(client.ask("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn an_id_is_used_once_at_a_time() {
    let scene = Scene::new();
    let mut client = scene.client();
    // They come faster than one is answered.
    let slow = json!({"name": "search", "arguments": {"query": "refresh token"}});
    for _ in 0..20 {
        client.line(&json!({"jsonrpc": "2.0", "id": 500, "method": "tools/call", "params": slow}));
    }
    let answers: Vec<Value> = (0..20).map(|_| client.receive()).collect();
    assert!(answers.iter().all(|answer| answer["id"] == 500), "every one is answered: {answers:?}");
    let found = answers.iter().filter(|answer| answer["result"].is_object()).count();
    let refused = |answer: &&Value| {
        answer["error"]["message"].as_str().is_some_and(|text| text.contains("with this id was not answered"))
    };
    assert!((1..20).contains(&found) && found + answers.iter().filter(refused).count() == 20, "{answers:?}");
    // Once answered it can be used again.
    client.line(&json!({"jsonrpc": "2.0", "id": 500, "method": "ping"}));
    assert!(client.receive()["result"].is_object());
}

#[test]
fn a_client_that_reads_nothing_or_is_gone_ends_the_server() {
    let scene = Scene::new();
    let mut client = scene.client();
    for _ in 0..200 {
        client.send("tools/list", json!({}));
    }
    client.stop_reading();
    let end = client.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
}

#[test]
fn a_client_that_closes_its_end_and_reads_nothing_ends_the_server() {
    let scene = Scene::new();
    let mut command = scene.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let client = json!({"name": "deaf", "version": "1"});
    let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}))
        .unwrap();
    // More than a pipe holds.
    for id in 1..20 {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})).unwrap();
    }
    drop(input);
    let end = child.wait().unwrap();
    assert_eq!(end.code(), Some(0), "its output is open, and nobody reads it");
}

#[test]
fn many_at_once_are_all_answered() {
    let scene = Scene::new();
    let mut client = scene.client();
    let ids: Vec<i64> = (0..40)
        .map(|number| {
            let tool = ["session_list", "search", "project_status", "list_workers"][number % 4];
            client.send("tools/call", json!({"name": tool, "arguments": if tool == "search" { json!({"query": "lamp"}) } else { json!({}) }}))
        })
        .collect();
    let mut open: std::collections::BTreeSet<i64> = ids.into_iter().collect();
    while !open.is_empty() {
        let answer = client.receive();
        assert!(open.remove(&answer["id"].as_i64().unwrap()), "{answer}");
    }
}

#[test]
fn calls_that_wait_are_limited_and_delay_no_other() {
    const WAITING: usize = 64;
    let gate = Gate::new();
    let script =
        Script::new().on("hold the lamp", [Answer::held(&gate)]).otherwise(Answer::text("It is done."));
    let scene = Scene::with(Claude::newest(), script);
    let mut client = scene.client();
    let worker = client.call("spawn_worker", json!({"task": "hold the lamp"}))["worker"].clone();
    gate.wait_until_reached();
    let wait = json!({"name": "wait_workers", "arguments": {"workers": [worker]}});
    let ids: Vec<i64> = (0..WAITING + 3).map(|_| client.send("tools/call", wait.clone())).collect();
    for _ in 0..3 {
        let refused = client.receive();
        assert!(ids.contains(&refused["id"].as_i64().unwrap()), "{refused}");
        let payload = &refused["result"]["structuredContent"];
        assert_eq!(payload["error"], "unavailable", "{refused}");
        assert!(payload["next_steps"][0].as_str().unwrap().contains("cancel one"), "{refused}");
    }
    assert!(client.call("session_list", json!({}))["sessions"].is_array());
    gate.open();
    for _ in 0..WAITING {
        let answer = client.receive();
        assert_eq!(answer["result"]["structuredContent"]["idle"], json!([worker]), "{answer}");
    }
    client.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn arguments_of_any_length_are_answered_at_once() {
    let scene = Scene::new();
    let mut client = scene.client();
    // Each is compared with no id of a session, however much it looks like one.
    let long = client.fail("read_session", json!({"session": "a".repeat(1 << 20)}));
    assert_eq!(long["error"], "not_found", "{long}");
    assert_eq!(client.fail("read_session", json!({"session": " "}))["error"], "usage");
    let query = client.fail("search", json!({"query": "token ".repeat(100_000)}));
    assert_eq!(query["error"], "usage", "{query}");
}
