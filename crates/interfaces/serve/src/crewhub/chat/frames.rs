//! What a message of a chat leads to, as the events of a stream in CrewHub's words.

use app::Context;
use app::workers::{Event, PermissionRequest, RequestKind};
use model::SessionId;
use serde_json::{Value, json};

use crate::chat::follow::{Reader, frame};
use crate::chat::turn::Turn;
use crate::crewhub::chat::reply::{complaint, ended};
use crate::crewhub::history::label;
use crate::crewhub::key::Key;
use crate::crewhub::requests::{WaitingSession, as_question};
use crate::state::Server;

/// Passes on the events of a turn.
pub(super) fn pass_on(server: &Server, context: &Context, key: &Key, mut turn: Turn, reader: &Reader) {
    let mut translator = Translator::new(server, context, key, turn.session.clone(), turn.worker);
    reader.follow(
        |timeout| turn.next_within(timeout),
        |reader, event| {
            let frames = translator.frames(event);
            frames.into_iter().all(|frame| reader.send(frame)) && !translator.needs_answer
        },
    );
}

/// Sends what a session's worker asks, in place of a turn.
pub(super) fn send_request(
    server: &Server,
    context: &Context,
    key: &Key,
    waiting: &WaitingSession,
    reader: &Reader,
) {
    let mut translator = Translator::new(server, context, key, waiting.session.clone(), waiting.worker);
    let asked = waiting.asked(&server.shown);
    let mut frames = asked.map_or_else(Vec::new, |request| translator.asked(request));
    if !translator.needs_answer {
        frames.push(frame("done", &json!({})));
    }
    let _ = frames.into_iter().all(|frame| reader.send(frame));
}

struct Translator<'a> {
    server: &'a Server,
    context: &'a Context,
    session: SessionId,
    /// Whether the front end has buttons of its own for a permission: in the chats of fixed agents.
    has_buttons: bool,
    worker: i64,
    /// Whether a text has ended, and the next one is another.
    is_between_texts: bool,
    /// Whether the next message has to be the answer to what is asked.
    needs_answer: bool,
}

impl<'a> Translator<'a> {
    fn new(server: &'a Server, context: &'a Context, key: &Key, session: SessionId, worker: i64) -> Self {
        let has_buttons = matches!(key, Key::Agent(_));
        Self { server, context, session, has_buttons, worker, is_between_texts: false, needs_answer: false }
    }

    fn frames(&mut self, event: Event) -> Vec<String> {
        match event {
            Event::Delta { text } => vec![self.text(&text)],
            Event::Text { text, agent: None, streamed } => {
                let frames = if streamed { Vec::new() } else { vec![self.text(&text)] };
                self.is_between_texts = true;
                frames
            }
            Event::Thinking { text, agent: None } => {
                vec![frame("thinking", &json!({ "type": "thinking", "has_text": !text.is_empty() }))]
            }
            Event::Tool { name, input, agent: None, .. } => {
                vec![frame("tool", &json!({ "name": name, "status": "called", "label": summary(&input) }))]
            }
            Event::Asked(request) => self.asked(&request),
            Event::Result(result) if result.is_error => self.failed(&complaint(&result)),
            Event::Result(_) => vec![frame("done", &json!({}))],
            Event::Ended { state } => self.failed(&ended(&state)),
            _ => Vec::new(),
        }
    }

    /// What went wrong once the message was delivered is a text: at an `error` the front end sends the message again.
    fn failed(&mut self, why: &str) -> Vec<String> {
        self.is_between_texts = true;
        vec![self.text(why), frame("done", &json!({}))]
    }

    fn text(&mut self, text: &str) -> String {
        let gap = if std::mem::take(&mut self.is_between_texts) { "\n\n" } else { "" };
        frame("delta", &json!({ "text": format!("{gap}{text}") }))
    }

    fn asked(&mut self, request: &PermissionRequest) -> Vec<String> {
        self.server.shown.note(&self.session, request);
        let question = |questions: &Value| {
            vec![frame("question", &json!({ "questions": questions })), frame("done", &json!({}))]
        };
        let label = request.detail().unwrap_or_default();
        let permission = || {
            let asked = json!({ "worker": self.worker, "request": request.request, "tool": request.tool, "detail": label });
            frame("permission", &asked)
        };
        match request.kind() {
            RequestKind::Questions(_) => {
                self.needs_answer = true;
                // The front end sends the words of a button alone, which cannot say what question they answer.
                let open = self.server.shown.open_questions(&self.session, request);
                question(&json!(open.first().as_slice()))
            }
            RequestKind::Permission | RequestKind::Plan(_) if self.has_buttons => vec![permission()],
            RequestKind::Permission | RequestKind::Plan(_) => {
                let mut frames = vec![permission()];
                self.needs_answer = true;
                frames.extend(question(&as_question(self.context, request)));
                frames
            }
        }
    }
}

/// What a tool is called with, in a few words.
fn summary(input: &Value) -> String {
    const FIELDS: [&str; 8] =
        ["description", "file_path", "command", "pattern", "query", "url", "skill", "prompt"];
    FIELDS.iter().find_map(|field| input[field].as_str()).map(label).unwrap_or_default()
}
