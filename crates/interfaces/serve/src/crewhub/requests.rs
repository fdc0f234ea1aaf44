//! What a session's worker asks, and the words of a chat that answer it. CrewHub's front end has buttons for a permission in
//! the chats of fixed agents alone; in any other chat it is asked as a question, which has buttons everywhere.

use std::collections::BTreeMap;

use app::workers::{PermissionReply, PermissionRequest, RequestKind, UserQuestion, WorkerState};
use app::{Context, workers};
use model::SessionId;
use serde_json::{Value, json};

use crate::crewhub::shown_requests::{ShownRequests, unanswered};

/// What the model reads where a person denied what it wanted.
pub(super) const DENIED: &str = "The user denied this.";
/// The words that answer a permission.
pub(super) const APPROVE: &str = "Approve";
pub(super) const DENY: &str = "Deny";

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

    /// The request that the next message answers: the one that was shown last, else one with questions, because any words
    /// answer them.
    pub(super) fn asked(&self, shown: &ShownRequests) -> Option<&PermissionRequest> {
        let last = shown.of(&self.session);
        let is_last = |request: &&PermissionRequest| Some(&request.request) == last.as_ref();
        let asks = |request: &&PermissionRequest| matches!(request.kind(), RequestKind::Questions(_));
        let requests = || self.requests.iter();
        requests().find(is_last).or_else(|| requests().find(asks)).or_else(|| requests().next())
    }

    /// What the words answer: the question that is asked, or the permission that was shown if they are a button's; `None`
    /// where they are a message like any other.
    pub(super) fn answered_by(&self, shown: &ShownRequests, words: &str) -> Option<TextAnswer> {
        let asked = self.asked(shown)?;
        match asked.kind() {
            RequestKind::Questions(questions) => self.with_answer(shown, asked, &questions, words),
            RequestKind::Permission | RequestKind::Plan(_) => {
                let was_shown = shown.of(&self.session).is_some_and(|last| last == asked.request);
                decision(words).filter(|_| was_shown).map(|reply| self.whole(asked, reply))
            }
        }
    }

    fn with_answer(
        &self,
        shown: &ShownRequests,
        asked: &PermissionRequest,
        questions: &[UserQuestion],
        words: &str,
    ) -> Option<TextAnswer> {
        let mut answers = shown.answers(&self.session, &asked.request);
        let question = unanswered(questions, &answers).next()?.question.clone();
        answers.insert(question, words.to_owned());
        Some(if unanswered(questions, &answers).next().is_none() {
            self.whole(asked, PermissionReply::Answers { answers })
        } else {
            TextAnswer::Part { request: asked.request.clone(), answers }
        })
    }

    fn whole(&self, asked: &PermissionRequest, reply: PermissionReply) -> TextAnswer {
        TextAnswer::Whole(RequestAnswer { worker: self.worker, request: asked.request.clone(), reply })
    }
}

/// A message that answers what a worker asks.
#[derive(Debug, PartialEq)]
pub(super) enum TextAnswer {
    /// All of a request.
    Whole(RequestAnswer),
    /// One of a request's questions; others follow.
    Part {
        /// The request.
        request: String,
        /// The answers so far.
        answers: BTreeMap<String, String>,
    },
}

/// The answer to a request.
#[derive(Debug, PartialEq)]
pub(super) struct RequestAnswer {
    /// The worker that asks.
    pub(super) worker: i64,
    /// The request.
    pub(super) request: String,
    /// The answer.
    pub(super) reply: PermissionReply,
}

/// What the words of a button decide.
fn decision(words: &str) -> Option<PermissionReply> {
    match words {
        APPROVE => Some(PermissionReply::Allow { input: None, grant: None }),
        DENY => Some(PermissionReply::Deny { message: DENIED.to_owned(), interrupt: false }),
        _ => None,
    }
}

