//! Limits long lines to one in memory at a time, however many threads read.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Permission to hold a long line, shared by the readers that take turns.
#[derive(Debug, Clone, Default)]
pub struct LongLines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The right, while one reader has it.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Shared>);

impl LongLines {
    /// Waits until no other reader holds a long line.
    pub(crate) fn wait(&self) -> Turn {
        let is_taken = self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.0.freed.wait_while(is_taken, |is_taken| *is_taken);
        *free.unwrap_or_else(PoisonError::into_inner) = true;
        Turn(Arc::clone(&self.0))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}
