//! Identifies the worker that makes a request: over MCP, a model that works for an OpenClaw agent sees only that
//! agent's sessions.

use workers::WorkerId;
use workers::store::Worker;

use crate::workers::table::{exists, open, state_folder, unusable};
use crate::{Caller, Context, Error};

/// The context for a request by a model: the caller is the agent's worker that asks, else the person's assistant.
pub fn context_for_model(context: &Context) -> Result<Context, Error> {
    let worker = asking_worker(context)?.filter(|worker| worker.agent.is_some());
    let caller =
        worker.map_or(Caller::Assistant, |worker| Caller::Worker { worker: worker.id, agent: worker.agent });
    Ok(Context { caller, ..context.clone() })
}

/// The worker inside which the request is made. What a worker starts has its mark; where a client keeps that from its
/// servers, the process that started this one is the worker's, or its session.
fn asking_worker(context: &Context) -> Result<Option<Worker>, Error> {
    let config = context.config();
    let is_inside_claude = config.claude_session.is_some() || config.parent_process.is_some();
    if (config.worker_mark.is_none() && !is_inside_claude) || !exists(context) {
        return Ok(None);
    }
    let table = open(context)?;
    if let Some(id) = worker_named_by_mark(context)
        && let Some(worker) = table.get(id).map_err(unusable)?
    {
        return Ok(Some(worker));
    }
    let sessions = [context.asking_session(), config.claude_session.clone()];
    let is_asking = |worker: &Worker| {
        let pid = worker.process.as_ref().map(|process| process.pid);
        (pid.is_some() && pid == config.parent_process) || sessions.contains(&Some(worker.session.clone()))
    };
    Ok(table.active().map_err(unusable)?.into_iter().find(is_asking))
}

/// The worker of this Backstory that the mark names.
fn worker_named_by_mark(context: &Context) -> Option<WorkerId> {
    let (of, id) = context.config().worker_mark.as_deref()?.rsplit_once('#')?;
    id.parse().ok().filter(|_| state_folder(context).to_string_lossy() == of)
}
