//! `run`: a task goes to the session that `pick` chooses, or to the one that is named, and a worker does it.

use std::path::{Path, PathBuf};

use catalog::{CatalogEntry, Projection};
use model::{AgentId, Session, SessionId};
use schemars::JsonSchema;
use selection::Action;
use serde::Serialize;
pub use workers::WorkerOptions;
use workers::store::{AddOutcome, NewWorker, Worker};
use workers::{Command, Envelope, Event, ProcessIdentity, Release, SessionStart, WorkerId, WorkerSpec};

use crate::bridge;
use crate::choose::answer::Answer;
use crate::choose::decisions;
use crate::choose::labels::labelled;
use crate::choose::outcome::Outcome;
use crate::choose::pick;
use crate::choose::request::{Question, positive};
use crate::ids::new_uuid;
use crate::proceed::claude::ControllableClaude;
use crate::proceed::location::ensure_not_demo;
use crate::proceed::{claude, fork};
use crate::repository::target::RepoTarget;
use crate::sessions::lookup::{SessionRef, by_name};
use crate::sessions::totals::survey_all;
use crate::workers::host::{begin, recover_orphans};
use crate::workers::launch::{self, Course};
use crate::workers::link::Link;
use crate::workers::table::{open_recovered, unusable, visible, worker_name};
use crate::workers::worktree;
pub use crate::workers::worktree::Worktree;
use crate::{Context, Error, Kind, NextStep};

/// A task, and how it is to be done.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// What is to be done.
    pub task: String,
    /// A path or a project's name; the current directory without it.
    pub repo: Option<String>,
    /// Whether to begin fresh, resume or fork.
    pub how: TaskSession,
    /// What `pick` answered, where it was asked already.
    pub chosen: Option<Answer>,
    /// The name of the session it must go to.
    pub label: Option<String>,
    /// The work tree of its own that it is done in: there it is begun, or forked into.
    pub worktree: Option<Worktree>,
    /// The OpenClaw agent for whom it is done.
    pub agent: Option<AgentId>,
    /// How the worker works.
    pub options: WorkerOptions,
    /// Whether its worker ends by itself when the task is done, and does not wait for more.
    pub once: bool,
    /// The id of its first message, a UUID, where it is known beforehand: of one there is one worker.
    pub message: Option<String>,
}

/// In which session a task is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TaskSession {
    /// In the one that `pick` chooses.
    #[default]
    Chosen,
    /// In a new one.
    Fresh,
    /// In a new one under this id, a UUID.
    Named(String),
    /// In this one: its id, or the beginning of it.
    Resume(String),
    /// In a fork of this one.
    Fork {
        /// Its id, or the beginning of it.
        session: String,
        /// The id of the last record that the fork has; all without it.
        at: Option<String>,
    },
}

/// A worker that is ready to be run, here or in the background.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RunAnswer")]
pub struct Ready {
    /// The worker's number.
    pub worker: WorkerId,
    /// The id of the session it writes to.
    pub session_id: SessionId,
    /// `fresh`, `resume` or `fork`.
    pub start: &'static str,
    /// The directory it works in.
    #[serde(serialize_with = "model::path")]
    pub directory: PathBuf,
    /// The worker that has the directory at this moment.
    pub behind: Option<WorkerId>,
    /// What was decided, where `pick` was asked.
    pub decision: Option<Answer>,
    /// What it is run with.
    #[serde(skip)]
    pub(crate) claude: ControllableClaude,
}

