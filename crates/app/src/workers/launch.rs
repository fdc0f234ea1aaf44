//! Where a worker works and how its conversation begins: in a new session, in one that nobody else holds, in a fork.

use std::path::{Path, PathBuf};

use model::{Session, SessionId};
use transcript::RegisteredProcess;
use workers::store::Worker;
use workers::{Release, SessionStart};

use crate::ids::new_session_id;
use crate::proceed::copy::Copy;
use crate::proceed::fork;
use crate::proceed::location::{Place, continue_there, holder};
use crate::repository::target::RepoTarget;
use crate::workers::holders;
use crate::workers::table::{exists, open_recovered, unusable, worker_name};
use crate::{Context, Error, Kind, NextStep};

/// Where a worker works and how its conversation begins.
pub(crate) struct Course {
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

/// A new session, under this id where one is wanted.
pub(crate) fn fresh(context: &Context, repo: Option<&str>, id: Option<SessionId>) -> Result<Course, Error> {
    let directory = if let Some(meant) = RepoTarget::directory(context, repo)? {
        meant.directory
    } else {
        let sessions = crate::sessions::select::all(context)?.sessions;
        RepoTarget::by_name(repo.unwrap_or_default(), sessions.iter())?.directory
    };
    let session = id.map_or_else(new_session_id, Ok)?;
    let named = context.config().claude_config_dir.clone();
    Ok(Course {
        start: SessionStart::Fresh(session.clone()),
        directory,
        config_folder: named,
        session,
        copy: None,
    })
}

/// A session to continue, which nobody else holds.
pub(crate) fn resume(context: &Context, session: &Session) -> Result<Course, Error> {
    let place = Place::of(context, session)?;
    place.ensure_not_archived(&session.id)?;
    let directory = place.start_directory(&session.id)?.to_owned();
    make_free(context, &session.id, &format!("session {}", session.id))?;
    let start = SessionStart::Resume(session.id.clone());
    let (config_folder, session) = (place.config_folder(context), session.id.clone());
    Ok(Course { start, directory, config_folder, session, copy: None })
}

/// A fork of a session, at one of its messages or of all of it; `into` is the directory it continues in, where that is
/// not the one the session started in.
pub(crate) fn forked(
    context: &Context,
    session: &Session,
    release: Release,
    at: Option<&str>,
    into: Option<&Path>,
) -> Result<Course, Error> {
    if let Some(why) = fork::too_old(release) {
        return Err(Error::new(Kind::Unavailable, why));
    }
    let place = Place::of(context, session)?;
    let (to, config_folder) = (new_session_id()?, place.config_folder(context));
    let directory = match into {
        Some(into) => context.path(into),
        None => place.start_directory(&session.id)?.to_owned(),
    };
    // The directory it started in is where every release finds it.
    let is_out_of_reach = into.is_some() && !release.resumes_from_anywhere();
    let copy = (at.is_some() || is_out_of_reach || place.archived)
        .then(|| fork::cut(&place, &session.id, at.map(str::to_owned), to.clone(), &directory));
    let start = match &copy {
        // It may begin long after this: a copy that has to go away again would have nobody to remove it.
        Some(_) => SessionStart::Resume(to.clone()),
        None => SessionStart::Fork { from: session.id.clone(), to: Some(to.clone()) },
    };
    Ok(Course { start, directory, config_folder, session: to, copy })
}

/// Makes sure that nobody holds a session before a worker continues it: an idle worker of ours ends, anything else
/// is refused. `name` is what the refusal calls the session.
pub(crate) fn make_free(context: &Context, session: &SessionId, name: &str) -> Result<(), Error> {
    holders::end_idle(context, session)?;
    let living = if exists(context) {
        open_recovered(context)?.by_session(session).map_err(unusable)?
    } else {
        Vec::new()
    };
    if let Some(worker) = living.iter().find(|worker| worker.slot_state.is_some()) {
        return Err(
            has_a_worker(context, worker, name).next(NextStep::RunInFork { session: session.clone() })
        );
    }
    holder(context, session).map_or(Ok(()), |live| Err(open_elsewhere(session, &live)))
}

/// A refusal: this worker has the session.
pub(crate) fn has_a_worker(context: &Context, worker: &Worker, name: &str) -> Error {
    let visible = Some(worker).filter(|worker| context.is_of(worker.agent.as_ref()));
    let error = Error::new(Kind::Held, format!("{name} is in use by {}", worker_name(visible)));
    visible.into_iter().fold(error, |error, worker| error.next(NextStep::Send { worker: worker.id }))
}

fn open_elsewhere(session: &SessionId, live: &RegisteredProcess) -> Error {
    let error = Error::new(Kind::Held, format!("session {session} is open in process {}", live.pid))
        .next(NextStep::RunInFork { session: session.clone() });
    continue_there(error, live)
}
