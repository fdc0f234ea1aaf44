//! Starts a worker in a fork of a session.

use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use workers::WorkerId;

use crate::proceed::fork::{Request, existing};
use crate::workers::host::detach;
use crate::workers::run;
use crate::{Context, Error, Kind, NextStep};

/// A fork on which a worker works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ForkedWorker {
    /// What people call the session it came from.
    pub session_name: String,
    /// The terminal it runs in; it has none.
    pub terminal_id: Option<String>,
    /// The session it came from.
    pub resume_session_id: SessionId,
    /// The fork's own session id.
    pub session_id: SessionId,
    /// The number of the worker that runs the fork.
    pub worker_id: WorkerId,
}

/// Starts a background worker on `intent`, in the fork of `session` that `request` describes.
pub(crate) fn work(
    context: &Context,
    session: &Session,
    request: &Request,
    intent: &str,
) -> Result<ForkedWorker, Error> {
    if !request.extra.is_empty() {
        let message = "a worker does not take arguments for `claude`";
        let options = NextStep::RunOptions { session: session.id.clone() };
        return Err(Error::new(Kind::Usage, message).next(options));
    }
    let request = Request {
        into: request.into.as_deref().map(|into| existing(context, into)).transpose()?,
        ..request.clone()
    };
    let ready = run::prepare_in_fork(context, session, &request, intent)?;
    detach(context, ready.worker)?;
    Ok(ForkedWorker {
        session_name: session.title.as_deref().unwrap_or(session.id.short()).to_owned(),
        terminal_id: None,
        resume_session_id: session.id.clone(),
        session_id: ready.session_id,
        worker_id: ready.worker,
    })
}