/// What is asked, in words: the tool with its whole input, or the question.
pub(super) fn in_words(context: &Context, request: &PermissionRequest) -> String {
    let asking = match request.kind() {
        RequestKind::Questions(_) | RequestKind::Plan(_) => request.asking().or_else(|| request.detail()),
        RequestKind::Permission => Some(request.input_text()).filter(|text| !text.is_empty()),
    };
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
            offers: Vec::new(),
            not_offered: Vec::new(),
            tool_use_id: None,
            agent: None,
        }
    }

    fn waiting(requests: Vec<PermissionRequest>) -> WaitingSession {
        let session = "6f0e1a52-9b1c-4c58-8a3c-0d1f2b3c4d5e".parse().unwrap();
        WaitingSession { session, worker: 4, requests }
    }

    fn questions(id: &str, texts: &[&str]) -> PermissionRequest {
        let asked = texts.iter().map(|text| json!({ "question": text, "options": [] }));
        request(id, "AskUserQuestion", json!({ "questions": asked.collect::<Vec<_>>() }))
    }

    #[test]
    fn words_answer_a_question_and_a_buttons_words_the_permission_beside_it() {
        let permission = || request("1", "Bash", json!({ "command": "make" }));
        let other = || request("3", "Bash", json!({ "command": "rm -rf build" }));
        let check = |requests: Vec<PermissionRequest>, words: &str, expected: Option<(&str, &str)>| {
            let (shown, waiting) = (ShownRequests::default(), waiting(requests));
            shown.note(&waiting.session, &permission());
            let found = waiting.answered_by(&shown, words).map(|answer| {
                let TextAnswer::Whole(RequestAnswer { request, reply, .. }) = answer else {
                    panic!("{answer:?}")
                };
                let kind = match reply {
                    PermissionReply::Allow { grant: None, .. } => "allow",
                    PermissionReply::Deny { .. } => "deny",
                    PermissionReply::Answers { .. } => "answers",
                    PermissionReply::Allow { .. } => "always",
                };
                (request, kind)
            });
            assert_eq!(found.as_ref().map(|(request, kind)| (request.as_str(), *kind)), expected, "{words}");
        };
        check(vec![permission()], "Approve", Some(("1", "allow")));
        check(vec![permission()], "Deny", Some(("1", "deny")));
        check(vec![permission()], "approve of it", None);
        check(vec![questions("2", &["Which?"]), permission()], "Approve", Some(("1", "allow")));
        check(vec![questions("2", &["Which?"]), permission()], "Blue", None);
        check(vec![other(), questions("2", &["Which?"])], "Blue", Some(("2", "answers")));
        check(vec![], "Approve", None);
        check(vec![other(), permission()], "Approve", Some(("1", "allow")));
        check(vec![other()], "Approve", None);
        assert!(waiting(vec![permission()]).answered_by(&ShownRequests::default(), "Approve").is_none());
    }

    #[test]
    fn the_questions_of_a_request_are_answered_one_after_the_other() {
        let asked = questions("2", &["Which?", "How many?"]);
        let (shown, waiting) = (ShownRequests::default(), waiting(vec![asked.clone()]));
        shown.note(&waiting.session, &asked);
        let Some(TextAnswer::Part { request, answers }) = waiting.answered_by(&shown, "Blue") else {
            panic!()
        };
        shown.note_answers(&waiting.session, &request, answers);
        // It is shown once more, with the next question.
        shown.note(&waiting.session, &asked);
        assert_eq!(shown.open_questions(&waiting.session, &asked)[0].question, "How many?");

        let answers =
            [("Which?".to_owned(), "Blue".to_owned()), ("How many?".to_owned(), "Three".to_owned())];
        let reply = PermissionReply::Answers { answers: answers.into() };
        let whole = TextAnswer::Whole(RequestAnswer { worker: 4, request, reply });
        assert_eq!(waiting.answered_by(&shown, "Three"), Some(whole));
    }
}
