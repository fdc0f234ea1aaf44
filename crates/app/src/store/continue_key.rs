//! A session of OpenClaw's as the address of a message: the Claude session behind it is resumed, or a new one is begun
//! and its id kept in the store.

use model::AgentId;
use openclaw::{AgentStore, Entry, ResetOptions, SessionKey};
use serde::Serialize;

use super::place::StorePlace;
use super::{clock, failed, of_another, require_writable, store_of};
use crate::workers::deliver::{self, Answer};
use crate::workers::host::detach;
use crate::workers::run;
use crate::{Context, Error, Kind};

/// What became of a message to a session of OpenClaw's.
#[derive(Debug, Serialize)]
pub struct KeyAnswer {
    /// The installation and the agent whose store was changed.
    #[serde(flatten)]
    pub place: StorePlace,
    /// The key, spelled as the store has it.
    pub key: String,
    /// The new conversation, where the message or the time that had passed ended the one before.
    pub new_session_id: Option<String>,
    /// Who has the message; `None` where it only asked for a new conversation.
    #[serde(flatten)]
    pub sent: Option<Answer>,
}

/// What a message that only asks for a new conversation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareReset {
    /// It begins one.
    Resets,
    /// It is refused, where the answer has to name a worker.
    IsRefused,
}

/// Sends a message into a session of OpenClaw's, and keeps the id of the Claude session that answers.
///
/// `/new` and `/reset`, or the time that has passed, end the conversation first.
pub(crate) fn send(
    context: &Context,
    key: &SessionKey,
    agent: &AgentId,
    message: &str,
    bare: BareReset,
) -> Result<KeyAnswer, Error> {
    if let Some(own) = context.caller.agent().filter(|own| *own != agent) {
        return Err(of_another(key.given(), agent, own));
    }
    let store = store_of(context, Some(agent), Some(key))?;
    require_writable(&store, || format!("openclaw agent --session-key {} --message …", key.given()))?;
    let clock = clock(context);
    let is_trigger = store.is_reset_trigger(message);
    let message = if is_trigger { after_trigger(message) } else { message };
    if message.is_empty() && bare == BareReset::IsRefused {
        return Err(Error::new(Kind::Usage, format!("{key} begins a new conversation: say what to do")));
    }
    let known = store.load().store.get(key).map_err(failed)?;
    let is_old = |entry: &Entry| !store.freshness(key, entry, context.now, &context.zone()).is_fresh;
    let mut new_session_id = None;
    if known.as_ref().is_some_and(|entry| is_trigger || is_old(entry)) {
        let ended = store.reset(key, ResetOptions::default(), &clock).map_err(failed)?.value;
        new_session_id = ended.after.and_then(|after| after.session_id);
    }
    let entry = store.create(key, &Entry::default(), &clock).map_err(failed)?.value;
    let sent = if message.is_empty() {
        new_session_id = new_session_id.or(entry.session_id);
        None
    } else {
        let sent = deliver(context, &store, &entry, agent, message)?;
        store.set_claude_session(key, &sent.session_id, &clock).map_err(failed)?;
        Some(sent)
    };
    context.config().store_cache.forget(&store);
    let written = store.load().store.written(key).map_err(failed)?;
    Ok(KeyAnswer {
        place: StorePlace::of(&store),
        key: written.unwrap_or_else(|| key.to_string()),
        new_session_id,
        sent,
    })
}

/// To the session that is known, if it can be resumed, else to a new one.
fn deliver(
    context: &Context,
    store: &AgentStore,
    entry: &Entry,
    agent: &AgentId,
    message: &str,
) -> Result<Answer, Error> {
    if let Some(claude) = store.claude_session_of(entry) {
        match deliver::to_session(context, claude.as_str(), message, Some(agent)) {
            // Claude Code deletes transcripts after 30 days.
            Err(error) if error.kind == Kind::NotFound => {}
            sent => return sent,
        }
    }
    let how = run::TaskSession::Fresh;
    let task_spec = run::TaskSpec {
        task: message.to_owned(),
        session: how,
        agent: Some(agent.clone()),
        ..run::TaskSpec::default()
    };
    let ready = run::prepare(context, &task_spec)?;
    let sent = Answer { worker: ready.worker, session_id: ready.session_id.clone(), resumed: false };
    detach(context, ready.worker)?;
    Ok(sent)
}

/// What follows `/new`.
fn after_trigger(message: &str) -> &str {
    message.trim().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim())
}
