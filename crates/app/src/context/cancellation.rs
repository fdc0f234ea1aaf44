//! How the caller of a long request ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{Context, Error, Kind};

const RUNNING: u8 = 0;
const HURRIED: u8 = 1;
const CANCELLED: u8 = 2;

/// A handle on a running request, shared by who made it and who answers it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicU8>);

impl Cancellation {
    /// Asks for an answer from what is known by now: the index is not brought further up to date.
    pub fn answer_now(&self) {
        self.0.fetch_max(HURRIED, Ordering::Relaxed);
    }

    /// Ends the request: it fails with [`Kind::Cancelled`] as soon as it notices.
    pub fn cancel(&self) {
        self.0.store(CANCELLED, Ordering::Relaxed);
    }

    /// Whether the answer should be given at once, or is not wanted any more.
    pub fn is_hurried(&self) -> bool {
        self.0.load(Ordering::Relaxed) != RUNNING
    }

    /// Whether the answer is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CANCELLED
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
