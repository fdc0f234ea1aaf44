//! Chat: a message to a session, and what it leads to, whole or as it comes.

use std::collections::HashMap;
use std::time::Instant;

use app::workers::{
    Event, PermissionReply, PermissionRequest, RequestKind, WorkerState, answer, start, stop,
};
use app::{Context, Error, Kind, workers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use model::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat::follow::{GLANCE, Reader, failure, frame, streamed};
use crate::chat::turn::Turn;
use crate::crew::cooldown::Way;
use crate::crew::history::label;
use crate::crew::key::Key;
use crate::crew::sessions::crew_sessions;
use crate::crew::store::Agent;
use crate::crew::{context, office};
use crate::extract::{At, Given};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// The longest message, in characters; what is longer is cut off.
const LONGEST: usize = 5000;

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewMessage {
    /// Up to 5,000 characters.
    message: String,
    /// The room in which it is written.
    room_id: Option<String>,
}

/// What a message led to.
#[derive(Debug, Serialize, JsonSchema)]
struct Reply {
    response: Option<String>,
    tokens: u64,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Whether a session can be talked to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Info {
    can_chat: bool,
    agent_id: String,
    agent_name: String,
    session_key: String,
    source: &'static str,
}

/// What became of a worker that was to be ended.
#[derive(Debug, Serialize, JsonSchema)]
struct Killed {
    success: bool,
    message: String,
}

pub(super) fn add(routes: &mut Routes) {
    let route = post("/api/chat/{key}/send", "chat_send", "Sends a message and waits for the answer");
    routes.add(route.body::<NewMessage>().answer::<Reply>(), send);
    let route =
        post("/api/chat/{key}/stream", "chat_stream", "Sends a message; the answer comes as it is written");
    routes.add(route.body::<NewMessage>().stream(), stream);
    let route = get("/api/chat/{key}/info", "chat_info", "Whether a session can be talked to");
    routes.add(route.answer::<Info>(), info);
    routes.add(post("/api/chat/{key}/kill", "chat_kill", "Ends a session's worker").answer::<Killed>(), kill);
}

/// A message that may be sent.
struct Wanted {
    key: Key,
    message: String,
    room: Option<String>,
}

fn wanted(server: &Server, key: Key, given: NewMessage, way: Way) -> Result<Wanted, Problem> {
    if !key.can_chat() {
        return Err(Problem::forbidden("there is no chat with this session"));
    }
    let message: String = given.message.trim().chars().filter(|c| *c != '\0').take(LONGEST).collect();
    if message.is_empty() {
        return Err(Problem::usage("the message is empty"));
    }
    if matches!(key, Key::OpenClaw { .. }) {
        let detail = "OpenClaw is not connected: its agents are talked to there";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Unavailable, detail));
    }
    server.cooldowns.begin(&key.to_string(), way, Instant::now())?;
    Ok(Wanted { key, message, room: given.room_id })
}

/// Sends the message: as the answer to an open question, to the session, or to a new session of a fixed agent.
fn begin(server: &Server, context: &Context, wanted: &Wanted) -> Result<Turn, Error> {
    if let Some(session) = wanted.key.session(&server.store) {
        return match open_questions(context, &session) {
            Some((worker, request)) => answered(context, worker, &request, &wanted.message),
            None => Turn::of_session(context, &session, &wanted.message),
        };
    }
    let Key::Agent(agent) = &wanted.key else {
        return Err(Error::new(Kind::NotFound, format!("{} has no session", wanted.key)));
    };
    let turn = Turn::of_task(context, &first(server, context, agent, wanted)?)?;
    let (agent, session) = (agent.to_string(), turn.session.to_string());
    // Where it cannot be kept, the next message starts another session; this one was sent.
    let _ = server.store.edit(|book| {
        for known in book.agents.iter_mut().filter(|known| known.id == agent) {
            known.current_session_id = Some(session.clone());
        }
        Ok(())
    });
    Ok(turn)
}

/// The first task of a fixed agent.
fn first(
    server: &Server,
    asked: &Context,
    agent: &AgentId,
    wanted: &Wanted,
) -> Result<start::Request, Error> {
    let known =
        server.store.read(|book| book.agents.iter().find(|known| known.id == agent.as_str()).cloned());
    let known = known.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no agent `{agent}`")))?;
    let repo = known.project_path.clone().ok_or_else(|| {
        let message = format!("agent `{agent}` has no project_path: the directory that it works in");
        Error::new(Kind::Usage, message).hint("give the agent a project_path")
    })?;
    let room = room_block(server, asked, &known, wanted.room.as_deref())?;
    let prompts: Vec<String> = known.system_prompt.iter().cloned().chain(room).collect();
    Ok(start::Request {
        task: wanted.message.clone(),
        repo: Some(repo),
        fresh: true,
        model: known.default_model,
        permission_mode: Some(known.permission_mode),
        append_system_prompt: (!prompts.is_empty()).then(|| prompts.join("\n\n")),
        name: Some(known.name),
        ..start::Request::default()
    })
}

