//! Chat: a message to a session, and what it leads to, whole or as it comes.

mod delivery;
mod frames;
mod message;
mod reply;

use app::workers::stop;
use app::{Context, Kind};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::chat::follow::{failure, frame, streamed};
use crate::crewhub::chat::delivery::{Delivery, deliver};
use crate::crewhub::chat::message::{ChatMessage, NewMessage};
use crate::crewhub::chat::reply::Reply;
use crate::crewhub::chat_key::ChatKey;
use crate::crewhub::cooldown::ChatRoute;
use crate::crewhub::key::Key;
use crate::crewhub::sessions::crewhub_sessions;
use crate::extract::{Authorized, JsonBody, PathParams};
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// Whether a session has a chat.
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
    routes.add(route.body::<NewMessage>().answer::<Reply>(), send_message);
    let route =
        post("/api/chat/{key}/stream", "chat_stream", "Sends a message; the answer comes as it is written");
    routes.add(route.body::<NewMessage>().stream(), stream);
    let route = get("/api/chat/{key}/info", "chat_info", "Whether a session has a chat");
    routes.add(route.answer::<Info>(), info);
    routes.add(post("/api/chat/{key}/kill", "chat_kill", "Ends a session's worker").answer::<Killed>(), kill);
}

async fn send_message(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    ChatKey(key): ChatKey,
    JsonBody(new): JsonBody<NewMessage>,
) -> Result<Json<Reply>, Problem> {
    let message = ChatMessage::accept(&server, &grant, key, new, ChatRoute::Send).await?;
    let reply = server
        .follow(&grant, move |server, context| {
            let reply = match deliver(server, context, &message) {
                Ok(delivery) => Reply::of(server, context, delivery),
                Err(error) => Reply::failed(error.message),
            };
            publish(server, context, &message.key);
            Ok(reply)
        })
        .await?;
    Ok(Json(reply))
}

/// Publishes a session whose chat went on. The front end shows its new messages then, and takes all fields from here.
fn publish(server: &Server, context: &Context, key: &Key) {
    let text = key.to_string();
    let row = crewhub_sessions(server, context, None)
        .ok()
        .and_then(|known| known.sessions.into_iter().find(|row| row["key"] == text));
    let thin = || json!({ "sessionKey": text, "source": model::SOURCE });
    server.hub.publish("session-updated", &row.unwrap_or_else(thin));
}

async fn stream(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    ChatKey(key): ChatKey,
    JsonBody(new): JsonBody<NewMessage>,
) -> Result<Response, Problem> {
    let message = ChatMessage::accept(&server, &grant, key, new, ChatRoute::Stream).await?;
    let place = server.follower(&grant)?;
    let streaming = server.clone();
    Ok(streamed(&server, grant, place, move |reader| {
        if !reader.send(frame("start", &json!({}))) {
            return;
        }
        let context = streaming.context();
        match deliver(&streaming, &context, &message) {
            Ok(Delivery::Delivered(turn)) => {
                frames::pass_on(&streaming, &context, &message.key, *turn, reader);
            }
            Ok(Delivery::Waiting(waiting)) => {
                frames::send_request(&streaming, &context, &message.key, &waiting, reader);
            }
            Err(error) => {
                reader.send(failure(&error));
            }
        }
        publish(&streaming, &context.refreshed(), &message.key);
    }))
}

async fn info(State(server): State<Shared>, PathParams(key): PathParams<Key>) -> Json<Info> {
    let agent_id = key.agent();
    let (agent_name, source) = match &key {
        Key::Session(id) => (format!("Claude Session {}", id.short()), model::SOURCE),
        Key::Agent(agent) => {
            let name = server.store.read(|stored| {
                stored.agents.iter().find(|known| known.id == agent.as_str()).map(|known| known.name.clone())
            });
            (name.unwrap_or_else(|| agent.to_string()), model::SOURCE)
        }
        Key::OpenClaw { agent, .. } => (agent.to_string(), "openclaw"),
    };
    Json(Info { can_chat: key.can_chat(), agent_id, agent_name, session_key: key.to_string(), source })
}

async fn kill(State(server): State<Shared>, ChatKey(key): ChatKey) -> Result<Json<Killed>, Problem> {
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
