//! The requests over HTTP in progress: within a session an id identifies one request at a time, since otherwise their answers
//! could not be distinguished.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::HeaderValue;
use axum::response::Response;
use futures_util::StreamExt as _;
use rmcp::model::RequestId;

/// The requests of all sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<HashSet<Key>>>);

/// A session and the id of a request in it.
type Key = (HeaderValue, RequestId);

/// A request in progress; its id is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    key: Key,
    all: OpenRequests,
}

impl OpenRequests {
    /// Reserves the id of a request; `None` where another request of the session has it.
    pub(crate) fn take(&self, session: HeaderValue, id: RequestId) -> Option<OpenRequest> {
        let key = (session, id);
        self.keys().insert(key.clone()).then(|| OpenRequest { key, all: self.clone() })
    }

    /// Whether a request of the session is in progress.
    pub(crate) fn has_one_in(&self, session: &str) -> bool {
        self.keys().iter().any(|(known, _)| known.as_bytes() == session.as_bytes())
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRequest {
    /// The response, at whose end the id is free again.
    pub(crate) fn answered_by(self, response: Response) -> Response {
        response.map(|body| {
            let pieces = body.into_data_stream().inspect(move |_| {
                let _until_its_end = &self;
            });
            Body::from_stream(pieces)
        })
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.all.keys().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_until_the_answer_ends() {
        let (open, one) = (OpenRequests::default(), HeaderValue::from_static("one"));
        let take = |session: &HeaderValue| open.take(session.clone(), RequestId::Number(7));
        let first = take(&one).expect("the first one");
        assert!(take(&one).is_none());
        assert!(take(&HeaderValue::from_static("two")).is_some(), "another session has ids of its own");
        let answer = first.answered_by(Response::new(Body::from("{}")));
        assert!(take(&one).is_none(), "it is not read yet");
        assert_eq!((open.has_one_in("one"), open.has_one_in("three")), (true, false));
        drop(answer);
        assert!(take(&one).is_some());
    }
}