/// The part of a fixed agent's prompt that describes its room.
fn room_block(
    server: &Server,
    asked: &Context,
    agent: &Agent,
    room: Option<&str>,
) -> Result<Option<String>, Error> {
    let Some(room) = room.or(agent.default_room_id.as_deref()) else { return Ok(None) };
    let sessions = office::sessions(asked)?;
    let rooms = server.store.read(|book| office::rooms(book, &office::projects(book, &sessions)));
    let room = rooms.into_iter().find(|known| known.id == room);
    Ok(room.map(|room| context::block(&context::of_room(server, &room, context::OWN_CHANNEL, Some(agent)))))
}

/// The questions that the worker of a session waits for.
fn open_questions(context: &Context, session: &SessionId) -> Option<(i64, PermissionRequest)> {
    let worker = workers::find(context, session.as_str()).ok()?;
    let WorkerState::WaitingPermission { requests } = worker.state else { return None };
    let asks = |request: &PermissionRequest| matches!(request.kind(), RequestKind::Questions(_));
    Some((worker.worker, requests.into_iter().find(asks)?))
}

/// Answers all questions of a request with the same words.
fn answered(context: &Context, worker: i64, request: &PermissionRequest, words: &str) -> Result<Turn, Error> {
    let RequestKind::Questions(questions) = request.kind() else {
        return Err(Error::new(Kind::Internal, "a question became something else"));
    };
    let turn = Turn::of_answer(context, worker, &request.request)?;
    let answers = questions.into_iter().map(|question| (question.question, words.to_owned())).collect();
    let reply = PermissionReply::Answers { answers };
    let request = request.request.clone();
    answer::answer(context, &answer::Request { worker: worker.to_string(), request, reply })?;
    Ok(turn)
}

async fn send(
    State(server): State<Shared>,
    At(key): At<Key>,
    Given(given): Given<NewMessage>,
) -> Result<Json<Reply>, Problem> {
    let wanted = wanted(&server, key, given, Way::Send)?;
    let reply = server
        .follow(move |server, context| {
            let reply = reply(context, begin(server, context, &wanted));
            publish(server, context, &wanted.key);
            Ok(reply)
        })
        .await?;
    Ok(Json(reply))
}

/// Publishes a session whose chat went on. The front end shows its new messages then, and takes all fields from here.
fn publish(server: &Server, context: &Context, key: &Key) {
    let text = key.to_string();
    let row = crew_sessions(server, context, None)
        .ok()
        .and_then(|known| known.sessions.into_iter().find(|row| row["key"] == text));
    let thin = || json!({ "sessionKey": text, "source": model::SOURCE });
    server.hub.publish("session-updated", &row.unwrap_or_else(thin));
}

fn reply(context: &Context, turn: Result<Turn, Error>) -> Reply {
    let failed = |error: String| Reply { response: None, tokens: 0, success: false, error: Some(error) };
    let mut turn = match turn {
        Ok(turn) => turn,
        Err(error) => return failed(error.message),
    };
    let mut texts = Vec::new();
    while !context.cancellation.is_cancelled() {
        match turn.next_within(GLANCE) {
            Ok(Some(Event::Text { text, agent: None, .. })) => texts.push(text),
            Ok(Some(Event::Asked(request))) => return failed(waits(turn.worker, &request)),
            Ok(Some(Event::Result(result))) if result.is_error => return failed(complaint(&result)),
            Ok(Some(Event::Result(_))) => {
                let response = Some(texts.join("\n\n"));
                return Reply { response, tokens: 0, success: true, error: None };
            }
            Ok(Some(Event::Ended { state })) => {
                return failed(format!("the worker ended: {}", state.as_str()));
            }
            Ok(_) => {}
            Err(_) => return failed("the worker cannot be followed any more".to_owned()),
        }
    }
    failed("the client left".to_owned())
}

fn waits(worker: i64, request: &PermissionRequest) -> String {
    let detail = request.detail().map_or_else(String::new, |detail| format!(": {detail}"));
    format!("worker {worker} waits for an answer to {}{detail}", request.tool)
}

fn complaint(result: &workers::TurnResult) -> String {
    let errors =
        result.errors.iter().map(String::as_str).chain([result.text.as_str(), result.subtype.as_str()]);
    errors.into_iter().find(|text| !text.is_empty()).unwrap_or("the turn failed").to_owned()
}

