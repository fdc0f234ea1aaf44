//! A session of OpenClaw's as the address of a message: the Claude session behind it is resumed, or a new one is begun
//! and its id kept in the store.

use model::AgentId;
use openclaw::{AgentStore, Entry, ResetOptions, SessionKey};

use super::{clock, failed, of_another, store_of};
use crate::workers::deliver::{self, Answer};
use crate::workers::host::detach;
use crate::workers::run;
use crate::{Context, Error, Kind};

/// Sends a message into a session of OpenClaw's, and keeps the id of the Claude session that answers.
///
/// `/new` and `/reset`, or the time that has passed, end the conversation first.
pub(crate) fn send(
    context: &Context,
    key: &SessionKey,
    agent: &AgentId,
    message: &str,
) -> Result<Answer, Error> {
    if let Some(own) = context.caller.agent().filter(|own| *own != agent) {
        return Err(of_another(key.as_str(), agent, own));
    }
    let store = store_of(context, Some(agent), Some(key))?;
    let clock = clock(context);
    let known = store.load().store.get(key).map_err(failed)?;
    let is_trigger = store.is_reset_trigger(message);
    let is_old = |entry: &Entry| !store.freshness(key, entry, context.now, &context.zone()).is_fresh;
    if known.as_ref().is_some_and(|entry| is_trigger || is_old(entry)) {
        store.reset(key, ResetOptions::default(), &clock).map_err(failed)?;
    }
    let message = if is_trigger { after_trigger(message) } else { message };
    if message.is_empty() {
        return Err(Error::new(Kind::Usage, format!("{key} begins a new conversation: say what to do")));
    }
    let entry = store.create(key, &Entry::default(), &clock).map_err(failed)?.value;
    let sent = deliver(context, &store, &entry, agent, message)?;
    store.set_claude_session(key, &sent.session_id, &clock).map_err(failed)?;
    context.config().store_cache.forget(&store);
    Ok(sent)
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
