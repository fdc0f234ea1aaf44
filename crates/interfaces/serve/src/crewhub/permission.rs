//! Permissions: the buttons of a chat that allow or deny what the session's worker waits for.

use app::workers::{PermissionReply, PermissionRequest, RequestKind, answer};
use app::{Context, Error, Kind};
use axum::Json;
use axum::extract::State;
use model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::crewhub::change::Done;
use crate::crewhub::chat_key::ChatKey;
use crate::crewhub::requests::{DENIED, WaitingSession};
use crate::crewhub::shown_requests::ShownRequests;
use crate::extract::JsonBody;
use crate::operation::post;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

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
    ChatKey(key): ChatKey,
    JsonBody(decision): JsonBody<Decision>,
) -> Result<Json<Done>, Problem> {
    let session = key.session(&server.store);
    let session =
        session.ok_or_else(|| Problem::not_found(format!("{key} has no session of Claude Code")))?;
    server.work(move |server, context| Ok(reply(context, &server.shown, &session, decision.action)?)).await?;
    Ok(Json(Done::new()))
}

fn reply(context: &Context, shown: &ShownRequests, session: &SessionId, action: Action) -> Result<(), Error> {
    let Some(waiting) = WaitingSession::find(context, session) else {
        return Err(Error::new(Kind::Held, format!("session {session} waits for no permission")));
    };
    let request = meant(&waiting.requests, shown.of(&waiting.session).as_deref())
        .map_err(|why| Error::new(Kind::Held, format!("session {session} {why}")))?;
    let reply = match action {
        Action::Approve => PermissionReply::Allow { input: None, grant: None },
        Action::Deny => PermissionReply::Deny { message: DENIED.to_owned(), interrupt: false },
    };
    let request = request.request.clone();
    let worker = waiting.worker.to_string();
    answer::answer(context, &answer::Request { worker, request: request.clone(), reply })?;
    shown.forget(&waiting.session, &request);
    Ok(())
}

/// The permission that a button is about: the one that was shown last, or the only one where none was shown yet. Questions
/// are answered with words, in the chat.
fn meant<'a>(
    requests: &'a [PermissionRequest],
    shown: Option<&str>,
) -> Result<&'a PermissionRequest, &'static str> {
    let is_permission = |request: &&PermissionRequest| !matches!(request.kind(), RequestKind::Questions(_));
    let permissions: Vec<&PermissionRequest> = requests.iter().filter(is_permission).collect();
    if permissions.is_empty() {
        return Err("waits for the answer to a question: write it in the chat");
    }
    match (shown, &permissions[..]) {
        (None, [request]) => Ok(request),
        (None, _) => Err("waits for several permissions: write anything in the chat to be shown one of them"),
        (Some(shown), _) => permissions
            .into_iter()
            .find(|request| request.request == shown)
            .ok_or("waits for another permission now: write anything in the chat to be shown it"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::crewhub::requests::tests::request;

    #[test]
    fn a_button_answers_what_was_shown_beside_it() {
        let permission = |id: &str| request(id, "Bash", json!({ "command": "make" }));
        let question = || {
            request("q", "AskUserQuestion", json!({ "questions": [{ "question": "Which?", "options": [] }] }))
        };
        let check = |requests: &[PermissionRequest], shown: Option<&str>, expected: Option<&str>| {
            let found = meant(requests, shown).ok().map(|request| request.request.as_str());
            assert_eq!(found, expected, "{shown:?}");
        };
        let two = [permission("1"), permission("2")];
        check(&two, Some("2"), Some("2"));
        check(&two, Some("1"), Some("1"));
        check(&two, None, None);
        check(&two, Some("answered"), None);
        check(&two[..1], None, Some("1"));
        check(&two[..1], Some("answered"), None);
        check(&[question(), permission("1")], Some("q"), None);
        check(&[question()], Some("q"), None);
        assert!(meant(&two, None).is_err_and(|why| why.contains("several permissions")));
        assert!(meant(&[question()], None).is_err_and(|why| why.contains("a question")));
    }
}