/// An event of a worker that is followed from the beginning.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent<'a> {
    /// The worker is about to start: the first event.
    Ready(&'a Ready),
    /// An event of the running worker.
    #[serde(untagged)]
    Later(&'a Event),
}

/// Chooses the session, and puts the worker into the table: from then on it has its directory, or its place in the
/// queue for it.
pub fn prepare(context: &Context, order: &Order) -> Result<Ready, Error> {
    let agent = context.agent(order.agent.as_ref())?;
    let order = &Order { agent, ..order.clone() };
    if order.options.permission_mode.acts_without_asking() || !order.options.allowed_tools.is_empty() {
        context.require_person("a worker that acts without asking")?;
    }
    if let (Some(_), TaskSession::Resume(text) | TaskSession::Fork { session: text, .. }) =
        (context.caller.agent(), &order.how)
    {
        // Whose it is comes before what is missing on this machine.
        named(context, text)?;
    }
    let claude = controllable_claude(context, &order.task)?;
    let Some(wanted) = &order.worktree else { return ready(context, order, claude) };
    let tree = worktree::make(context, order.repo.as_deref(), wanted)?;
    let inside = Order {
        repo: Some(tree.path.to_string_lossy().into_owned()),
        how: match &order.how {
            // No session of another tree can be gone on with here.
            TaskSession::Chosen if order.label.is_none() => TaskSession::Fresh,
            how => how.clone(),
        },
        ..order.clone()
    };
    let ready = ready(context, &inside, claude);
    if ready.is_err() && tree.is_new {
        // Nobody has begun to work there.
        worktree::remove_if_unused(context, &tree.path);
    }
    ready
}

/// Adds a worker to the table that runs a task in a fork of this session.
pub(crate) fn in_a_fork(
    context: &Context,
    session: &Session,
    wanted: &fork::Request,
    task: &str,
) -> Result<Ready, Error> {
    let claude = controllable_claude(context, task)?;
    let (at, into) = (wanted.at.as_deref(), wanted.into.as_deref());
    let course = launch::forked(context, session, claude.release, at, into)?;
    let order = Order { task: task.to_owned(), agent: context.agent(None)?, ..Order::default() };
    add_worker(context, &order, course, None, claude)
}

/// The `claude` that can do a task, once what a killed Backstory left is looked after.
fn controllable_claude(context: &Context, task: &str) -> Result<ControllableClaude, Error> {
    if task.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "the task is empty: say what to do"));
    }
    ensure_not_demo(context)?;
    recover_orphans(context)?;
    claude::controllable(context)
}

fn ready(context: &Context, order: &Order, claude: ControllableClaude) -> Result<Ready, Error> {
    let decision = match &order.how {
        TaskSession::Chosen => Some(decide(context, order)?),
        TaskSession::Fresh | TaskSession::Named(_) | TaskSession::Resume(_) | TaskSession::Fork { .. } => {
            None
        }
    };
    let course = find_course(context, order, decision.as_ref(), claude.release)?;
    add_worker(context, order, course, decision, claude)
}

