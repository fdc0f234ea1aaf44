//! Plans where a worker works and how its conversation starts: in a new session, a resumed one or a fork.

use std::path::{Path, PathBuf};

use model::{Session, SessionId};
use transcript::RegisteredProcess;
use workers::store::Worker;
use workers::{Release, SessionStart};

use crate::ids::new_session_id;
use crate::proceed::copy::Copy;
use crate::proceed::fork;
use crate::proceed::location::{TranscriptLocation, continue_there, holder};
use crate::repository::target::RepoTarget;
use crate::workers::holders;
use crate::workers::table::{exists, open_recovered, unusable, worker_name};
use crate::{Context, Error, Kind, NextStep};

/// Where a worker works and how its conversation begins.
pub(crate) struct LaunchPlan {
    /// Whether it begins fresh, resumes or forks a session.
    pub(crate) start: SessionStart,
    /// The directory it works in.
    pub(crate) directory: PathBuf,
    /// Claude Code's config folder, where it is not the usual one.
    pub(crate) config_folder: Option<PathBuf>,
    /// The id of the session that it writes to.
    pub(crate) session: SessionId,
    /// What has to be copied before.
    pub(crate) copy: Option<Copy>,
}

/// Plans a new session, with this id if one is given.
pub(crate) fn fresh(
    context: &Context,
    repo: Option<&str>,
    id: Option<SessionId>,
) -> Result<LaunchPlan, Error> {
    let directory = if let Some(target) = RepoTarget::directory(context, repo)? {
        target.directory
    } else {
        let sessions = crate::sessions::select::all(context)?.sessions;
        RepoTarget::by_name(repo.unwrap_or_default(), sessions.iter())?.directory
    };
    let session = id.map_or_else(new_session_id, Ok)?;
    let named = context.config().claude_config_dir.clone();
    Ok(LaunchPlan {
        start: SessionStart::Fresh(session.clone()),
        directory,
        config_folder: named,
        session,
        copy: None,
    })
}

/// Plans to continue a session that nobody else holds.
pub(crate) fn resume(context: &Context, session: &Session) -> Result<LaunchPlan, Error> {
    let place = TranscriptLocation::new(context, session)?;
    place.ensure_not_archived(&session.id)?;
    let directory = place.start_directory(&session.id)?.to_owned();
    free_session(context, &session.id, &format!("session {}", session.id))?;
    let start = SessionStart::Resume(session.id.clone());
    let (config_folder, session) = (place.config_folder(context), session.id.clone());
    Ok(LaunchPlan { start, directory, config_folder, session, copy: None })
}

/// A fork of a session, at one of its messages or of all of it; `into` is the directory it continues in, where that is
/// not the one the session started in.
pub(crate) fn forked(
    context: &Context,
    session: &Session,
    release: Release,
    at: Option<&str>,
    into: Option<&Path>,
) -> Result<LaunchPlan, Error> {
    if let Some(why) = fork::too_old(release) {
        return Err(Error::new(Kind::Unavailable, why));
    }
    let place = TranscriptLocation::new(context, session)?;
    let (to, config_folder) = (new_session_id()?, place.config_folder(context));
    let directory = match into {
        Some(into) => context.path(into),
        None => place.start_directory(&session.id)?.to_owned(),
    };
    // The directory it started in is where every release finds it.
    let is_out_of_reach = into.is_some() && !release.resumes_from_anywhere();
    let copy = (at.is_some() || is_out_of_reach || place.archived)
        .then(|| fork::copy_up_to(&place, &session.id, at.map(str::to_owned), to.clone(), &directory));
    let start = match &copy {
        // The worker may start much later: nobody would be there to remove a temporary copy.
        Some(_) => SessionStart::Resume(to.clone()),
        None => SessionStart::Fork { from: session.id.clone(), to: Some(to.clone()) },
    };
    Ok(LaunchPlan { start, directory, config_folder, session: to, copy })
}

/// Ensures that nobody holds a session before a worker continues it: an idle worker of ours is ended, anything else
/// is refused. `name` is what the error calls the session.
pub(crate) fn free_session(context: &Context, session: &SessionId, name: &str) -> Result<(), Error> {
    holders::end_idle(context, session)?;
    let living = if exists(context) {
        open_recovered(context)?.by_session(session).map_err(unusable)?
    } else {
        Vec::new()
    };
    if let Some(worker) = living.iter().find(|worker| worker.slot_state.is_some()) {
        return Err(
            held_by_worker(context, worker, name).next(NextStep::RunInFork { session: session.clone() })
        );
    }
    holder(context, session).map_or(Ok(()), |live| Err(held_by_process(session, &live)))
}

/// The error for a session that a worker holds.
pub(crate) fn held_by_worker(context: &Context, worker: &Worker, name: &str) -> Error {
    let visible = Some(worker).filter(|worker| context.is_of(worker.agent.as_ref()));
    let error = Error::new(Kind::Held, format!("{name} is in use by {}", worker_name(visible)));
    visible.into_iter().fold(error, |error, worker| error.next(NextStep::Send { worker: worker.id }))
}

fn held_by_process(session: &SessionId, live: &RegisteredProcess) -> Error {
    let error = Error::new(Kind::Held, format!("session {session} is open in process {}", live.pid))
        .next(NextStep::RunInFork { session: session.clone() });
    continue_there(error, live)
}
