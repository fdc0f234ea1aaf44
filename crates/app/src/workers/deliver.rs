//! Delivers a message to a session of Claude's: to its living worker, or to a new one that resumes it.

use model::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use workers::WorkerId;

use crate::workers::control::tell;
use crate::workers::host::detach;
use crate::workers::run;
use crate::workers::table::{lookup, open_recovered};
use crate::{Context, Error};

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

/// Sends a message to a session of Claude's, for an agent where nobody else has worked in it yet.
pub(crate) fn to_session(
    context: &Context,
    text: &str,
    message: &str,
    for_agent: Option<&AgentId>,
) -> Result<Answer, Error> {
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
    let agent = agent.or_else(|| for_agent.cloned());
    let how = run::TaskSession::Resume(session);
    let order = run::Order { task: message.to_owned(), how, agent, options, ..run::Order::default() };
    let ready = run::prepare(context, &order)?;
    let sent = Answer { worker: ready.worker, session_id: ready.session_id.clone(), resumed: true };
    detach(context, ready.worker)?;
    Ok(sent)
}
