//! A scripted stand-in for an OpenAI-compatible `/v1/embeddings` on the loopback. It answers each request
//! as the test wrote, then with vectors of its own making, and remembers what it was sent.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};

use crate::loopback::LoopbackServer;

/// A running server; it ends when dropped.
pub struct EmbeddingServer {
    url: String,
    stage: Arc<Stage>,
    _server: LoopbackServer,
}

/// An answer that is not the usual one.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status code.
    pub status: u16,
    /// The HTTP headers besides those that every answer has.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Its body, word for word.
    pub body: String,
}

/// One request that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The path of the URL that was asked for.
    pub path: String,
    /// The `authorization` header, which has the key.
    pub authorization: Option<String>,
    /// The body, parsed as JSON.
    pub body: Value,
}

#[derive(Default)]
struct Stage {
    /// The prepared answers, the next one last.
    replies: Mutex<Vec<Reply>>,
    asked: Mutex<Vec<Asked>>,
}

impl EmbeddingServer {
    /// Starts on a free port of the loopback; the first requests are answered with `replies`.
    pub fn start(mut replies: Vec<Reply>) -> Self {
        replies.reverse();
        let stage = Arc::new(Stage { replies: Mutex::new(replies), ..Stage::default() });
        let server = LoopbackServer::start(Router::new().fallback(serve).with_state(Arc::clone(&stage)));
        Self { url: format!("{}/v1", server.origin()), stage, _server: server }
    }

    /// The base URL, with `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every request so far, in the order they arrived.
    pub fn asked(&self) -> Vec<Asked> {
        self.stage.asked.lock().expect("no holder panics").clone()
    }
}

async fn serve(State(stage): State<Arc<Stage>>, http: Request) -> Response {
    let (head, body) = http.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let authorization = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    let asked = Asked {
        path: head.uri.path().to_owned(),
        authorization: authorization.map(str::to_owned),
        body: body.clone(),
    };
    stage.asked.lock().expect("no holder panics").push(asked);
    let reply = stage.replies.lock().expect("no holder panics").pop();
    let reply =
        reply.unwrap_or_else(|| Reply { status: 200, headers: Vec::new(), body: vectors(&body).to_string() });
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).expect("a response")
}

/// A vector of each text's length and letters, the last text first, as a server may answer.
fn vectors(body: &Value) -> Value {
    let texts = body["input"].as_array().cloned().unwrap_or_default();
    let vector = |text: &str| json!([text.len(), text.matches('a').count(), 1]);
    let data = texts.iter().enumerate().rev();
    let data =
        data.map(|(at, text)| json!({"index": at, "embedding": vector(text.as_str().unwrap_or_default())}));
    json!({"object": "list", "data": data.collect::<Vec<_>>()})
}
