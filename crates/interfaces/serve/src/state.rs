//! What all requests share, and how one of them calls `app`: on a thread that may block, cancelled when its client disconnects.

use std::sync::{Arc, Mutex, PoisonError};

use app::{Cancellation, Context, Error, Kind};
use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::spawn_blocking;

use crate::crewhub::{ClaudeVersions, Cooldowns, HistoryPositions, ShownRequests, Sources, Store};
use crate::events::Hub;
use crate::notice::Notice;
use crate::problem::Problem;
use crate::reports::Reports;
use crate::security::{Credentials, Grant};
use crate::shares::{Share, Shares};

/// How many requests are answered at the same time; more of them wait.
const AT_ONCE: usize = 16;
/// How many clients may follow workers at the same time. A worker can be followed for hours, so that these do not take
/// places from requests that are answered at once, and more of them are refused.
const FOLLOWERS: usize = 96;
/// How many of them one token may be, unless it is an administrator's: a third.
const FOLLOWERS_OF_ONE: usize = FOLLOWERS / 3;
/// How many streams of events a token may have open at the same time, and how many an administrator's.
const STREAMS: usize = 64;
const STREAMS_OF_ADMIN: usize = 600;
/// How many threads that block are needed for both, and for files.
pub(crate) const BLOCKING_THREADS: usize = AT_ONCE + FOLLOWERS + 16;

/// What all requests share.
pub(crate) struct Server {
    /// The connections to Claude Code; each request is a copy of the one that started the server, with what they change.
    pub(crate) sources: Sources,
    /// What authorizes requests.
    pub(crate) credentials: Credentials,
    /// The event stream.
    pub(crate) hub: Hub,
    /// What people edit in a front end.
    pub(crate) store: Store,
    /// Where older messages of a chat are.
    pub(crate) history_positions: HistoryPositions,
    /// When each chat last accepted a message.
    pub(crate) cooldowns: Cooldowns,
    /// The versions of the connections' `claude` programs.
    pub(crate) claude_versions: ClaudeVersions,
    /// The permissions that were shown in chats.
    pub(crate) shown: ShownRequests,
    answering: Arc<Semaphore>,
    followers: Arc<Semaphore>,
    followers_of_each: Arc<Shares>,
    streams: Arc<Shares>,
    stop: watch::Receiver<bool>,
    reports: Reports,
}

/// The server, as handlers are given it.
pub(crate) type Shared = Arc<Server>;

impl Server {
    pub(crate) fn new(
        started: Context,
        credentials: Credentials,
        stop: watch::Receiver<bool>,
        reports: Reports,
    ) -> Result<Self, Error> {
        let hub = Hub::new(started.read_clock());
        let store = Store::open(started.config())?;
        Ok(Self {
            sources: Sources::new(started, &store),
            credentials,
            hub,
            store,
            history_positions: HistoryPositions::default(),
            cooldowns: Cooldowns::default(),
            claude_versions: ClaudeVersions::default(),
            shown: ShownRequests::default(),
            answering: Arc::new(Semaphore::new(AT_ONCE)),
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
            followers_of_each: Shares::new(FOLLOWERS_OF_ONE, FOLLOWERS),
            streams: Shares::new(STREAMS, STREAMS_OF_ADMIN),
            stop,
            reports,
        })
    }

    /// The context of a request that is made now.
    pub(crate) fn context(&self) -> Context {
        Context { cancellation: Cancellation::default(), ..self.sources.now().context() }
    }

    /// Reports something to the program that started the server.
    pub(crate) fn report(&self, notice: Notice) {
        self.reports.send(notice);
    }

    /// Turns true when the server stops.
    pub(crate) fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }

    /// Calls a function of `app`; it is cancelled when the client disconnects.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Context) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(move |_, context| question(context).map_err(Problem::from)).await
    }

    /// Does something that may block, as [`ask`](Self::ask) does.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // The semaphore is never closed.
        let place = Arc::clone(&self.answering).acquire_owned().await.ok();
        self.run(place, work).await
    }

    /// Does something that waits for a worker, possibly for hours: as [`work`](Self::work) does, with a place of a
    /// follower.
    pub(crate) async fn follow<T: Send + 'static>(
        self: &Arc<Self>,
        grant: &Grant,
        work: impl FnOnce(&Self, &Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = self.follower(grant)?;
        self.run(Some(place), work).await
    }

    /// A place of a follower, unless all are taken, or too many by this token.
    pub(crate) fn follower(&self, grant: &Grant) -> Result<Follower, Problem> {
        let share = self.followers_of_each.take(grant.owner()).ok_or_else(|| {
            too_many(&format!(
                "this token follows {FOLLOWERS_OF_ONE} workers already; close one of those streams first"
            ))
        })?;
        let permit = Arc::clone(&self.followers).try_acquire_owned().map_err(|_| {
            let detail =
                format!("{FOLLOWERS} clients follow workers already; close one of those streams first");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Unavailable, detail)
        })?;
        Ok(Follower { _permit: permit, _share: share })
    }

    /// A place of a stream of events, unless this token has too many.
    pub(crate) fn stream(&self, grant: &Grant) -> Result<Share, Problem> {
        self.streams
            .take(grant.owner())
            .ok_or_else(|| too_many("this token has too many event streams open; close one of them first"))
    }

    async fn run<T: Send + 'static, P: Send + 'static>(
        self: &Arc<Self>,
        place: Option<P>,
        work: impl FnOnce(&Self, &Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (server, context) = (Arc::clone(self), self.context());
        let _guard = CancelOnDrop(context.cancellation.clone());
        let answer = Arc::new(Mutex::new(None));
        let written = Arc::clone(&answer);
        let task = move || {
            let _place = place;
            let answer = work(&server, &context);
            *written.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        };
        run_blocking(Box::new(task)).await;
        answer.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(|| Err(panicked()))
    }
}

/// Runs a task on a thread that may block; one that panics leaves no answer. It is boxed, because tokio's code would else
/// be compiled again for every request that there is.
async fn run_blocking(task: Box<dyn FnOnce() + Send>) {
    let _ = spawn_blocking(task).await;
}

/// A place of a client that follows a worker.
pub(crate) struct Follower {
    _permit: OwnedSemaphorePermit,
    _share: Share,
}

/// The refusal of a token that has too many of something.
fn too_many(detail: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Kind::Unavailable, detail)
}

/// The answer to a request whose handler panicked; the message of the panic is on the program's standard error.
fn panicked() -> Problem {
    let detail = "Backstory failed to answer; its terminal says why";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Internal, detail)
}

struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
