//! How many requests are answered at once: each takes a thread, and a client must not exhaust them.

use std::sync::Arc;

use app::{Error, Kind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of requests in progress, those that wait for a thread among them.
const IN_PROGRESS: usize = 256;
/// The maximum number of threads that work.
const WORKING: usize = 16;
/// The maximum number of threads that only wait, for up to an hour each: one for every session over HTTP.
const WAITING: usize = 64;

/// What becomes of a request whose client disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDisconnect {
    /// It does its work to the end.
    Finish,
    /// It only waits, and is cancelled.
    Cancel,
}

/// The limits of a server; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct RequestLimits {
    in_progress: Arc<Semaphore>,
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// The right to answer a request, held until it is answered.
#[derive(Debug)]
pub(crate) struct Permit {
    _in_progress: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

impl RequestLimits {
    pub(crate) fn new() -> Self {
        let of = |count| Arc::new(Semaphore::new(count));
        Self { in_progress: of(IN_PROGRESS), working: of(WORKING), waiting: of(WAITING) }
    }

    /// A permit for a request. One that works queues for a thread; one that only waits is refused where too many do.
    pub(crate) async fn permit(&self, on_disconnect: OnDisconnect) -> Result<Permit, Error> {
        let in_progress = Arc::clone(&self.in_progress).try_acquire_owned();
        let in_progress = in_progress.map_err(|_| busy(IN_PROGRESS, "requests are in progress"))?;
        let thread = match on_disconnect {
            OnDisconnect::Finish => Arc::clone(&self.working).acquire_owned().await.ok(),
            OnDisconnect::Cancel => Arc::clone(&self.waiting).try_acquire_owned().ok(),
        };
        let thread = thread.ok_or_else(|| busy(WAITING, "calls are waiting for workers"))?;
        Ok(Permit { _in_progress: in_progress, _thread: thread })
    }
}

fn busy(count: usize, what: &str) -> Error {
    Error::new(Kind::Unavailable, format!("{count} {what}, which is the limit"))
        .hint("wait for the answer to an earlier call, or cancel one, and call it again")
}