async fn stream(
    State(server): State<Shared>,
    At(key): At<Key>,
    Given(given): Given<NewMessage>,
) -> Result<Response, Problem> {
    let wanted = wanted(&server, key, given, Way::Stream)?;
    let place = server.follower()?;
    let streaming = server.clone();
    Ok(streamed(&server, place, move |reader| {
        if !reader.send(frame("start", &json!({}))) {
            return;
        }
        let context = streaming.context();
        match begin(&streaming, &context, &wanted) {
            Ok(turn) => translate(turn, reader),
            Err(error) => {
                reader.send(failure(&error));
            }
        }
        publish(&streaming, &context.refreshed(), &wanted.key);
    }))
}

/// Passes on what a turn does, in CrewHub's words.
fn translate(mut turn: Turn, reader: &Reader) {
    let mut translator = Translator { worker: turn.worker, tools: HashMap::new(), is_between_texts: false };
    reader.follow(
        |patience| turn.next_within(patience),
        |reader, event| {
            let frames = translator.frames(event);
            frames.into_iter().all(|frame| reader.send(frame)) && !translator.has_asked_a_question()
        },
    );
}

struct Translator {
    worker: i64,
    /// The names of tools by the ids of their calls.
    tools: HashMap<String, String>,
    /// Whether a text has ended, and the next one is another.
    is_between_texts: bool,
}

impl Translator {
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
            Event::Tool { id, name, input, agent: None } => {
                let tool = json!({ "name": name, "status": "called", "label": summary(&input) });
                self.tools.insert(id, name);
                vec![frame("tool", &tool)]
            }
            Event::ToolResult { id, is_error, agent: None, .. } => {
                let name = self.tools.remove(&id).unwrap_or_else(|| "tool".to_owned());
                let status = if is_error { "error" } else { "done" };
                vec![frame("tool", &json!({ "name": name, "status": status, "label": "" }))]
            }
            Event::Asked(request) => self.asked(&request),
            Event::Result(result) if result.is_error => {
                vec![frame("error", &json!({ "error": complaint(&result) }))]
            }
            Event::Result(_) => vec![frame("done", &json!({}))],
            Event::Ended { state } => {
                vec![frame("error", &json!({ "error": format!("the worker ended: {}", state.as_str()) }))]
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let gap = if std::mem::take(&mut self.is_between_texts) { "\n\n" } else { "" };
        frame("delta", &json!({ "text": format!("{gap}{text}") }))
    }

    fn asked(&mut self, request: &PermissionRequest) -> Vec<String> {
        match request.kind() {
            RequestKind::Questions(questions) => {
                // The next message is the answer.
                self.worker = 0;
                vec![frame("question", &json!({ "questions": questions })), frame("done", &json!({}))]
            }
            RequestKind::Permission | RequestKind::Plan(_) => {
                let label = request.detail().unwrap_or_default();
                let asked = json!({ "worker": self.worker, "request": request.request, "tool": request.tool, "detail": label });
                vec![frame("permission", &asked)]
            }
        }
    }

    fn has_asked_a_question(&self) -> bool {
        self.worker == 0
    }
}

/// What a tool is called with, in a few words.
fn summary(input: &Value) -> String {
    const FIELDS: [&str; 8] =
        ["description", "file_path", "command", "pattern", "query", "url", "skill", "prompt"];
    FIELDS.iter().find_map(|field| input[field].as_str()).map(label).unwrap_or_default()
}

async fn info(State(server): State<Shared>, At(key): At<Key>) -> Json<Info> {
    let agent_id = key.agent();
    let (agent_name, source) = match &key {
        Key::Session(id) => (format!("Claude Session {}", id.short()), model::SOURCE),
        Key::Agent(agent) => {
            let name = server.store.read(|book| {
                book.agents.iter().find(|known| known.id == agent.as_str()).map(|known| known.name.clone())
            });
            (name.unwrap_or_else(|| agent.to_string()), model::SOURCE)
        }
        Key::OpenClaw { agent, .. } => (agent.to_string(), "openclaw"),
    };
    Json(Info { can_chat: key.can_chat(), agent_id, agent_name, session_key: key.to_string(), source })
}

async fn kill(State(server): State<Shared>, At(key): At<Key>) -> Result<Json<Killed>, Problem> {
    if !key.can_chat() {
        return Err(Problem::forbidden("there is no chat with this session"));
    }
    let none = || Killed { success: false, message: "No running process found for this session".to_owned() };
    let Some(session) = key.session(&server.store) else { return Ok(Json(none())) };
    let request = stop::Request { worker: session.to_string(), remove_worktree: false };
    let stopped = server
        .ask(move |context| match stop::stop(context, &request) {
            Ok(_) => Ok(true),
            Err(error) if error.kind == Kind::NotFound => Ok(false),
            Err(error) => Err(error),
        })
        .await?;
    if !stopped {
        return Ok(Json(none()));
    }
    let ended = key.clone();
    server
        .work(move |server, context| {
            publish(server, context, &ended);
            Ok(())
        })
        .await?;
    Ok(Json(Killed { success: true, message: format!("Session {key} terminated") }))
}
