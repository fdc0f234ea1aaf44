//! `run`: a task goes to the session that `pick` chooses, or to the one that is named, and a worker does it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{AgentId, Session, SessionId};
use selection::Action;
use serde::Serialize;
use transcript::Live;
pub use workers::Options;
use workers::table::{Added, Wanted};
use workers::{Command, Envelope, Life, Release, Start, WorkerId, WorkerSpec};

use crate::claude::Steered;
use crate::copy::Copy;
use crate::labels::labelled;
use crate::pick::{self, pick};
use crate::place::{Place, holder, is_real};
use crate::repo::Meant;
use crate::which::{Which, by_name};
use crate::workers::{Link, begin, look_after, table, unusable};
pub use crate::worktree::Worktree;
use crate::{App, Error, Kind, claude, fork, worktree};

/// A task, and how it is to be done.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is to be done.
    pub task: String,
    /// A path or a project's name; the directory the person stands in without it.
    pub repo: Option<String>,
    /// In which session.
    pub how: How,
    /// The name of the session it must go to.
    pub label: Option<String>,
    /// The work tree of its own that it is done in: there it is begun, or forked into.
    pub worktree: Option<Worktree>,
    /// The OpenClaw agent for whom it is done.
    pub agent: Option<AgentId>,
    /// How the worker works.
    pub options: Options,
    /// The id of its first message, a UUID, where it is known beforehand: of one there is one worker.
    pub message: Option<String>,
}

/// In which session a task is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum How {
    /// In the one that `pick` chooses.
    #[default]
    Chosen,
    /// In a new one.
    Fresh,
    /// In this one: its id, or the beginning of it.
    Resume(String),
    /// In a fork of this one.
    Fork(String),
}

/// A worker that is ready to be run, here or in the background.
#[derive(Debug, Clone, Serialize)]
pub struct Ready {
    /// Its number.
    pub worker: WorkerId,
    /// Its session.
    pub session_id: SessionId,
    /// `fresh`, `resume` or `fork`.
    pub start: &'static str,
    /// The directory it works in.
    pub directory: PathBuf,
    /// The worker that has the directory at this moment.
    pub behind: Option<WorkerId>,
    /// What was decided, where `pick` was asked.
    pub decision: Option<pick::Answer>,
    /// What it is run with.
    #[serde(skip)]
    pub(crate) claude: Steered,
}

/// Where a worker works and how its conversation begins.
struct Course {
    start: Start,
    directory: PathBuf,
    config_folder: Option<PathBuf>,
    session: SessionId,
    /// What has to be copied before.
    copy: Option<Copy>,
}

/// Chooses the session, and puts the worker into the table: from then on it has its directory, or its place in the
/// queue for it. `program` is this very program, which runs what a killed Backstory left.
pub fn prepare(app: &App, request: &Request, program: &Path) -> Result<Ready, Error> {
    if request.task.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "the task is empty: say what is to be done"));
    }
    is_real(app)?;
    look_after(app, program)?;
    let claude = claude::steered(app)?;
    let Some(wanted) = &request.worktree else { return ready(app, request, claude) };
    let tree = worktree::make(app, request.repo.as_deref(), wanted)?;
    let inside = Request {
        repo: Some(tree.path.to_string_lossy().into_owned()),
        how: match &request.how {
            // No session of another tree can be gone on with here.
            How::Chosen if request.label.is_none() => How::Fresh,
            how => how.clone(),
        },
        ..request.clone()
    };
    let ready = ready(app, &inside, claude);
    if ready.is_err() && tree.is_new {
        // Nobody has begun to work there.
        worktree::unmake(app, &tree.path);
    }
    ready
}

