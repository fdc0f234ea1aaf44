//! What a session's worker asks, and the words of a chat that answer it. CrewHub's front end has buttons for a permission in
//! the chats of fixed agents alone; in any other chat it is asked as a question, which has buttons everywhere.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use app::workers::{PermissionReply, PermissionRequest, RequestKind, WorkerState, answer};
use app::{Context, Error, workers};
use model::SessionId;
use serde_json::{Value, json};

/// What the model reads where a person denied what it wanted.
pub(super) const DENIED: &str = "The user denied this.";
/// The words that answer a permission.
pub(super) const APPROVE: &str = "Approve";
pub(super) const DENY: &str = "Deny";

/// How many sessions' questions are remembered.
const MOST: usize = 1000;

/// The permission that was asked last in the chat of each session: the words of a button allow nothing that was not shown
/// beside it.
#[derive(Debug, Default)]
pub(crate) struct ShownRequests(Mutex<HashMap<SessionId, String>>);

impl ShownRequests {
    /// Notes that a request is shown.
    pub(super) fn note(&self, session: &SessionId, request: &PermissionRequest) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() >= MOST {
            shown.clear();
        }
        shown.insert(session.clone(), request.request.clone());
    }

    /// Forgets that a request was shown, because it is answered.
    pub(super) fn forget(&self, session: &SessionId, request: &str) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.get(session).is_some_and(|known| known == request) {
            shown.remove(session);
        }
    }

    /// The id of the request that was shown last and was not answered here.
    pub(super) fn of(&self, session: &SessionId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }
}

/// A session whose worker waits for an answer.
pub(super) struct WaitingSession {
    /// The session.
    pub(super) session: SessionId,
    /// Its worker.
    pub(super) worker: i64,
    /// What the worker asks.
    pub(super) requests: Vec<PermissionRequest>,
}

impl WaitingSession {
    /// The session, where its worker waits.
    pub(super) fn find(context: &Context, session: &SessionId) -> Option<Self> {
        let worker = workers::find(context, session.as_str()).ok()?;
        let WorkerState::WaitingPermission { requests } = worker.state else { return None };
        Some(Self { session: worker.session_id, worker: worker.worker, requests })
    }

    /// What the words answer: all open questions of a request, or the permission that was shown if they are a button's;
    /// `None` where they are a message like any other.
    pub(super) fn answered_by(&self, shown: &ShownRequests, words: &str) -> Option<TextAnswer> {
        let (request, reply) = replied(&self.requests, shown.of(&self.session).as_deref(), words)?;
        Some(TextAnswer { worker: self.worker, request: request.request.clone(), reply })
    }
}

/// A message that answers what a worker asks.
pub(super) struct TextAnswer {
    /// The worker that asks.
    pub(super) worker: i64,
    /// The request that is answered.
    pub(super) request: String,
    reply: PermissionReply,
}

impl TextAnswer {
    /// Gives the answer.
    pub(super) fn give(self, context: &Context) -> Result<(), Error> {
        let Self { worker, request, reply } = self;
        answer::answer(context, &answer::Request { worker: worker.to_string(), request, reply })
    }
}

/// The request that the words answer; questions come first, because any words answer them.
fn replied<'a>(
    requests: &'a [PermissionRequest],
    shown: Option<&str>,
    words: &str,
) -> Option<(&'a PermissionRequest, PermissionReply)> {
    for request in requests {
        if let RequestKind::Questions(questions) = request.kind() {
            let answers = questions.into_iter().map(|question| (question.question, words.to_owned()));
            return Some((request, PermissionReply::Answers { answers: answers.collect() }));
        }
    }
    let reply = match words {
        APPROVE => PermissionReply::Allow { input: None, always: false },
        DENY => PermissionReply::Deny { message: DENIED.to_owned(), interrupt: false },
        _ => return None,
    };
    requests.iter().find(|request| Some(request.request.as_str()) == shown).map(|request| (request, reply))
}

/// What is asked, in words: the tool with the whole command, file or question.
pub(super) fn in_words(context: &Context, request: &PermissionRequest) -> String {
    let asking = request.asking().or_else(|| request.detail());
    let asking = asking.map(|asking| context.secrets.redacted(asking.into()));
    asking.map_or_else(|| request.tool.clone(), |asking| format!("{}: {asking}", request.tool))
}

/// A permission as a question whose options are its answers.
pub(super) fn as_question(context: &Context, request: &PermissionRequest) -> Value {
    json!([{
        "question": in_words(context, request),
        "header": "Permission",
        "multiSelect": false,
        "options": [
            { "label": APPROVE, "description": "It may do this, once" },
            { "label": DENY, "description": "It may not do this" },
        ],
    }])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::crewhub) fn request(id: &str, tool: &str, input: Value) -> PermissionRequest {
        PermissionRequest {
            request: id.to_owned(),
            tool: tool.to_owned(),
            input,
            description: None,
            reason: None,
            suggestions: Vec::new(),
            tool_use_id: None,
            agent: None,
        }
    }

    #[test]
    fn words_answer_a_question_and_a_buttons_words_the_permission_beside_it() {
        let permission = || request("1", "Bash", json!({ "command": "make" }));
        let question = || {
            request("2", "AskUserQuestion", json!({ "questions": [{ "question": "Which?", "options": [] }] }))
        };
        let check = |requests: &[PermissionRequest], words: &str, expected: Option<(&str, &str)>| {
            let found = replied(requests, Some("1"), words).map(|(request, reply)| {
                let kind = match reply {
                    PermissionReply::Allow { always: false, .. } => "allow",
                    PermissionReply::Deny { .. } => "deny",
                    PermissionReply::Answers { .. } => "answers",
                    PermissionReply::Allow { .. } => "always",
                };
                (request.request.as_str(), kind)
            });
            assert_eq!(found, expected, "{words}");
        };
        check(&[permission()], "Approve", Some(("1", "allow")));
        check(&[permission()], "Deny", Some(("1", "deny")));
        check(&[permission()], "approve of it", None);
        check(&[permission(), question()], "Approve", Some(("2", "answers")));
        check(&[], "Approve", None);
        check(
            &[request("3", "Bash", json!({ "command": "rm -rf build" })), permission()],
            "Approve",
            Some(("1", "allow")),
        );
        check(&[request("3", "Bash", json!({ "command": "rm -rf build" }))], "Approve", None);
        assert!(replied(&[permission()], None, "Approve").is_none());
    }
}
