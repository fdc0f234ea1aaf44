//! What all requests share, and how one of them asks `app`: on a thread that may block, cancelled when its caller leaves.

use std::sync::Arc;

use app::{Cancellation, Context, Error, Kind};
use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;

use crate::crew::{Cooldowns, Places, Store};
use crate::events::Hub;
use crate::notice::{Notice, Reporter};
use crate::problem::Problem;
use crate::security::Door;

/// How many questions are answered at the same time; more of them wait.
const AT_ONCE: usize = 16;

/// What all requests share.
pub(crate) struct Server {
    /// The request that started the server; each later one is a copy of it.
    started: Context,
    /// Who may come in.
    pub(crate) door: Door,
    /// What happens.
    pub(crate) hub: Hub,
    /// What people edit.
    pub(crate) store: Store,
    /// Where older messages of a chat are.
    pub(crate) places: Places,
    /// When sessions were last written to in a chat.
    pub(crate) cooldowns: Cooldowns,
    questions: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    report: Reporter,
}

/// The server, as handlers are given it.
pub(crate) type Shared = Arc<Server>;

impl Server {
    pub(crate) fn new(
        started: Context,
        door: Door,
        stop: watch::Receiver<bool>,
        report: Reporter,
    ) -> Result<Self, Error> {
        let questions = Arc::new(Semaphore::new(AT_ONCE));
        let hub = Hub::new(started.read_clock());
        let store = Store::open(started.config())?;
        Ok(Self {
            started,
            door,
            hub,
            store,
            places: Places::default(),
            cooldowns: Cooldowns::default(),
            questions,
            stop,
            report,
        })
    }

    /// The context of a request that is made now.
    pub(crate) fn context(&self) -> Context {
        Context { cancellation: Cancellation::default(), ..self.started.refreshed() }
    }

    /// Tells the program that started the server.
    pub(crate) fn report(&self, notice: Notice) {
        (self.report)(notice);
    }

    /// Turns true when the server stops.
    pub(crate) fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }

    /// Asks `app` a question; it is cancelled when nobody waits for the answer any more.
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
        let (server, context) = (Arc::clone(self), self.context());
        let _guard = CancelOnDrop(context.cancellation.clone());
        let permit = Arc::clone(&self.questions).acquire_owned().await;
        let asked = spawn_blocking(move || {
            let _permit = permit;
            work(&server, &context)
        });
        match asked.await {
            Ok(answer) => answer,
            Err(_) => Err(broken()),
        }
    }
}

/// A question that panicked; what happened is on the program's standard error.
fn broken() -> Problem {
    let detail = "Backstory failed to answer; its terminal says why";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Internal, detail)
}

struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
