//! What Backstory has started: `workers`, `attach`, `send`, `stop`, `answer`, and the process that outlives a terminal.

pub(crate) mod holders;
mod launch;
mod registry;
pub(crate) mod reports;
pub mod run;
pub mod worktree;

use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use model::SessionId;
use serde::Serialize;
use workers::table::{FILE, Facts, Place, Worker};
pub use workers::{
    Asked, Asking, Command, Event, PermissionMode, Reply, Request, TurnResult, Why, WorkerState,
};
use workers::{Handle, Life, Limits, Manner, Order, Remote, Table, WorkerId, recover};

use crate::proceed::claude::{self, Steered};
pub use crate::workers::registry::Clerk;
use crate::{Context, Error, Kind};

/// How many workers are told, newest first.
const TOLD: usize = 50;
/// How long a process in the background may take until it can be reached: on a busy machine `claude` alone takes seconds
/// to say which release it is. One that has ended is not waited for.
const REACHED: Duration = Duration::from_mins(5);
/// How often it is looked.
const GLANCE: Duration = Duration::from_millis(20);

/// A worker as it is told.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerJson {
    /// Its number.
    pub worker: WorkerId,
    /// Its session.
    pub session_id: SessionId,
    /// Its state, with what is true in it.
    #[serde(flatten)]
    pub state: WorkerState,
    /// What it has of its directory; absent where it is over.
    pub place: Option<Place>,
    /// The directory it works in.
    #[serde(serialize_with = "model::path")]
    pub directory: PathBuf,
    /// What it is to do.
    pub task: String,
    /// The OpenClaw agent it works for.
    pub agent_id: Option<String>,
    /// What it may do without asking.
    pub permission_mode: PermissionMode,
    /// Its process.
    pub pid: Option<u32>,
    /// The Backstory that runs it, or waits with it; where it is over, that ran it.
    pub host_pid: u32,
    /// What has become of it.
    #[serde(flatten)]
    pub facts: Facts,
    /// How much of its budget is used, in percent.
    pub budget_used_pct: Option<f64>,
    /// Where its frames are kept.
    #[serde(serialize_with = "model::path")]
    pub frames: PathBuf,
}

/// A worker that can be heard and told things, of this process or of another.
#[derive(Debug)]
pub enum Link {
    /// Of this one.
    Here {
        /// The worker.
        handle: Handle,
        /// Who enters what it does for an agent.
        clerk: Option<Clerk>,
    },
    /// Of another.
    There(Remote),
}

/// What a worker of this process can be told by one who does not hear it.
#[derive(Debug, Clone)]
pub struct Control(Handle);

impl Control {
    /// Has something done; or says why it is not.
    pub fn command(&self, command: Command) -> Result<(), String> {
        self.0.command(command)
    }

    /// Waits until the worker has ended.
    pub fn wait(&self) {
        let _ = self.0.listen(Manner::HearsAll).iter().find(|event| matches!(&**event, Event::Ended { .. }));
    }
}

impl Link {
    /// What a worker of this process is told by; nothing for one of another process.
    pub fn control(&self) -> Option<Control> {
        match self {
            Self::Here { handle, .. } => Some(Control(handle.clone())),
            Self::There(_) => None,
        }
    }

    /// Has something done; or says why it is not.
    pub fn command(&self, command: Command) -> Result<(), String> {
        match self {
            Self::Here { handle, .. } => handle.command(command),
            Self::There(remote) => remote.command(&command),
        }
    }

    /// Ends the worker, and waits for its end.
    pub fn end(&mut self) {
        let events = self.listen();
        // One that has ended already has nothing more to say.
        if self.command(Command::Stop).is_ok() {
            let _ = events.iter().find(|event| matches!(&**event, Event::Ended { .. }));
        }
    }

    /// Waits until all others who are connected to a worker of this process have been told how it ended, and OpenClaw
    /// has, where it worked for an agent; what hindered that otherwise.
    pub fn last_words(&self) -> Option<String> {
        let Self::Here { handle, clerk } = self else { return None };
        handle.last_words();
        clerk.as_ref().and_then(Clerk::wait)
    }

