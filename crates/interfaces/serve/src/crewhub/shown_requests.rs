//! What the chats of CrewHub's front end show of the requests that workers wait with, and the answers given so far.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::workers::{PermissionRequest, RequestKind, UserQuestion};
use model::SessionId;

/// How many sessions' questions are remembered.
const MOST: usize = 1000;

/// The request that was asked last in the chat of each session: the words of a button allow nothing that was not shown
/// beside it.
#[derive(Debug, Default)]
pub(crate) struct ShownRequests(Mutex<HashMap<SessionId, Shown>>);

#[derive(Debug, Clone)]
struct Shown {
    request: String,
    /// The answers so far, by question: a click answers one, so a request's questions are asked one after the other.
    answers: BTreeMap<String, String>,
}

impl ShownRequests {
    /// Notes that a request is shown.
    pub(super) fn note(&self, session: &SessionId, request: &PermissionRequest) {
        if self.of(session).as_deref() != Some(&request.request) {
            self.set(session, &request.request, BTreeMap::new());
        }
    }

    /// Notes answers to some of a request's questions.
    pub(super) fn note_answers(&self, session: &SessionId, request: &str, answers: BTreeMap<String, String>) {
        self.set(session, request, answers);
    }

    fn set(&self, session: &SessionId, request: &str, answers: BTreeMap<String, String>) {
        let mut shown = self.shown();
        if shown.len() >= MOST {
            shown.clear();
        }
        shown.insert(session.clone(), Shown { request: request.to_owned(), answers });
    }

    /// Forgets that a request was shown, because it is answered.
    pub(super) fn forget(&self, session: &SessionId, request: &str) {
        let mut shown = self.shown();
        if shown.get(session).is_some_and(|known| known.request == request) {
            shown.remove(session);
        }
    }

    /// The id of the request that was shown last and was not answered here.
    pub(super) fn of(&self, session: &SessionId) -> Option<String> {
        self.shown().get(session).map(|known| known.request.clone())
    }

    /// The answers so far to a request's questions.
    pub(super) fn answers(&self, session: &SessionId, request: &str) -> BTreeMap<String, String> {
        let shown = self.shown();
        let known = shown.get(session).filter(|known| known.request == request);
        known.map(|known| known.answers.clone()).unwrap_or_default()
    }

    /// The questions of a request that are not answered yet; none where it asks for a permission.
    pub(super) fn open_questions(
        &self,
        session: &SessionId,
        request: &PermissionRequest,
    ) -> Vec<UserQuestion> {
        let RequestKind::Questions(questions) = request.kind() else { return Vec::new() };
        unanswered(&questions, &self.answers(session, &request.request)).cloned().collect()
    }

    fn shown(&self) -> MutexGuard<'_, HashMap<SessionId, Shown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The questions without an answer.
pub(super) fn unanswered<'a>(
    questions: &'a [UserQuestion],
    answers: &BTreeMap<String, String>,
) -> impl Iterator<Item = &'a UserQuestion> {
    questions.iter().filter(|question| !answers.contains_key(&question.question))
}
