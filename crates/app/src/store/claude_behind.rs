//! The Claude session behind a session of OpenClaw's, which is named by its key or as `openclaw:<agent>/<session>`.

use model::{AgentId, SessionId};
use openclaw::{Entry, Generation, SessionKey};

use super::sessions::{StoredSession, each_entry, found};
use super::store_of;
use crate::sessions::openclaw_conversation::{PREFIX, of_agent};
use crate::{Context, Error, Kind};

/// The key of a session, where a text is one that names its agent.
pub(crate) fn as_key(text: &str) -> Option<(SessionKey, AgentId)> {
    let key: SessionKey = text.parse().ok()?;
    let agent = key.agent()?;
    Some((key, agent))
}

/// The Claude session that a text refers to; `None` if it names no OpenClaw session. Another agent's is refused
/// to an agent, with its owner's name.
pub(crate) fn claude_behind(context: &Context, text: &str) -> Result<Option<SessionId>, Error> {
    let (store, entry) = if let Some(rest) = text.strip_prefix(PREFIX) {
        let (agent, session) = of_agent(context, rest)?;
        let store = store_of(context, Some(&agent), None)?;
        let id = |entry: &Entry| entry.session().map(|id| id.to_string()).unwrap_or_default();
        let mut named: Vec<Entry> = Vec::new();
        each_entry(context, &store, &mut |StoredSession { entry, .. }| {
            named.extend(Some(entry).filter(|entry| !session.is_empty() && id(entry).starts_with(&session)));
        })?;
        if named.iter().any(|entry| id(entry) == session) {
            named.retain(|entry| id(entry) == session);
        }
        if let [first, second, ..] = &named[..]
            && id(first) != id(second)
        {
            let message = format!("several conversations start with `{text}`; give more of the id");
            return Err(Error::new(Kind::Ambiguous, message));
        }
        (store, named.into_iter().next().ok_or_else(|| nothing(text))?)
    } else if let Some((key, agent)) = as_key(text) {
        let store = store_of(context, Some(&agent), Some(&key))?;
        let entry = found(context, &store, &key)?.entry;
        (store, entry)
    } else {
        return Ok(None);
    };
    store.claude_session_of(&entry).map(Some).ok_or_else(|| {
        let error = nothing(text);
        match store.generation() {
            Generation::File => error.hint("a message to the key of a conversation begins one"),
            // There `send` is refused.
            Generation::Database => error,
        }
    })
}

fn nothing(text: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no Claude session behind `{text}`"))
}