fn ready(app: &App, request: &Request, claude: Steered) -> Result<Ready, Error> {
    let decision = match &request.how {
        How::Chosen => Some(decide(app, request)?),
        How::Fresh | How::Resume(_) | How::Fork(_) => None,
    };
    let course = course(app, request, decision.as_ref(), claude.release)?;
    let mut options = request.options.clone();
    if let Some(agent) = &request.agent {
        let root = catalog::repository(&app.config.places(), &course.directory);
        let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let envelope = Envelope { agent: agent.as_str(), project: &project, repo: &root };
        options.append_system_prompt = Some(envelope.behind(options.append_system_prompt.as_deref()));
    }
    if matches!(course.start, Start::Fresh(_)) {
        options.name = options.name.or_else(|| request.label.clone());
    }
    let spec = WorkerSpec {
        config_folder: course.config_folder,
        agent: request.agent.clone(),
        label: request.label.clone(),
        options,
        ..WorkerSpec::new(course.start, course.directory, request.task.clone())
    };
    if let Some(objection) = spec.objection() {
        return Err(Error::new(Kind::Usage, objection));
    }
    let message = request.message.clone().unwrap_or_else(new_uuid);
    course.copy.as_ref().map_or(Ok(()), |copy| fork::made(copy, app.now))?;
    let added = add(app, &spec, &course.session, &message);
    if let (Err(_), Some(copy)) = (&added, &course.copy) {
        copy.remove();
    }
    let (worker, behind) = added?;
    let start = match spec.start {
        Start::Fork { .. } => "fork",
        Start::Resume(_) if course.copy.is_some() => "fork",
        Start::Resume(_) => "resume",
        Start::Fresh(_) => "fresh",
    };
    Ok(Ready {
        worker,
        session_id: course.session,
        start,
        directory: spec.directory,
        behind,
        decision,
        claude,
    })
}

/// Runs a worker of the table in this process.
pub fn here(app: &App, ready: &Ready, clock: fn() -> Timestamp) -> Result<Link, Error> {
    begin(app, ready.worker, ready.claude.clone(), clock)
}

/// Words of a person's as what a worker is told.
pub fn message(text: &str) -> Command {
    Command::Message { id: new_uuid(), text: text.to_owned() }
}

/// A new UUID.
pub(crate) fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn decide(app: &App, request: &Request) -> Result<pick::Answer, Error> {
    let asked = pick::Request {
        task: request.task.clone(),
        repo: request.repo.clone(),
        label: request.label.clone(),
        agent: request.agent.clone(),
        budget: request.options.budget_usd,
        ..pick::Request::default()
    };
    let answer = pick(app, &asked)?;
    if let Some(label) = &request.label {
        is_free(app, request, label)?;
    }
    if answer.action == Action::Queue {
        // It is a run of OpenClaw's: one of ours would be waited for in the table.
        return Err(Error::new(Kind::Held, answer.reason)
            .hint("wait until that has ended; or begin a session of its own: --fresh"));
    }
    Ok(answer)
}

/// A session that goes by a label and is open somewhere is refused, and no other one gets its label.
fn is_free(app: &App, request: &Request, label: &str) -> Result<(), Error> {
    let Some(meant) = Meant::directory(app, request.repo.as_deref())? else { return Ok(()) };
    let found = labelled(app, request.agent.as_ref(), &meant.work_tree(app), label)?;
    let Some(session) = found else { return Ok(()) };
    let living = table(app)?.of_session(&session).map_err(unusable)?;
    if let Some(worker) = living.iter().find(|worker| worker.place.is_some()) {
        let message = format!("worker {} has the session called `{label}`: it has one writer", worker.id);
        return Err(Error::new(Kind::Held, message)
            .hint(format!("send it there: backstory send {} <message>", worker.id))
            .hint(format!("or let a worker go on with a fork of it: --fork {session}")));
    }
    holder(app, &session).map_or(Ok(()), |live| Err(open_elsewhere(&session, &live)))
}

fn open_elsewhere(session: &SessionId, live: &Live) -> Error {
    Error::new(Kind::Held, format!("session {session} is open in process {}", live.pid))
        .hint(format!("let a worker go on with a fork of it: --fork {session}"))
        .hint("or go on there, or end that process first")
}

fn course(
    app: &App,
    request: &Request,
    decision: Option<&pick::Answer>,
    release: Release,
) -> Result<Course, Error> {
    let chosen = decision.and_then(|answer| answer.session_id.as_ref()).map(ToString::to_string);
    match (&request.how, &chosen) {
        (How::Resume(text), _) | (How::Chosen, Some(text)) => resume(app, &named(app, text)?),
        (How::Fork(text), _) => {
            let into = request.worktree.as_ref().and(request.repo.as_deref()).map(Path::new);
            forked(app, &named(app, text)?, release, into)
        }
        (How::Fresh, _) | (How::Chosen, None) => fresh(app, request.repo.as_deref()),
    }
}

