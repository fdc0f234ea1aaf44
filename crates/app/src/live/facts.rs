//! Facts about watched sessions that come from a listing. A listing reads every changed transcript, so it is
//! made on its own thread and not too often.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Activity, AgentId, BackgroundJob, Resumption, Session, SessionId, SessionInfo};

use crate::sessions::select::all;
use crate::{Caller, Cancellation, Context, ProgressSink, Secrets};

/// The shortest time between two listings.
const INTERVAL: Duration = Duration::from_secs(10);

/// The facts of a session that come from a listing: only those that are shown, because there are thousands of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The session's title.
    pub title: Option<Arc<str>>,
    /// The name of the session's project.
    pub project: Option<Arc<str>>,
    /// The directory it started in.
    pub cwd: Option<Arc<Path>>,
    /// The time of the session's first record.
    pub created: Option<Timestamp>,
    /// When something last happened in it.
    pub last: Option<Timestamp>,
    /// Whether a live process holds it.
    pub is_running: bool,
    /// What it did when it was listed.
    pub activity: Option<Activity>,
    /// The background job that it was when it was listed.
    pub background_job: Option<Box<BackgroundJob>>,
    /// Tokens the model would have before it.
    pub context_tokens: u64,
    /// What its transcript says about continuing it.
    pub resumption: Resumption,
    /// What it has cost, in US dollars.
    pub cost_usd: Option<f64>,
    /// The agent that started it.
    pub agent: Option<AgentId>,
}

/// The facts of every session by its id.
pub type Listed = Arc<HashMap<SessionId, Facts>>;

impl From<Session> for Facts {
    fn from(session: Session) -> Self {
        Self {
            agent: session.origin.agent().cloned(),
            title: session.title,
            project: session.project,
            cwd: session.cwd,
            created: session.created,
            last: session.last_modified,
            is_running: session.is_running,
            activity: session.activity,
            background_job: session.background_job,
            context_tokens: session.context_tokens,
            resumption: session.resumption,
            cost_usd: session.registry_cost_usd.or(session.cost_usd),
        }
    }
}

impl Facts {
    /// Adds what is known from a listing to what was watched.
    pub(crate) fn complete(&self, info: &mut SessionInfo) {
        let owned = |text: &Option<Arc<str>>| text.as_deref().map(ToOwned::to_owned);
        info.title = owned(&self.title).or(info.title.take());
        info.project = owned(&self.project).or(info.project.take());
        info.cwd = self.cwd.as_deref().map(ToOwned::to_owned).or(info.cwd.take());
        info.created = self.created.or(info.created);
    }

    /// The facts without secrets.
    pub(crate) fn redacted(mut self, secrets: Secrets) -> Self {
        self.title = self.title.map(|title| secrets.redacted_beginning(title.as_ref().to_owned()).into());
        if let Some(activity) = &mut self.activity {
            secrets.redact_activity(activity);
        }
        if let Some(job) = &mut self.background_job {
            secrets.redact_job(job);
        }
        self
    }
}

/// Lists all sessions on request, on a thread that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Lister {
    wishes: Mutex<Sender<()>>,
    listed: Arc<Mutex<Option<Listed>>>,
    /// Ends the listing that is being made.
    cancellation: Cancellation,
}

impl Drop for Lister {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

impl Lister {
    pub(crate) fn start(context: &Context) -> std::io::Result<Self> {
        let (wishes, wanted) = channel();
        let listed: Arc<Mutex<Option<Listed>>> = Arc::default();
        let kept = Arc::clone(&listed);
        // A later subscriber may see less; that is applied to each subscriber's events.
        let cancellation = Cancellation::default();
        let context = Context {
            caller: Caller::Person,
            secrets: Secrets::Shown,
            cancellation: cancellation.clone(),
            progress: ProgressSink::default(),
            ..context.clone()
        };
        std::thread::Builder::new().name("lister".to_owned()).spawn(move || list(context, &wanted, &kept))?;
        Ok(Self { wishes: Mutex::new(wishes), listed, cancellation })
    }

    /// Requests a new listing; several requests are combined.
    pub(crate) fn request(&self) {
        // If the listing thread has ended, the facts stay as they are.
        let _ = locked(&self.wishes).send(());
    }

    /// The sessions as they were listed last; `None` before the first time.
    pub(crate) fn listed(&self) -> Option<Listed> {
        locked(&self.listed).clone()
    }
}

fn list(mut context: Context, wanted: &Receiver<()>, kept: &Mutex<Option<Listed>>) {
    let mut last: Option<Instant> = None;
    while wanted.recv().is_ok() {
        let pause = last.map_or(Duration::ZERO, |last| INTERVAL.saturating_sub(last.elapsed()));
        if !pause_until_due(wanted, pause) {
            return;
        }
        last = Some(Instant::now());
        context = context.refreshed();
        let Ok(listing) = all(&context) else { continue };
        let facts = listing.sessions.into_iter().map(|session| (session.id.clone(), Facts::from(session)));
        *locked(kept) = Some(Arc::new(facts.collect()));
    }
}

/// Collects further requests until a listing is due; returns false once no sender is left.
fn pause_until_due(wanted: &Receiver<()>, pause: Duration) -> bool {
    let due = Instant::now() + pause;
    loop {
        match wanted.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
