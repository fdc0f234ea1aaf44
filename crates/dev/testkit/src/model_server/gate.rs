//! A place where an answer waits until the test lets it go on: tests wait for things, not for time.

use std::sync::{Arc, Condvar, Mutex};

use tokio::sync::watch;

use crate::PATIENCE;

/// Closed until opened; clones are the same gate.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    open: watch::Sender<bool>,
    reached: Mutex<bool>,
    arrival: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that is closed until the test opens it.
    pub fn new() -> Self {
        let open = watch::Sender::new(false);
        Self(Arc::new(Inner { open, reached: Mutex::new(false), arrival: Condvar::new() }))
    }

    /// Lets everything through, now and later.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Blocks the test until an answer waits at the gate.
    pub fn wait_until_reached(&self) {
        let reached = self.0.reached.lock().expect("no holder panics");
        let (reached, _) = self
            .0
            .arrival
            .wait_timeout_while(reached, PATIENCE, |reached| !*reached)
            .expect("no holder panics");
        assert!(*reached, "no answer reached the gate within {PATIENCE:?}");
    }

    /// Holds an answer until the gate is open.
    pub(super) async fn pass(&self) {
        *self.0.reached.lock().expect("no holder panics") = true;
        self.0.arrival.notify_all();
        let mut open = self.0.open.subscribe();
        let _ = open.wait_for(|open| *open).await;
    }
}