    /// What happened lately, and what happens; it ends with the worker.
    pub fn listen(&mut self) -> Receiver<Arc<Event>> {
        match self {
            Self::Here { handle, .. } => handle.listen(Manner::HearsAll),
            Self::There(remote) => remote.listen(),
        }
    }
}

/// The workers, newest first. What a killed Backstory left is run by hosts of their own.
pub fn list(context: &Context) -> Result<Vec<WorkerJson>, Error> {
    look_after(context)?;
    let table = table(context)?;
    let workers = table.all(TOLD).map_err(unusable)?;
    workers.iter().map(|worker| told(context, &table, worker)).collect()
}

/// One worker, by its number or by its session's id or the beginning of it.
pub fn find(context: &Context, text: &str) -> Result<WorkerJson, Error> {
    let table = table(context)?;
    told(context, &table, &found(&table, text)?)
}

/// A worker that runs, to be watched and answered.
pub fn attach(context: &Context, text: &str) -> Result<(WorkerJson, Link), Error> {
    let table = table(context)?;
    let worker = found(&table, text)?;
    let remote = Remote::connect(&home(context), worker.id).map_err(|_| not_running(&worker))?;
    Ok((told(context, &table, &worker)?, Link::There(remote)))
}

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
    let table = table(context)?;
    let worker = table_worker(&table, text)?;
    if let Some(worker) = worker.as_ref().filter(|worker| worker.place.is_some() && worker.host.is_alive()) {
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

/// Answers what a worker asks.
pub fn answer(context: &Context, text: &str, request: &str, reply: Reply) -> Result<(), Error> {
    let table = table(context)?;
    tell(context, &found(&table, text)?, &Command::Answer { request: request.to_owned(), reply })
}

/// Ends a worker: one that waits is cancelled, one that runs is interrupted and ended, and what a killed Backstory
/// left running is ended too.
pub fn stop(context: &Context, text: &str) -> Result<WorkerJson, Error> {
    let mut table = table(context)?;
    let worker = found(&table, text)?;
    if table.cancel(worker.id, context.now).map_err(unusable)? {
        return find(context, &worker.id.to_string());
    }
    if worker.state.is_over() && worker.place.is_none() {
        return Err(over(&worker));
    }
    if worker.host.is_alive() {
        let remote = Remote::connect(&home(context), worker.id).map_err(|_| not_running(&worker))?;
        let refused = |why: String| Error::new(Kind::Unavailable, format!("worker {}: {why}", worker.id));
        remote.command(&Command::Stop).map_err(refused)?;
        // The last event is its end.
        let _ = remote.events.iter().find(|event| matches!(&**event, Event::Ended { .. }));
    } else {
        workers::end_orphan(&worker, Limits::default().grace);
        table.enter(worker.id, &WorkerState::Stopped, context.now).map_err(unusable)?;
    }
    find(context, &worker.id.to_string())
}

/// Runs a worker whose Backstory is not this one until it ends: what outlives a terminal.
///
/// Where another process runs it already, nothing is done.
pub fn supervise(context: &Context, id: WorkerId) -> Result<Option<Link>, Error> {
    let mut table = open(context)?;
    let own = Life::own();
    let began = Instant::now();
    while began.elapsed() < REACHED {
        let Some(worker) = table.get(id).map_err(unusable)?.filter(|worker| worker.place.is_some()) else {
            return Ok(None);
        };
        if worker.host == own {
            return begin(context, id, claude::steered(context)?).map(Some);
        }
        if !worker.host.is_alive() {
            table.hand_over(id, &worker.host, &own).map_err(unusable)?;
        }
        pause();
    }
    Ok(None)
}

/// Runs a worker of the table in this process.
pub(crate) fn begin(context: &Context, id: WorkerId, claude: Steered) -> Result<Link, Error> {
    let (handle, _) = workers::start(order(context, claude), id).map_err(unusable)?;
    let clerk = Clerk::hire(context, &handle)?;
    Ok(Link::Here { handle, clerk })
}

/// Gives a worker of the table to a process of its own, and waits until that can be reached or has ended.
pub fn detach(context: &Context, id: WorkerId) -> Result<(), Error> {
    hand_over(context, &mut open(context)?, id, &Life::own())?;
    let began = Instant::now();
    while began.elapsed() < REACHED {
        if Remote::connect(&home(context), id).is_ok() {
            return Ok(());
        }
        let worker = open(context)?.get(id).map_err(unusable)?.filter(|worker| !worker.state.is_over());
        match worker {
            None => return Ok(()),
            Some(worker) if !worker.host.is_alive() => break,
            Some(_) => pause(),
        }
    }
    let message = format!("worker {id} was started in the background, but cannot be reached");
    Err(Error::new(Kind::Unavailable, message).hint("`backstory workers` shows what has become of it"))
}

/// Looks after what a killed Backstory left: tasks that nobody runs any more are run again in the background.
pub(crate) fn look_after(context: &Context) -> Result<(), Error> {
    if !has_table(context) {
        return Ok(());
    }
    let mut table = table(context)?;
    let waiting = table.living().map_err(unusable)?.into_iter().filter(|worker| !worker.host.is_alive());
    let waiting: Vec<_> = waiting.filter(|worker| !worker.state.is_over()).collect();
    for worker in waiting {
        hand_over(context, &mut table, worker.id, &worker.host)?;
    }
    registry::catch_up(context, &mut table)
}

/// The worker whose first message has this id, once what a killed Backstory left is looked after.
pub(crate) fn of_message(context: &Context, message: &str) -> Result<Option<Worker>, Error> {
    look_after(context)?;
    table(context)?.of_message(message).map_err(unusable)
}

/// Whether an idle worker agrees to end, because somebody else needs its session. One that has been given more to do
/// meanwhile does not.
pub(crate) fn yields(context: &Context, worker: &Worker) -> bool {
    Remote::connect(&home(context), worker.id).is_ok_and(|remote| remote.command(&Command::Yield).is_ok())
}

/// Tells a worker that its task is done, for which it was started.
pub(crate) fn close(context: &Context, worker: &Worker) -> Result<(), Error> {
    tell(context, worker, &Command::Close)
}

/// Gives a worker of one Backstory to a process of its own. Where it is another's by now, that has it.
fn hand_over(context: &Context, table: &mut Table, id: WorkerId, from: &Life) -> Result<(), Error> {
    let mut process = Process::new(context.program());
    process.arg("worker").arg(id.to_string()).current_dir(&context.config().home).env_remove(workers::MARK);
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error: &std::io::Error| {
        Error::caused(
            Kind::Unavailable,
            format!("cannot start {} in the background", context.program().display()),
            error,
        )
    };
    let mut child = process.spawn().map_err(|error| failed(&error))?;
    // Where it has ended already, the table says what became of the worker.
    if let Some(life) = Life::of(child.id()) {
        table.hand_over(id, from, &life).map_err(unusable)?;
    }
    // A child is waited for, so that none is left behind where this process goes on for long.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Whether there ever was a worker.
pub(crate) fn has_table(context: &Context) -> bool {
    file(context).exists()
}

/// The table, put right.
pub(crate) fn table(context: &Context) -> Result<Table, Error> {
    let mut table = open(context)?;
    recover(&mut table, &context.config().places().config_folders, &home(context), context.now)
        .map_err(unusable)?;
    Ok(table)
}

/// What workers are run with.
fn order(context: &Context, claude: Steered) -> Order {
    let settings = context.config().settings.workers;
    let limits = Limits {
        start: Duration::from_secs(settings.start_seconds.into()),
        silence: Duration::from_secs(settings.silent_seconds.into()),
        idle: Duration::from_secs(u64::from(settings.idle_minutes) * 60),
        ..Limits::default()
    };
    let Steered { program, release } = claude;
    let folders = context.config().places().config_folders;
    Order { home: home(context), program, release, limits, folders, clock: context.app.clock }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn unusable(error: workers::table::TableError) -> Error {
    Error::caused(Kind::Unavailable, "workers cannot be kept count of", &error)
}

pub(crate) fn open(context: &Context) -> Result<Table, Error> {
    Table::open(&file(context)).map_err(unusable)
}

fn file(context: &Context) -> PathBuf {
    context.config().state.join(FILE)
}

/// Backstory's own folder by the name that all its processes give it.
fn home(context: &Context) -> PathBuf {
    context.config().state.canonicalize().unwrap_or_else(|_| context.config().state.clone())
}

/// Waits a moment for another process, whose start and end are told to nobody.
#[expect(clippy::disallowed_methods, reason = "another process's start and end are told to nobody")]
pub(crate) fn pause() {
    std::thread::sleep(GLANCE);
}

fn tell(context: &Context, worker: &Worker, command: &Command) -> Result<(), Error> {
    let remote = Remote::connect(&home(context), worker.id).map_err(|_| not_running(worker))?;
    let refused = |why: String| Error::new(Kind::Held, format!("worker {}: {why}", worker.id));
    remote.command(command).map_err(refused)
}

fn found(table: &Table, text: &str) -> Result<Worker, Error> {
    table_worker(table, text)?.ok_or_else(|| {
        Error::new(Kind::NotFound, format!("there is no worker `{text}`"))
            .hint("`backstory workers` shows them; name one by its number or its session's id")
    })
}

/// A worker by its number, or the newest of a session by its id or the beginning of that.
fn table_worker(table: &Table, text: &str) -> Result<Option<Worker>, Error> {
    if let Ok(id) = text.parse()
        && let Some(worker) = table.get(id).map_err(unusable)?
    {
        return Ok(Some(worker));
    }
    let all = table.all(usize::MAX).map_err(unusable)?;
    let begins = |worker: &&Worker| text.len() >= 4 && worker.session.as_str().starts_with(text);
    let mut named: Vec<_> = all.iter().filter(begins).collect();
    named.dedup_by(|one, other| one.session == other.session);
    if named.len() > 1 {
        let message = format!("several workers' sessions begin with `{text}`; name one by its number");
        return Err(Error::new(Kind::Ambiguous, message));
    }
    Ok(named.first().map(|worker| (*worker).clone()))
}

fn told(context: &Context, table: &Table, worker: &Worker) -> Result<WorkerJson, Error> {
    let spent = table.spent(&worker.session).map_err(unusable)?;
    Ok(WorkerJson {
        worker: worker.id,
        session_id: worker.session.clone(),
        state: context.told_value(&worker.state),
        place: worker.place,
        directory: worker.directory.clone(),
        task: context.secrets.told(worker.task.as_str().into()),
        agent_id: worker.agent.as_ref().map(ToString::to_string),
        permission_mode: worker.spec.options.permission_mode,
        pid: worker.process.as_ref().map(|process| process.pid),
        host_pid: worker.host.pid,
        budget_used_pct: worker.facts.budget_usd.map(|budget| spent / budget * 100.0),
        facts: Facts {
            model: worker.facts.model.as_deref().map(|model| context.secrets.told(model.into())),
            version: worker.facts.version.as_deref().map(|version| context.secrets.told(version.into())),
            ..worker.facts.clone()
        },
        frames: workers::frames(&home(context), worker.id),
    })
}

fn not_running(worker: &Worker) -> Error {
    if worker.state.is_over() {
        return over(worker);
    }
    Error::new(Kind::Unavailable, format!("worker {} cannot be reached", worker.id))
        .hint("`backstory workers` shows what has become of it")
}

fn over(worker: &Worker) -> Error {
    let message = format!("worker {} is over: {}", worker.id, worker.state.word());
    Error::new(Kind::NotFound, message)
        .hint(format!("what was said: backstory show {}", worker.session))
        .hint(format!("go on with its session: backstory send {} <message>", worker.id))
}