/// Adds a worker to the table.
fn add_worker(
    context: &Context,
    order: &Order,
    course: Course,
    decision: Option<Answer>,
    claude: ControllableClaude,
) -> Result<Ready, Error> {
    let mut options = order.options.clone();
    if let Some(agent) = &order.agent {
        let root = catalog::repository(&context.config().places(), &course.directory);
        let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let envelope = Envelope { agent: agent.as_str(), project: &project, repo: &root };
        options.append_system_prompt = Some(envelope.append_to(options.append_system_prompt.as_deref()));
    }
    let pack = decision.as_ref().and_then(|answer| answer.pack.as_ref());
    if let (SessionStart::Fresh(_), Some(pack)) = (&course.start, pack.filter(|_| order.worktree.is_none())) {
        let behind =
            options.append_system_prompt.as_deref().map(|text| format!("{text}\n\n")).unwrap_or_default();
        options.append_system_prompt = Some(behind + &pack.text);
    }
    if matches!(course.start, SessionStart::Fresh(_)) {
        options.name = options.name.or_else(|| order.label.clone());
    }
    let spec = WorkerSpec {
        config_folder: course.config_folder,
        agent: order.agent.clone(),
        label: order.label.clone(),
        once: order.once,
        bridge: bridge::is_enabled(context, order.agent.as_ref())?,
        options,
        ..WorkerSpec::new(course.start, course.directory, order.task.clone())
    };
    if let Some(objection) = spec.validation_error() {
        return Err(Error::new(Kind::Usage, objection));
    }
    let message = order.message.clone().unwrap_or_else(new_uuid);
    course.copy.as_ref().map_or(Ok(()), |copy| fork::made(copy, context.now))?;
    let added = add(context, &spec, &course.session, &message);
    if let (Err(_), Some(copy)) = (&added, &course.copy) {
        copy.remove();
    }
    let (worker, behind) = added?;
    let start = match spec.start {
        SessionStart::Fork { .. } => "fork",
        SessionStart::Resume(_) if course.copy.is_some() => "fork",
        SessionStart::Resume(_) => "resume",
        SessionStart::Fresh(_) => "fresh",
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
pub fn here(context: &Context, ready: &Ready) -> Result<Link, Error> {
    begin(context, ready.worker, ready.claude.clone())
}

/// A person's words as the text of a worker's message.
pub fn message(text: &str) -> Command {
    Command::Message { id: new_uuid(), text: text.to_owned() }
}

/// What `pick` answers, for a person who is asked where that leaves it open.
pub fn choose(context: &Context, order: &Order) -> Result<Answer, Error> {
    ensure_not_demo(context)?;
    let question = Question {
        task: order.task.clone(),
        repo: order.repo.clone(),
        label: order.label.clone(),
        agent: order.agent.clone(),
        budget: positive(order.options.budget_usd)?,
        is_carried_out: true,
        ..Question::default()
    };
    pick::choose(context, &question)
}

/// What a person decided who was asked.
pub fn decided(context: &Context, answer: &Answer, how: &TaskSession) {
    let outcome = match how {
        TaskSession::Chosen | TaskSession::Named(_) => return,
        TaskSession::Fresh => Outcome::BeganFresh,
        TaskSession::Resume(id) | TaskSession::Fork { session: id, .. } => match id.parse() {
            Ok(id) => Outcome::Resumed(id),
            Err(_) => return,
        },
    };
    let Some((decision, advice)) = answer.decision.zip(answer.advice()) else { return };
    // Nothing is lost but one line of the record.
    let _ = decisions::record_outcome(context, decision, &advice, &outcome);
}

/// What is decided: where it is left open, by the person who was asked, else a fresh session.
fn decide(context: &Context, order: &Order) -> Result<Answer, Error> {
    let answer = match &order.chosen {
        Some(answer) => answer.clone(),
        None => choose(context, order)?.fresh_if_uncertain(),
    };
    if let Some(label) = &order.label {
        ensure_label_free(context, order, label)?;
    }
    if answer.action == Action::Queue {
        // Another program's run: the end of one of ours would be waited for in the table.
        return Err(Error::new(Kind::Held, answer.reason).next(NextStep::RunFresh));
    }
    Ok(answer)
}

/// A session that goes by a label and is open somewhere is refused, and no other one gets its label.
fn ensure_label_free(context: &Context, order: &Order, label: &str) -> Result<(), Error> {
    let Some(meant) = RepoTarget::directory(context, order.repo.as_deref())? else { return Ok(()) };
    let found = labelled(context, order.agent.as_ref(), &meant.work_tree(context), label)?;
    found.map_or(Ok(()), |session| {
        launch::make_free(context, &session, &format!("the session named `{label}`"))
    })
}

fn find_course(
    context: &Context,
    order: &Order,
    decision: Option<&Answer>,
    release: Release,
) -> Result<Course, Error> {
    let chosen = decision.and_then(|answer| answer.session_id.as_ref()).map(ToString::to_string);
    match (&order.how, &chosen) {
        (TaskSession::Resume(text), _) | (TaskSession::Chosen, Some(text)) => {
            launch::resume(context, &named(context, text)?)
        }
        (TaskSession::Fork { session, at }, _) => {
            let into = order.worktree.as_ref().and(order.repo.as_deref()).map(Path::new);
            launch::forked(context, &named(context, session)?, release, at.as_deref(), into)
        }
        (TaskSession::Fresh, _) | (TaskSession::Chosen, None) => {
            launch::fresh(context, order.repo.as_deref(), None)
        }
        (TaskSession::Named(id), _) => {
            launch::fresh(context, order.repo.as_deref(), Some(unused(context, id)?))
        }
    }
}

/// An id for a new session, which no session has.
fn unused(context: &Context, text: &str) -> Result<SessionId, Error> {
    let id = text.parse().ok().filter(SessionId::is_uuid).ok_or_else(|| {
        let message = format!("`{text}` is not a valid session id: Claude Code takes UUIDs");
        Error::new(Kind::Usage, message).hint("for example 3f0c6d0e-8f2b-4a57-9d0e-0c6f3a1b2c4d")
    })?;
    let is_it = |entry: CatalogEntry| (entry.session.id == id).then_some(entry.session);
    let sessions = survey_all(context, None, Projection::Scalars, is_it)?;
    let workers = open_recovered(context)?.by_session(&id).map_err(unusable)?;
    if sessions.is_empty() && workers.is_empty() {
        return Ok(id);
    }
    let sight = context.sight();
    let is_visible = sessions.iter().any(|session| sight.matches(session))
        || workers.iter().any(|worker| context.may_see_worker(worker));
    Err(if is_visible {
        let error = Error::new(Kind::Held, format!("session {id} already exists"));
        error.next(NextStep::RunInSession { session: id })
    } else {
        Error::new(Kind::Usage, format!("{id} cannot be the id of a new session")).hint("give another UUID")
    })
}

/// The living worker of a session, named by its whole id.
fn has_begun(context: &Context, text: &str) -> Result<Option<Worker>, Error> {
    let Ok(id) = text.parse() else { return Ok(None) };
    let workers = open_recovered(context)?.by_session(&id).map_err(unusable)?;
    let is_it = |worker: &Worker| worker.slot_state.is_some() && context.is_of(worker.agent.as_ref());
    Ok(workers.into_iter().find(is_it))
}

fn named(context: &Context, text: &str) -> Result<Session, Error> {
    let sessions = crate::sessions::select::all(context)?.sessions;
    // Words are for people, who are asked which one they mean.
    match by_name(context, &SessionRef::Named(text.to_owned()), &sessions)?.and_then(|found| found.session) {
        Some(session) => Ok(session),
        // Its worker has just begun it: there is no transcript yet.
        None if let Some(worker) = has_begun(context, text)? => {
            Err(launch::has_a_worker(context, &worker, &format!("session {text}")))
        }
        None => Err(Error::new(Kind::NotFound, format!("no session id starts with `{text}`"))
            .next(NextStep::ListSessions)
            .next(NextStep::ListWorkers)),
    }
}

fn add(
    context: &Context,
    spec: &WorkerSpec,
    session: &SessionId,
    message: &str,
) -> Result<(WorkerId, Option<WorkerId>), Error> {
    let meant = RepoTarget { directory: spec.directory.clone(), root: spec.directory.clone() };
    let slot = meant.work_tree(context);
    let host = ProcessIdentity::current();
    let wanted = NewWorker { spec, session, slot: &slot, message, host: &host };
    let mut table = open_recovered(context)?;
    match table.add(&wanted, context.now).map_err(unusable)? {
        AddOutcome::Ready(id) => Ok((id, None)),
        AddOutcome::Queued(id, behind) => {
            let first = visible(context, &table, behind)?;
            Ok((id, first.map(|worker| worker.id)))
        }
        AddOutcome::Full { running, queued } => {
            let (first, second) = (visible(context, &table, running)?, visible(context, &table, queued)?);
            let message = format!(
                "{} is working in {} and {} is already waiting for it; no third one can queue",
                worker_name(first.as_ref()),
                slot.display(),
                worker_name(second.as_ref()),
            );
            let stop = second.map(|worker| NextStep::Stop { worker: worker.id });
            let steps = stop.into_iter().chain([NextStep::RunInWorkTree]);
            Err(steps.fold(Error::new(Kind::Held, message), Error::next))
        }
        AddOutcome::InUse(holder) => {
            let of_label = spec.label.as_ref().map(|label| format!("the session named `{label}`"));
            let held = of_label.unwrap_or_else(|| format!("session {session}"));
            let refused = match table.get(holder).map_err(unusable)? {
                Some(worker) => launch::has_a_worker(context, &worker, &held),
                None => Error::new(Kind::Held, format!("{held} is in use")),
            };
            Err(match spec.start {
                // The session that is held is another one, which has no transcript yet.
                SessionStart::Fresh(_) => refused,
                SessionStart::Resume(_) | SessionStart::Fork { .. } => {
                    refused.next(NextStep::RunInFork { session: session.clone() })
                }
            })
        }
    }
}
