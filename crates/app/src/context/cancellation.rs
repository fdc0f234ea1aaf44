//! Lets the caller of a long request cancel it or ask for an answer now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{Context, Error, Kind};

const RUNNING: u8 = 0;
const HURRIED: u8 = 1;
const CANCELLED: u8 = 2;

/// A handle on a running request, shared by who made it and who answers it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    state: Arc<AtomicU8>,
    /// The request that this one is a part of.
    whole: Option<Arc<AtomicU8>>,
}

impl Cancellation {
    /// Asks for an answer from what is known by now: the index is not updated further.
    pub fn answer_now(&self) {
        self.state.fetch_max(HURRIED, Ordering::Relaxed);
    }

    /// Ends the request: it fails with [`Kind::Cancelled`] as soon as it notices.
    pub fn cancel(&self) {
        self.state.store(CANCELLED, Ordering::Relaxed);
    }

    /// A part of the request that is answered at once, and cancelled with it.
    pub(crate) fn hurried_part(&self) -> Self {
        let part = Self { state: Arc::default(), whole: Some(Arc::clone(&self.state)) };
        part.answer_now();
        part
    }

    /// Whether the answer should be given at once, or is not wanted any more.
    pub fn is_hurried(&self) -> bool {
        self.state.load(Ordering::Relaxed) != RUNNING || self.is_cancelled()
    }

    /// Whether the answer is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        let is_cancelled = |state: &Arc<AtomicU8>| state.load(Ordering::Relaxed) == CANCELLED;
        is_cancelled(&self.state) || self.whole.as_ref().is_some_and(is_cancelled)
    }
}

impl Context {
    /// Fails where the caller has cancelled the request.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.cancellation.is_cancelled() {
            return Err(Error::new(Kind::Cancelled, "the request was cancelled"));
        }
        Ok(())
    }
}
