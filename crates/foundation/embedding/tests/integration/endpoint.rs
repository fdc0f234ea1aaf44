//! The client of `/v1/embeddings` against a scripted server on the loopback.

use std::time::Duration;

use embedding::{ApiKey, Endpoint, Vector};
use testkit::EmbeddingServer;
use testkit::embedding_server::Reply;

fn endpoint(server: &EmbeddingServer) -> Endpoint {
    Endpoint::new(server.url(), "small", Some(ApiKey("sk-secret".to_owned())), Duration::from_secs(10))
        .expect("an address on the loopback")
}

fn reply(status: u16, body: &str) -> Reply {
    Reply { status, headers: Vec::new(), body: body.to_owned() }
}

fn vector(numbers: [f32; 3]) -> Option<Vector> {
    Vector::normalized(numbers.to_vec())
}

#[test]
fn each_text_gets_its_vector_and_blank_ones_are_not_sent() {
    let server = EmbeddingServer::start(Vec::new());
    let vectors = endpoint(&server).embed(&["abba", " \n", "x"], |_| false).expect("an answer");
    assert_eq!(vectors, [vector([4.0, 2.0, 1.0]), None, vector([1.0, 0.0, 1.0])]);
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/v1/embeddings");
    assert_eq!(asked[0].authorization.as_deref(), Some("Bearer sk-secret"));
    let expected = serde_json::json!({"model": "small", "input": ["abba", "x"], "encoding_format": "float"});
    assert_eq!(asked[0].body, expected);
}

#[test]
fn many_texts_go_in_batches() {
    let server = EmbeddingServer::start(Vec::new());
    let texts: Vec<String> = (1..=150).map(|length| "a".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = endpoint(&server).embed(&texts, |_| false).expect("an answer");
    for (vector_of, length) in vectors.iter().zip(1u8..) {
        assert_eq!(*vector_of, vector([f32::from(length), f32::from(length), 1.0]));
    }
    assert_eq!(server.asked().len(), 3);
    assert_eq!(endpoint(&server).embed(&[], |_| false).expect("an answer"), []);
}

#[test]
fn a_busy_server_is_asked_again_after_the_pause_it_asks_for() {
    let busy = Reply { headers: vec![("retry-after", "7")], ..reply(429, "{}") };
    let server = EmbeddingServer::start(vec![busy, reply(503, "")]);
    let mut pauses = Vec::new();
    let vectors = endpoint(&server).embed(&["a"], |pause| {
        pauses.push(pause);
        true
    });
    assert_eq!(vectors.expect("an answer"), [vector([1.0, 1.0, 1.0])]);
    assert_eq!(pauses, [Duration::from_secs(7), Duration::from_secs(1)]);
}

#[test]
fn it_is_given_up_after_four_attempts_or_when_told_or_when_the_pause_is_long() {
    let server = EmbeddingServer::start(vec![reply(500, ""); 9]);
    let error = endpoint(&server).embed(&["a"], |_| true).expect_err("a failure");
    assert!(error.to_string().contains("500"), "{error}");
    assert_eq!(server.asked().len(), 4);
    endpoint(&server).embed(&["a"], |_| false).expect_err("a failure");
    assert_eq!(server.asked().len(), 5);
    let later = Reply { headers: vec![("retry-after", "3600")], ..reply(429, "{}") };
    let server = EmbeddingServer::start(vec![later]);
    endpoint(&server).embed(&["a"], |_| true).expect_err("a failure");
    assert_eq!(server.asked().len(), 1);
}

#[track_caller]
fn check_refused(answer: Reply, expected: &str) {
    let server = EmbeddingServer::start(vec![answer]);
    let error = endpoint(&server).embed(&["a", "b"], |_| true).expect_err("a failure").to_string();
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains("sk-secret") && !error.contains('\u{1b}'), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_is_no_answer_is_not_asked_for_again_and_the_key_is_not_repeated() {
    check_refused(reply(401, r#"{"error":{"message":"wrong key sk-secret\u001b[2J"}}"#), "wrong key …");
    check_refused(reply(404, "<html>"), "404");
    check_refused(Reply { headers: vec![("location", "http://127.0.0.1:9/")], ..reply(302, "") }, "302");
    check_refused(reply(200, "not json"), "no vectors");
    check_refused(reply(200, r#"{"data":[{"index":0,"embedding":[1]}]}"#), "1 vectors for 2 texts");
    check_refused(
        reply(200, r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#),
        "2 vectors",
    );
    check_refused(
        reply(200, r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}"#),
        "length",
    );
    check_refused(
        reply(200, r#"{"data":[{"index":0,"embedding":[0]},{"index":1,"embedding":[]}]}"#),
        "nowhere",
    );
}

#[test]
fn where_nobody_listens_is_a_failure_that_names_the_address() {
    let gone = EmbeddingServer::start(Vec::new()).url().to_owned();
    let endpoint = Endpoint::new(&gone, "small", None, Duration::from_secs(10)).expect("an address");
    let mut pauses = 0;
    let error = endpoint.embed(&["a"], |_| {
        pauses += 1;
        true
    });
    let error = error.expect_err("a failure").to_string();
    assert!(error.contains(&gone), "{error}");
    assert_eq!(pauses, 3, "{error}");
}

#[test]
fn another_model_or_address_has_another_hash() {
    let hash = |base: &str, model: &str| {
        Endpoint::new(base, model, None, Duration::from_secs(1)).expect("an address").hash()
    };
    assert_eq!(hash("http://a/v1", "m"), hash("http://a/v1/", "m"));
    assert_ne!(hash("http://a/v1", "m"), hash("http://b/v1", "m"));
    assert_ne!(hash("http://a/v1", "m"), hash("http://a/v1", "n"));
}
