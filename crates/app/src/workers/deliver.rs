//! Delivers a message to a Claude session: to its living worker, or to a new one that resumes it.

use model::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use workers::{WorkerId, WorkerState};

use crate::workers::control::send_command;
use crate::workers::host::detach;
use crate::workers::run;
use crate::workers::table::{lookup, open_recovered};
use crate::{Context, Error, NextStep};

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

/// Sends a message to a Claude session, for an agent if nobody else has worked in it yet.
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
        let is_asking = matches!(worker.state, WorkerState::WaitingPermission { .. });
        let sent = send_command(context, worker, &run::message(message)?.1);
        sent.map_err(|error| {
            if is_asking { error.next(NextStep::Attach { session: worker.session.clone() }) } else { error }
        })?;
        return Ok(Answer { worker: worker.id, session_id: worker.session.clone(), resumed: false });
    }
    drop(table);
    let session = worker.as_ref().map_or_else(|| text.to_owned(), |worker| worker.session.to_string());
    // It continues with its own options, for its own agent.
    let (agent, options) = worker.map(|worker| (worker.agent, worker.spec.options)).unwrap_or_default();
    let agent = agent.or_else(|| for_agent.cloned());
    let how = run::TaskSession::Resume(session);
    let task_spec =
        run::TaskSpec { task: message.to_owned(), session: how, agent, options, ..run::TaskSpec::default() };
    let ready = run::prepare(context, &task_spec)?;
    let sent = Answer { worker: ready.worker, session_id: ready.session_id.clone(), resumed: true };
    detach(context, ready.worker)?;
    Ok(sent)
}
