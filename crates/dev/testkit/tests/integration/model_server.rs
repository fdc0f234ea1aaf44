//! Answers of the scripted server to a plain HTTP client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};
use testkit::{Answer, Gate, ModelServer, Script};

#[test]
fn an_answer_that_is_not_streamed_is_one_message() {
    let server = ModelServer::start(Script::new().on("hello", [Answer::text("Hi.").output_tokens(7)]));

    let message = json_of(&post(&server, "/v1/messages", &prompt("hello", false)));

    assert_eq!(message["content"], json!([{"type": "text", "text": "Hi."}]));
    assert_eq!(message["usage"]["output_tokens"], 7);
    assert_eq!(message["stop_reason"], "end_turn");
}

#[test]
fn each_answer_has_usage_of_its_own_and_the_sum_is_known() {
    let server = ModelServer::start(Script::new());

    let usages = [0, 1, 2].map(|_| json_of(&post(&server, "/v1/messages", &prompt("again", false))));

    let output = |message: &Value| message["usage"]["output_tokens"].as_u64().unwrap_or_default();
    let cached = |message: &Value| message["usage"]["cache_read_input_tokens"].as_u64().unwrap_or_default();
    assert_eq!(usages.each_ref().map(output), [21, 22, 23]);
    assert_eq!(usages.each_ref().map(cached), [0, 1010, 2030]);
    assert_eq!(server.total_usage().output, 66);
}

#[test]
fn a_refusal_carries_its_status_and_kind() {
    let server = ModelServer::start(Script::new().otherwise(Answer::refusal(529, "overloaded_error")));

    let reply = post(&server, "/v1/messages", &prompt("hello", true));

    assert!(reply.starts_with("HTTP/1.1 529"), "{reply}");
    assert_eq!(json_of(&reply)["error"]["type"], "overloaded_error");
    assert_eq!(server.calls()[0].usage, None);
}

#[test]
fn a_held_answer_goes_on_when_the_gate_opens() {
    let gate = Gate::new();
    let server = ModelServer::start(
        Script::new().otherwise(Answer::text("Before.").then_hold(&gate).then_text("After.")),
    );

    let reply = thread::scope(|scope| {
        let client = scope.spawn(|| post(&server, "/v1/messages", &prompt("hello", true)));
        gate.wait_until_reached();
        assert!(!client.is_finished());
        gate.open();
        client.join()
    });

    let reply = reply.unwrap_or_default();
    let (before, after) = (reply.find("Before."), reply.find("After."));
    assert!(before.is_some() && before < after, "{reply}");
    assert!(reply.contains("message_stop"), "{reply}");
}

#[test]
fn a_cut_answer_has_no_end() {
    let server = ModelServer::start(Script::new().otherwise(Answer::text("Half").then_cut()));

    let reply = post(&server, "/v1/messages", &prompt("hello", true));

    assert!(reply.contains("Half") && !reply.contains("message_stop"), "{reply}");
}

#[test]
fn other_paths_are_answered_and_remembered() {
    let server = ModelServer::start(Script::new());

    assert!(
        json_of(&post(&server, "/v1/messages/count_tokens", &prompt("hello", false)))["input_tokens"]
            .is_u64()
    );
    assert_eq!(json_of(&request(&server, "GET", "/api/hello?x=1", "")), json!({}));

    let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/messages/count_tokens", "/api/hello"]);
    assert!(server.calls().is_empty());
}

fn prompt(text: &str, stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}).to_string()
}

fn post(server: &ModelServer, path: &str, body: &str) -> String {
    request(server, "POST", path, body)
}

/// The whole reply; one that breaks off is what had come by then.
fn request(server: &ModelServer, method: &str, path: &str, body: &str) -> String {
    let address = server.url().trim_start_matches("http://");
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let mut reply = Vec::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        let _ = stream.write_all((head + body).as_bytes());
        let _ = stream.read_to_end(&mut reply);
    }
    String::from_utf8_lossy(&reply).into_owned()
}

fn json_of(reply: &str) -> Value {
    let body = reply.split_once("\r\n\r\n").map(|(_, body)| body);
    body.and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default()
}
