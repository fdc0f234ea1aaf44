//! `run`: adds a worker for a task, in the session that `pick` chooses or in the named one.

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
use crate::sessions::totals::map_all_sessions;
use crate::store::of_another;
use crate::workers::host::{recover_orphans, run_in_this_process};
use crate::workers::instruction::{require_message, require_task};
use crate::workers::launch::{self, LaunchPlan};
use crate::workers::link::Link;
use crate::workers::table::{open_recovered, unusable, visible, worker_name};
use crate::workers::worktree;
pub use crate::workers::worktree::Worktree;
use crate::{Context, Error, Kind, NextStep};

/// A task, the session for it, and the options of its worker.
#[derive(Debug, Clone, Default)]
pub struct TaskSpec {
    /// What is to be done.
    pub task: String,
    /// A path or a project's name; the current directory without it.
    pub repo: Option<String>,
    /// Whether to begin fresh, resume or fork.
    pub session: TaskSession,
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
pub fn prepare(context: &Context, task_spec: &TaskSpec) -> Result<Ready, Error> {
    let agent = context.agent(task_spec.agent.as_ref())?;
    let task_spec = &TaskSpec { agent, ..task_spec.clone() };
    if task_spec.options.acts_without_asking() {
        context.require_person("a worker that acts without asking")?;
    }
    if let (Some(agent), TaskSession::Resume(text) | TaskSession::Fork { session: text, .. }) =
        (&task_spec.agent, &task_spec.session)
    {
        // The owner is checked before what is missing on this machine.
        require_of(agent, &find_session(context, text)?)?;
    }
    let claude = controllable_claude(context, &task_spec.task)?;
    let Some(wanted) = &task_spec.worktree else { return ready(context, task_spec, claude) };
    let tree = worktree::create(context, task_spec.repo.as_deref(), wanted)?;
    let inside = TaskSpec {
        repo: Some(tree.path.to_string_lossy().into_owned()),
        session: match &task_spec.session {
            // A session of another work tree cannot be continued here.
            TaskSession::Chosen if task_spec.label.is_none() => TaskSession::Fresh,
            how => how.clone(),
        },
        ..task_spec.clone()
    };
    let ready = ready(context, &inside, claude);
    if ready.is_err() && tree.is_new {
        // No worker has started there.
        worktree::remove_if_unused(context, &tree.path);
    }
    ready
}

/// Refuses an agent a session of another one, with its owner's name.
fn require_of(agent: &AgentId, session: &Session) -> Result<(), Error> {
    match session.origin.agent().filter(|owner| *owner != agent) {
        Some(owner) => Err(of_another(&format!("session {}", session.id), owner, agent)),
        None => Ok(()),
    }
}

/// Adds a worker to the table that runs a task in a fork of this session.
pub(crate) fn prepare_in_fork(
    context: &Context,
    session: &Session,
    wanted: &fork::Request,
    task: &str,
) -> Result<Ready, Error> {
    let claude = controllable_claude(context, task)?;
    let (at, into) = (wanted.at.as_deref(), wanted.into.as_deref());
    let plan = launch::forked(context, session, claude.release, at, into)?;
    let task_spec = TaskSpec { task: task.to_owned(), agent: context.agent(None)?, ..TaskSpec::default() };
    add_worker(context, &task_spec, plan, None, claude)
}

/// The `claude` that can do a task, after recovering the workers of a killed Backstory.
fn controllable_claude(context: &Context, task: &str) -> Result<ControllableClaude, Error> {
    require_task(task)?;
    ensure_not_demo(context)?;
    recover_orphans(context)?;
    claude::controllable(context)
}

fn ready(context: &Context, task_spec: &TaskSpec, claude: ControllableClaude) -> Result<Ready, Error> {
    let decision = match &task_spec.session {
        TaskSession::Chosen => Some(decide(context, task_spec)?),
        TaskSession::Fresh | TaskSession::Named(_) | TaskSession::Resume(_) | TaskSession::Fork { .. } => {
            None
        }
    };
    let plan = plan_launch(context, task_spec, decision.as_ref(), claude.release)?;
    add_worker(context, task_spec, plan, decision, claude)
}

/// Adds a worker to the table.
fn add_worker(
    context: &Context,
    task_spec: &TaskSpec,
    plan: LaunchPlan,
    decision: Option<Answer>,
    claude: ControllableClaude,
) -> Result<Ready, Error> {
    let mut options = task_spec.options.clone();
    if let Some(agent) = &task_spec.agent {
        let root = catalog::repository(&context.config().places(), &plan.directory);
        let project = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let envelope = Envelope { agent: agent.as_str(), project: &project, repo: &root };
        options.append_system_prompt = Some(envelope.append_to(options.append_system_prompt.as_deref()));
    }
    let pack = decision.as_ref().and_then(|answer| answer.pack.as_ref());
    if let (SessionStart::Fresh(_), Some(pack)) = (&plan.start, pack.filter(|_| task_spec.worktree.is_none()))
    {
        let behind =
            options.append_system_prompt.as_deref().map(|text| format!("{text}\n\n")).unwrap_or_default();
        options.append_system_prompt = Some(behind + &pack.text);
    }
    if matches!(plan.start, SessionStart::Fresh(_)) {
        options.name = options.name.or_else(|| task_spec.label.clone());
    }
    let spec = WorkerSpec {
        config_folder: plan.config_folder,
        agent: task_spec.agent.clone(),
        label: task_spec.label.clone(),
        once: task_spec.once,
        bridge: bridge::is_enabled(context, task_spec.agent.as_ref())?,
        options,
        ..WorkerSpec::new(plan.start, plan.directory, task_spec.task.clone())
    };
    if let Some(objection) = spec.validation_error() {
        return Err(Error::new(Kind::Usage, objection));
    }
    let message = task_spec.message.clone().unwrap_or_else(new_uuid);
    plan.copy.as_ref().map_or(Ok(()), |copy| fork::create_copy(copy, context.now))?;
    let added = add(context, &spec, &plan.session, &message);
    if let (Err(_), Some(copy)) = (&added, &plan.copy) {
        copy.remove();
    }
    let (worker, behind) = added?;
    let start = match spec.start {
        SessionStart::Fork { .. } => "fork",
        SessionStart::Resume(_) if plan.copy.is_some() => "fork",
        SessionStart::Resume(_) => "resume",
        SessionStart::Fresh(_) => "fresh",
    };
    Ok(Ready { worker, session_id: plan.session, start, directory: spec.directory, behind, decision, claude })
}

/// Runs a worker of the table in this process.
pub fn here(context: &Context, ready: &Ready) -> Result<Link, Error> {
    run_in_this_process(context, ready.worker, ready.claude.clone())
}

/// A person's words as the text of a worker's message, and the message's id.
pub fn message(text: &str) -> Result<(String, Command), Error> {
    require_message(text)?;
    let id = new_uuid();
    Ok((id.clone(), Command::Message { id, text: text.to_owned() }))
}

/// The answer of `pick`; if it is uncertain, the caller can ask the person.
pub fn choose(context: &Context, task_spec: &TaskSpec) -> Result<Answer, Error> {
    ensure_not_demo(context)?;
    let question = Question {
        task: task_spec.task.clone(),
        repo: task_spec.repo.clone(),
        label: task_spec.label.clone(),
        agent: task_spec.agent.clone(),
        budget: positive(task_spec.options.budget_usd)?,
        is_carried_out: true,
        ..Question::default()
    };
    pick::choose(context, &question)
}

/// Records what the person decided when asked.
pub fn record_decision(context: &Context, answer: &Answer, how: &TaskSession) {
    let outcome = match how {
        TaskSession::Chosen | TaskSession::Named(_) => return,
        TaskSession::Fresh => Outcome::BeganFresh,
        TaskSession::Resume(id) | TaskSession::Fork { session: id, .. } => match id.parse() {
            Ok(id) => Outcome::Resumed(id),
            Err(_) => return,
        },
    };
    let Some((decision, advice)) = answer.decision.zip(answer.advice()) else { return };
    // If this fails, only one row of the track record is lost.
    let _ = decisions::record_outcome(context, decision, &advice, &outcome);
}

/// The decision: the person's if they were asked, else that of `pick`, or a fresh session if it is uncertain.
fn decide(context: &Context, task_spec: &TaskSpec) -> Result<Answer, Error> {
    let answer = match &task_spec.chosen {
        Some(answer) => answer.clone(),
        None => choose(context, task_spec)?.fresh_if_asking(),
    };
    if let Some(label) = &task_spec.label {
        ensure_label_free(context, task_spec, label)?;
    }
    if answer.action == Action::Queue {
        // Another program's run; for one of our own the worker would be queued.
        return Err(Error::new(Kind::Held, answer.reason).next(NextStep::RunFresh));
    }
    Ok(answer)
}

/// Refuses a label whose session is open elsewhere.
fn ensure_label_free(context: &Context, task_spec: &TaskSpec, label: &str) -> Result<(), Error> {
    let Some(target) = RepoTarget::directory(context, task_spec.repo.as_deref())? else { return Ok(()) };
    let found = labelled(context, task_spec.agent.as_ref(), &target.work_tree(context), label)?;
    found.map_or(Ok(()), |session| {
        launch::free_session(context, &session, &format!("the session named `{label}`"))
    })
}

fn plan_launch(
    context: &Context,
    task_spec: &TaskSpec,
    decision: Option<&Answer>,
    release: Release,
) -> Result<LaunchPlan, Error> {
    let chosen = decision.and_then(|answer| answer.session_id.as_ref()).map(ToString::to_string);
    match (&task_spec.session, &chosen) {
        (TaskSession::Resume(text), _) | (TaskSession::Chosen, Some(text)) => {
            launch::resume(context, &find_session(context, text)?)
        }
        (TaskSession::Fork { session, at }, _) => {
            let into = task_spec.worktree.as_ref().and(task_spec.repo.as_deref()).map(Path::new);
            launch::forked(context, &find_session(context, session)?, release, at.as_deref(), into)
        }
        (TaskSession::Fresh, _) | (TaskSession::Chosen, None) => {
            launch::fresh(context, task_spec.repo.as_deref(), None)
        }
        (TaskSession::Named(id), _) => {
            launch::fresh(context, task_spec.repo.as_deref(), Some(unused_id(context, id)?))
        }
    }
}

/// An id for a new session, which no session has.
fn unused_id(context: &Context, text: &str) -> Result<SessionId, Error> {
    let id = text.parse().ok().filter(SessionId::is_uuid).ok_or_else(|| {
        let message = format!("`{text}` is not a valid session id: Claude Code takes UUIDs");
        Error::new(Kind::Usage, message).hint("for example 3f0c6d0e-8f2b-4a57-9d0e-0c6f3a1b2c4d")
    })?;
    let is_it = |entry: CatalogEntry| (entry.session.id == id).then_some(entry.session);
    let sessions = map_all_sessions(context, None, Projection::Scalars, is_it)?;
    let workers = open_recovered(context)?.by_session(&id).map_err(unusable)?;
    if sessions.is_empty() && workers.is_empty() {
        return Ok(id);
    }
    let visible = context.visible_filter();
    let is_visible = sessions.iter().any(|session| visible.matches(session))
        || workers.iter().any(|worker| context.may_see_worker(worker));
    Err(if is_visible {
        let error = Error::new(Kind::Held, format!("session {id} already exists"));
        error.next(NextStep::RunInSession { session: id })
    } else {
        Error::new(Kind::Usage, format!("{id} cannot be the id of a new session")).hint("give another UUID")
    })
}

/// The living worker of a session, named by its whole id.
fn living_worker(context: &Context, text: &str) -> Result<Option<Worker>, Error> {
    let Ok(id) = text.parse() else { return Ok(None) };
    let workers = open_recovered(context)?.by_session(&id).map_err(unusable)?;
    let is_it = |worker: &Worker| worker.slot_state.is_some() && context.is_of(worker.agent.as_ref());
    Ok(workers.into_iter().find(is_it))
}

pub(crate) fn find_session(context: &Context, text: &str) -> Result<Session, Error> {
    let sessions = crate::sessions::select::all(context)?.sessions;
    // Searching by words is for people, who can be asked which session they mean.
    let missing = match by_name(context, &SessionRef::Named(text.to_owned()), &sessions) {
        Ok(found) => match found.and_then(|found| found.session) {
            Some(session) => return Ok(session),
            None => Error::new(Kind::NotFound, format!("no session id starts with `{text}`"))
                .next(NextStep::ListSessions)
                .next(NextStep::ListWorkers),
        },
        Err(error) if error.kind == Kind::NotFound => error,
        Err(error) => return Err(error),
    };
    // Its worker may have just begun it: there is no transcript yet.
    Err(living_worker(context, text)?
        .map_or(missing, |worker| launch::held_by_worker(context, &worker, &format!("session {text}"))))
}

fn add(
    context: &Context,
    spec: &WorkerSpec,
    session: &SessionId,
    message: &str,
) -> Result<(WorkerId, Option<WorkerId>), Error> {
    let target = RepoTarget { directory: spec.directory.clone(), root: spec.directory.clone() };
    let slot = target.work_tree(context);
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
                Some(worker) => launch::held_by_worker(context, &worker, &held),
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
