//! `send`: a message goes to the worker of a session, or to a new one that resumes it.

use model::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::WorkerId;

use crate::store::continue_key;
use crate::workers::control::tell;
use crate::workers::host::detach;
use crate::workers::run;
use crate::workers::table::{lookup, open_recovered};
use crate::{Context, Error};

/// A message, and to whom it goes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SendRequest")]
pub struct Request {
    /// The worker's number, a session's id or the beginning of it, or the key of a session of OpenClaw's.
    pub to: String,
    /// The message.
    pub message: String,
}

/// What became of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "SendAnswer")]
pub struct Answer {
    /// The worker that has it.
    pub worker: WorkerId,
    /// Its session.
    pub session_id: SessionId,
    /// Whether the session was resumed for it.
    pub resumed: bool,
}

/// Sends a message to a living worker of the session; where there is none, the session is resumed for it by a
/// worker that outlives this process.
///
/// The key of a session of OpenClaw's stands for the Claude session behind it; where there is none, one is begun.
pub fn send(context: &Context, request: &Request) -> Result<Answer, Error> {
    match continue_key::as_key(&request.to) {
        Some((key, agent)) => continue_key::send(context, &key, &agent, &request.message),
        None => to_session(context, request, None),
    }
}

/// Sends a message to a session of Claude's, for an agent where nobody else has worked in it yet.
pub(crate) fn to_session(
    context: &Context,
    request: &Request,
    for_agent: Option<&AgentId>,
) -> Result<Answer, Error> {
    let (text, message) = (request.to.as_str(), request.message.as_str());
    let table = open_recovered(context)?;
    let worker = lookup(context, &table, text)?;
    if let Some(worker) =
        worker.as_ref().filter(|worker| worker.slot_state.is_some() && worker.host.is_alive())
    {
        tell(context, worker, &run::message(message))?;
        return Ok(Answer { worker: worker.id, session_id: worker.session.clone(), resumed: false });
    }
    drop(table);
    let session = worker.as_ref().map_or_else(|| text.to_owned(), |worker| worker.session.to_string());
    // It goes on as it was, for whom it was.
    let (agent, options) = worker.map(|worker| (worker.agent, worker.spec.options)).unwrap_or_default();
    let agent = agent.or_else(|| for_agent.cloned());
    let how = run::TaskSession::Resume(session);
    let order = run::Order { task: message.to_owned(), how, agent, options, ..run::Order::default() };
    let ready = run::prepare(context, &order)?;
    let sent = Answer { worker: ready.worker, session_id: ready.session_id.clone(), resumed: true };
    detach(context, ready.worker)?;
    Ok(sent)
}
