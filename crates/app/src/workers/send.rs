//! `send`: a message goes to the worker of a session, or to a new one that resumes it.

use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::WorkerId;

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
    /// The worker's number, or a session's id or the beginning of it.
    pub to: String,
    /// The text to send.
    pub message: String,
}

/// What became of a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "SendAnswer")]
pub struct Answer {
    /// The worker that has it.
    pub worker: WorkerId,
    /// The id of the session that received it.
    pub session_id: SessionId,
    /// Whether the session was resumed for it.
    pub resumed: bool,
}

/// Sends a message to a living worker of the session; where there is none, the session is resumed for it by a
/// worker that outlives this process.
pub fn send(context: &Context, request: &Request) -> Result<Answer, Error> {
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
    // It continues with its own options, for its own agent.
    let (agent, options) = worker.map(|worker| (worker.agent, worker.spec.options)).unwrap_or_default();
    let how = run::TaskSession::Resume(session);
    let order = run::Order { task: message.to_owned(), how, agent, options, ..run::Order::default() };
    let ready = run::prepare(context, &order)?;
    let sent = Answer { worker: ready.worker, session_id: ready.session_id.clone(), resumed: true };
    detach(context, ready.worker)?;
    Ok(sent)
}
