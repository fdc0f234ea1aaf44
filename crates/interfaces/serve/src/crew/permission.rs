//! Permissions: the buttons of a chat that allow or deny what the session's worker waits for.

use app::workers::{PermissionReply, PermissionRequest, RequestKind, WorkerState, answer};
use app::{Context, Error, Kind, workers};
use axum::Json;
use axum::extract::State;
use model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::crew::change::Done;
use crate::crew::key::Key;
use crate::extract::{At, Given};
use crate::operation::post;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// What the model reads where a person denied what it wanted.
const DENIED: &str = "The user denied this.";

/// The answer to a permission request.
#[derive(Debug, Deserialize, JsonSchema)]
struct Decision {
    action: Action,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// It may do what it asks for, this once.
    Approve,
    /// It may not.
    Deny,
}

pub(super) fn add(routes: &mut Routes) {
    let route =
        post("/api/chat/{key}/permission", "chat_permission", "Allows or denies what a session waits for");
    routes.add(route.body::<Decision>().answer::<Done>(), decide);
}

async fn decide(
    State(server): State<Shared>,
    At(key): At<Key>,
    Given(decision): Given<Decision>,
) -> Result<Json<Done>, Problem> {
    let session = key.session(&server.store);
    let session =
        session.ok_or_else(|| Problem::not_found(format!("{key} has no session of Claude Code")))?;
    server.ask(move |context| reply(context, &session, decision.action)).await?;
    Ok(Json(Done::new()))
}

fn reply(context: &Context, session: &SessionId, action: Action) -> Result<(), Error> {
    let worker = workers::find(context, session.as_str())?;
    let WorkerState::WaitingPermission { requests } = &worker.state else {
        return Err(Error::new(Kind::Held, format!("session {session} waits for no permission")));
    };
    // Questions are answered with words, in the chat.
    let wants_permission =
        |request: &&PermissionRequest| !matches!(request.kind(), RequestKind::Questions(_));
    let Some(request) = requests.iter().find(wants_permission) else {
        return Err(Error::new(Kind::Held, format!("session {session} waits for the answer to a question")));
    };
    let reply = match action {
        Action::Approve => PermissionReply::Allow { input: None, always: false },
        Action::Deny => PermissionReply::Deny { message: DENIED.to_owned(), interrupt: false },
    };
    let request = request.request.clone();
    answer::answer(context, &answer::Request { worker: worker.worker.to_string(), request, reply })
}
