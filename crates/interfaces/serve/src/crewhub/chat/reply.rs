//! What a message of a chat led to, as one answer.

use app::Context;
use app::workers::{Event, PermissionRequest, TurnResult, WorkerState};
use model::SessionId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::chat::follow::POLL_INTERVAL;
use crate::chat::turn::Turn;
use crate::crewhub::chat::delivery::Delivery;
use crate::crewhub::requests::{APPROVE, DENY, in_words};
use crate::state::Server;

/// What a message led to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reply {
    response: Option<String>,
    tokens: u64,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Reply {
    fn succeeded(response: String) -> Self {
        Self { response: Some(response), tokens: 0, success: true, error: None }
    }

    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self { response: None, tokens: 0, success: false, error: Some(error.into()) }
    }

    /// The reply to a message that was delivered, or was not because the worker waits for an answer.
    pub(super) fn of(server: &Server, context: &Context, delivery: Delivery) -> Self {
        match delivery {
            Delivery::Delivered(turn) => at_end_of(server, context, *turn),
            Delivery::Waiting(waiting) => waiting.asked(&server.shown).map_or_else(
                || Self::failed("what was asked is answered already"),
                |request| asked(server, context, (&waiting.session, waiting.worker), request),
            ),
        }
    }
}

/// The reply at the end of a turn, or when an answer is needed to go on.
fn at_end_of(server: &Server, context: &Context, mut turn: Turn) -> Reply {
    let mut texts = Vec::new();
    while !context.cancellation.is_cancelled() {
        match turn.next_within(POLL_INTERVAL) {
            Ok(Some(Event::Text { text, agent: None, .. })) => texts.push(text),
            Ok(Some(Event::Asked(request))) => {
                return asked(server, context, (&turn.session, turn.worker), &request);
            }
            Ok(Some(Event::Result(result))) if result.is_error => return Reply::failed(complaint(&result)),
            Ok(Some(Event::Result(_))) => return Reply::succeeded(texts.join("\n\n")),
            Ok(Some(Event::Ended { state })) => {
                return Reply::failed(ended(&state));
            }
            Ok(_) => {}
            Err(_) => return Reply::failed("the worker cannot be followed any more"),
        }
    }
    Reply::failed("the client disconnected")
}

/// The reply that shows what is asked, whole, because the next message may allow it.
fn asked(
    server: &Server,
    context: &Context,
    (session, worker): (&SessionId, i64),
    request: &PermissionRequest,
) -> Reply {
    server.shown.note(session, request);
    let (asked, next) = match &server.shown.open_questions(session, request)[..] {
        [] => (in_words(context, request), format!("send `{APPROVE}` or `{DENY}`")),
        [question, ..] => (question.question.clone(), "send the answer".to_owned()),
    };
    Reply::failed(format!("worker {worker} waits for an answer to {asked}\n{next}"))
}

/// How a worker ended that was to go on.
pub(super) fn ended(state: &WorkerState) -> String {
    match state {
        WorkerState::Failed { message, .. } => format!("the worker failed: {message}"),
        other => format!("the worker ended: {}", other.as_str()),
    }
}

/// Why a turn failed.
pub(super) fn complaint(result: &TurnResult) -> String {
    let errors =
        result.errors.iter().map(String::as_str).chain([result.text.as_str(), result.subtype.as_str()]);
    errors.into_iter().find(|text| !text.is_empty()).unwrap_or("the turn failed").to_owned()
}