fn fresh(app: &App, repo: Option<&str>) -> Result<Course, Error> {
    let directory = if let Some(meant) = Meant::directory(app, repo)? {
        meant.directory
    } else {
        let sessions = crate::list::list(app, &crate::list::Request::default(), |_| {}).sessions;
        Meant::by_name(repo.unwrap_or_default(), sessions.iter())?.directory
    };
    let session = new_id()?;
    let named = app.config.claude_config_dir.clone();
    Ok(Course { start: Start::Fresh(session.clone()), directory, config_folder: named, session, copy: None })
}

fn resume(app: &App, session: &Session) -> Result<Course, Error> {
    if let Some(live) = holder(app, &session.id) {
        return Err(open_elsewhere(&session.id, &live));
    }
    let place = Place::of(app, session)?;
    let directory = place.start_directory(&session.id)?.to_owned();
    let start = Start::Resume(session.id.clone());
    let (config_folder, session) = (place.config_folder(app), session.id.clone());
    Ok(Course { start, directory, config_folder, session, copy: None })
}

fn forked(app: &App, session: &Session, release: Release, into: Option<&Path>) -> Result<Course, Error> {
    if let Some(why) = fork::too_old(release) {
        return Err(Error::new(Kind::Unavailable, why));
    }
    let place = Place::of(app, session)?;
    let (to, config_folder) = (new_id()?, place.config_folder(app));
    // The directory it started in is where every release finds it.
    let directory = match into {
        Some(into) if !release.finds_anywhere() => {
            // It may begin long after this: a copy that has to go away again would have nobody to remove it.
            let copy = Some(fork::moved(&place, &session.id, to.clone(), into));
            let start = Start::Resume(to.clone());
            return Ok(Course { start, directory: into.to_owned(), config_folder, session: to, copy });
        }
        Some(into) => into.to_owned(),
        None => place.start_directory(&session.id)?.to_owned(),
    };
    let start = Start::Fork { from: session.id.clone(), to: Some(to.clone()) };
    Ok(Course { start, directory, config_folder, session: to, copy: None })
}

fn named(app: &App, text: &str) -> Result<Session, Error> {
    let sessions = crate::list::list(app, &crate::list::Request::default(), |_| {}).sessions;
    // Words are for people, who are asked which one they mean.
    match by_name(&Which::Named(text.to_owned()), &sessions)?.and_then(|found| found.session) {
        Some(session) => Ok(session),
        None => Err(Error::new(Kind::NotFound, format!("no session's id is or begins with `{text}`"))
            .hint("`backstory list` shows all sessions with their ids, `backstory workers` the workers")),
    }
}

fn add(
    app: &App,
    spec: &WorkerSpec,
    session: &SessionId,
    message: &str,
) -> Result<(WorkerId, Option<WorkerId>), Error> {
    let meant = Meant { directory: spec.directory.clone(), root: spec.directory.clone() };
    let slot = meant.work_tree(app);
    let host = Life::own();
    let wanted = Wanted { spec, session, slot: &slot, message, host: &host };
    match table(app)?.add(&wanted, app.now).map_err(unusable)? {
        Added::Begins(id) => Ok((id, None)),
        Added::Waits(id, behind) => Ok((id, Some(behind))),
        Added::Full { running, queued } => {
            let message = format!(
                "worker {running} works in {} and worker {queued} waits for it already; no third one can",
                slot.display()
            );
            Err(Error::new(Kind::Held, message)
                .hint(format!("end one of them: backstory stop {queued}"))
                .hint("or have it done in a work tree of its own: --worktree"))
        }
        Added::Held(holder) => {
            let of_label = spec.label.as_ref().map(|label| format!("the session called `{label}`"));
            let held = of_label.unwrap_or_else(|| format!("session {session}"));
            let refused = Error::new(Kind::Held, format!("worker {holder} has {held}: it has one writer"))
                .hint(format!("send it there: backstory send {holder} <message>"));
            Err(match spec.start {
                // The session that is held is another one, which has no transcript yet.
                Start::Fresh(_) => refused,
                Start::Resume(_) | Start::Fork { .. } => {
                    refused.hint(format!("or let a worker go on with a fork of it: --fork {session}"))
                }
            })
        }
    }
}

fn new_id() -> Result<SessionId, Error> {
    let made = new_uuid().parse();
    made.map_err(|error| Error::caused(Kind::Unavailable, "cannot make a session id", &error))
}
