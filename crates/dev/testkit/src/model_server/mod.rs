//! A scripted stand-in for the Anthropic Messages API on the loopback, so that the real `claude` runs
//! without an account or a network. It says only what the test wrote, and remembers what it was sent.

mod gate;
mod ledger;
mod request;
mod script;
mod wire;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::response::Response;
use futures_util::stream;
use model::Usage;
use serde_json::{Value, json};

use crate::loopback::LoopbackServer;

use ledger::Ledger;
use wire::{Envelope, Frame};

pub use gate::Gate;
pub use request::Request;
pub use script::{Answer, Script};

use script::Part;

/// A running server; it ends when dropped, whatever it was answering.
pub struct ModelServer {
    stage: Arc<Stage>,
    server: LoopbackServer,
}

/// The state that all requests share.
struct Stage {
    script: Script,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    requests: Vec<Request>,
    ledger: Ledger,
}

impl ModelServer {
    /// Starts on a free port of the loopback.
    pub fn start(script: Script) -> Self {
        let stage = Arc::new(Stage { script, memory: Mutex::default() });
        let server = LoopbackServer::start(Router::new().fallback(serve).with_state(Arc::clone(&stage)));
        Self { stage, server }
    }

    /// The base URL for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> &str {
        self.server.origin()
    }

    /// Every request so far, in the order they arrived.
    pub fn requests(&self) -> Vec<Request> {
        self.stage.memory().requests.clone()
    }

    /// The requests for an answer of the model.
    pub fn calls(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.path == MESSAGES).collect()
    }

    /// The sum of all usage that was answered: what a ledger of everything must come to.
    pub fn total_usage(&self) -> Usage {
        self.requests()
            .iter()
            .filter_map(|request| request.usage)
            .fold(Usage::default(), |sum, one| sum + one)
    }
}

const MESSAGES: &str = "/v1/messages";

impl Stage {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("no holder panics")
    }

    fn record(&self, request: Request) {
        self.memory().requests.push(request);
    }
}

async fn serve(State(stage): State<Arc<Stage>>, http: HttpRequest) -> Response {
    let (head, body) = http.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let session = head.headers.get("x-claude-code-session-id").and_then(|id| id.to_str().ok());
    let request = Request {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
        session_id: session.map(str::to_owned),
        rule: None,
        usage: None,
    };
    match request.path.as_str() {
        MESSAGES => answer(&stage, request),
        "/v1/messages/count_tokens" => {
            stage.record(request);
            json_response(200, &json!({"input_tokens": bytes.len() / 4 + 1}))
        }
        _ => {
            stage.record(request);
            json_response(200, &json!({}))
        }
    }
}

fn answer(stage: &Stage, mut request: Request) -> Response {
    let (prompt, call) = request::last_prompt(&request.body);
    let (rule, answer) = stage.script.answer(&prompt, call);
    request.rule = rule;
    if let Some(Part::Refuse { status, kind }) = answer.parts.first() {
        stage.record(request);
        return refusal(*status, kind);
    }
    let streams = request.body["stream"] == true;
    let envelope = stage.remember(request, &answer);
    if streams {
        event_stream(wire::frames(&answer, &envelope), envelope.number)
    } else {
        json_response(200, &wire::message(&answer, &envelope))
    }
}

impl Stage {
    /// Counts the answer and keeps the request with its usage.
    fn remember(&self, mut request: Request, answer: &Answer) -> Envelope {
        let mut memory = self.memory();
        let mut usage = memory.ledger.next(request::beginning(&request.body));
        usage.output = answer.output_tokens.unwrap_or(usage.output);
        request.usage = Some(usage);
        let envelope = Envelope { number: memory.ledger.answers(), model: request.model().to_owned(), usage };
        memory.requests.push(request);
        envelope
    }
}

fn event_stream(frames: Vec<Frame>, number: u64) -> Response {
    let body = stream::unfold(frames.into_iter(), |mut frames| async {
        loop {
            match frames.next()? {
                Frame::Bytes(text) => return Some((Ok(text), frames)),
                Frame::Hold(gate) => gate.pass().await,
                Frame::Cut => {
                    // Hyper sends what it holds only when the body has nothing ready.
                    tokio::task::yield_now().await;
                    return Some((Err(io::Error::other("cut by the script")), frames));
                }
            }
        }
    });
    response(200, "text/event-stream", number, Body::from_stream(body))
}

fn refusal(status: u16, kind: &str) -> Response {
    let message = format!("The script refuses with {status}.");
    json_response(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
}

fn json_response(status: u16, body: &Value) -> Response {
    response(status, "application/json", 0, Body::from(body.to_string()))
}

fn response(status: u16, content_type: &str, number: u64, body: Body) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", content_type)
        .header("request-id", format!("req_011Scripted{number:010}"))
        .body(body)
        .unwrap_or_else(|error: axum::http::Error| panic!("a response of known parts: {error}"))
}
