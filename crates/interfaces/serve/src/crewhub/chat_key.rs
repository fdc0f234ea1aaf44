//! The keys of sessions that have a chat, as the routes of chats take them.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::crewhub::key::Key;
use crate::extract::PathParams;
use crate::problem::Problem;

/// What keys begin with.
const KINDS: [&str; 3] = ["claude", "cc", "agent"];

/// The key of a session that has a chat; any other is forbidden, as CrewHub's own server answers.
pub(super) struct ChatKey(pub(super) Key);

impl<S: Send + Sync> FromRequestParts<S> for ChatKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let PathParams(text): PathParams<String> = PathParams::from_request_parts(parts, state).await?;
        let none = || Problem::forbidden("there is no chat with this session");
        let kind = text.split_once(':').map(|(kind, _)| kind);
        if !kind.is_some_and(|kind| KINDS.contains(&kind)) {
            return Err(none());
        }
        let key: Key = text.parse()?;
        if key.can_chat() { Ok(Self(key)) } else { Err(none()) }
    }
}
