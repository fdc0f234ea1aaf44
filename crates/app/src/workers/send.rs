//! `send`: a message goes to the worker of a session, or to a new one that resumes it.

use model::SessionId;
use serde::Serialize;
use workers::WorkerId;

use crate::workers::control::tell;
use crate::workers::host::detach;
use crate::workers::run;
use crate::workers::table::{lookup, open_recovered};
use crate::{Context, Error};

/// What became of a message.
#[derive(Debug, Clone, Serialize)]
pub struct Sent {
    /// The worker that has it.
    pub worker: WorkerId,
    /// Its session.
    pub session_id: SessionId,
    /// Whether the session was resumed for it.
    pub resumed: bool,
}

/// Sends a message to a living worker of the session; where there is none, the session is resumed for it by a
/// worker that outlives this process.
pub fn send(context: &Context, text: &str, message: &str) -> Result<Sent, Error> {
    let table = open_recovered(context)?;
    let worker = lookup(context, &table, text)?;
    if let Some(worker) =
        worker.as_ref().filter(|worker| worker.slot_state.is_some() && worker.host.is_alive())
    {
        tell(context, worker, &run::message(message))?;
        return Ok(Sent { worker: worker.id, session_id: worker.session.clone(), resumed: false });
    }
    drop(table);
    let session = worker.as_ref().map_or_else(|| text.to_owned(), |worker| worker.session.to_string());
    // It goes on as it was, for whom it was.
    let (agent, options) = worker.map(|worker| (worker.agent, worker.spec.options)).unwrap_or_default();
    let how = run::How::Resume(session);
    let request = run::Request { task: message.to_owned(), how, agent, options, ..run::Request::default() };
    let ready = run::prepare(context, &request)?;
    let sent = Sent { worker: ready.worker, session_id: ready.session_id.clone(), resumed: true };
    detach(context, ready.worker)?;
    Ok(sent)
}
