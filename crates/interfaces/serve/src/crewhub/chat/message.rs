//! A message of a chat before it is delivered: whether the caller may send it, and what it is for.

use std::sync::Arc;
use std::time::Instant;

use app::workers::{PermissionMode, send};
use app::{Context, Kind};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::crewhub::cooldown::ChatRoute;
use crate::crewhub::key::Key;
use crate::crewhub::requests::WaitingSession;
use crate::problem::Problem;
use crate::security::{Grant, scopes};
use crate::state::{Server, Shared};

/// The longest message, in characters; what is longer is cut off.
const LONGEST: usize = 5000;

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NewMessage {
    /// Up to 5,000 characters.
    message: String,
    /// The room in which it is written.
    room_id: Option<String>,
}

/// A message that may be sent.
pub(super) struct ChatMessage {
    /// The session or the agent that it goes to.
    pub(super) key: Key,
    /// Its text.
    pub(super) text: String,
    /// The id of the room in which it is written.
    pub(super) room: Option<String>,
    /// What it was for when it came.
    pub(super) purpose: Purpose,
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be delivered.
    Message,
    /// To answer what the session's worker asks.
    Answer,
    /// Not to be delivered: the session's worker asks something else, which the sender is shown.
    WhileWaiting,
}

impl ChatMessage {
    /// The message that a request holds, unless it may not be sent, or not yet.
    pub(super) async fn accept(
        server: &Shared,
        grant: &Arc<Grant>,
        key: Key,
        new: NewMessage,
        route: ChatRoute,
    ) -> Result<Self, Problem> {
        let text: String = new.message.trim().chars().filter(|c| *c != '\0').take(LONGEST).collect();
        if text.is_empty() {
            return Err(Problem::usage("the message is empty"));
        }
        if matches!(key, Key::OpenClaw { .. }) {
            let detail = "OpenClaw is not connected: chat with its agents there";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Unavailable, detail));
        }
        let (grant, to, words) = (Arc::clone(grant), key.clone(), text.clone());
        let purpose =
            server.work(move |server, context| purpose(server, context, &grant, &to, &words)).await?;
        // An answer, and a message in whose place the sender is shown what is asked, need no pause.
        if purpose == Purpose::Message {
            server.cooldowns.begin(&key.to_string(), route, Instant::now())?;
        }
        Ok(Self { key, text, room: new.room_id, purpose })
    }
}

/// What a message is for. Refused where it goes to a worker that acts without asking, unless an administrator sends it or it
/// answers what is asked.
fn purpose(
    server: &Server,
    context: &Context,
    grant: &Grant,
    key: &Key,
    text: &str,
) -> Result<Purpose, Problem> {
    let session = key.session(&server.store);
    let waiting = session.as_ref().and_then(|session| WaitingSession::find(context, session));
    let purpose = match waiting {
        Some(waiting) if waiting.answered_by(&server.shown, text).is_some() => return Ok(Purpose::Answer),
        Some(_) => Purpose::WhileWaiting,
        None => Purpose::Message,
    };
    // A living worker has the mode that it was started with, a new one that of its agent.
    let of_session =
        session.map(|session| send::acts_without_asking(context, session.as_str())).transpose()?;
    let of_agent = match key {
        Key::Agent(agent) => server.store.read(|stored| {
            let known = stored.agents.iter().find(|known| known.id == agent.as_str());
            known.and_then(|known| PermissionMode::from_name(&known.permission_mode))
        }),
        _ => None,
    };
    let acts_unasked = of_session == Some(true) || of_agent.is_some_and(PermissionMode::acts_without_asking);
    scopes::check_unasked(grant, acts_unasked, "a worker").map(|()| purpose)
}
