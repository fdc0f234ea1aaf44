//! Sends each event to many listeners. Each listener has its own queue; a slow one is notified that it missed
//! events instead of blocking the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use model::SessionEvent;

/// The sending end.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    queue: SyncSender<Arc<SessionEvent>>,
    lost: Arc<AtomicU64>,
}

/// A subscription to the monitor's events.
#[derive(Debug)]
pub struct Listener {
    queue: Receiver<Arc<SessionEvent>>,
    lost: Arc<AtomicU64>,
}

/// The monitor has ended; there will be no more events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorEnded;

impl Bus {
    /// Adds a listener with a queue of `capacity` events.
    pub(crate) fn listen(&mut self, capacity: usize) -> Listener {
        let (queue, receiver) = sync_channel(capacity);
        let lost = Arc::new(AtomicU64::new(0));
        self.lines.push(Line { queue, lost: Arc::clone(&lost) });
        Listener { queue: receiver, lost }
    }

    /// Sends an event to all listeners and removes those that are gone.
    pub(crate) fn send(&mut self, event: SessionEvent) {
        if self.lines.is_empty() {
            return;
        }
        let event = Arc::new(event);
        self.lines.retain(|line| {
            // Once an event was lost, nothing more is queued until the listener has been notified.
            if line.lost.load(Ordering::Acquire) > 0 {
                line.lost.fetch_add(1, Ordering::AcqRel);
                return true;
            }
            match line.queue.try_send(Arc::clone(&event)) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    line.lost.fetch_add(1, Ordering::AcqRel);
                    true
                }
                Err(TrySendError::Disconnected(_)) => false,
            }
        });
    }
}

impl Listener {
    /// Returns the next event, or `None` if none arrives within `patience`. After events were lost, queued
    /// events come first, then [`SessionEvent::Resync`].
    pub fn next(&self, timeout: Duration) -> Result<Option<Arc<SessionEvent>>, MonitorEnded> {
        if let Ok(event) = self.queue.try_recv() {
            return Ok(Some(event));
        }
        let lost = self.lost.swap(0, Ordering::AcqRel);
        if lost > 0 {
            return Ok(Some(Arc::new(SessionEvent::Resync { lost })));
        }
        match self.queue.recv_timeout(timeout) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(MonitorEnded),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::SOURCE;

    use super::*;

    fn event() -> SessionEvent {
        SessionEvent::SessionsChanged { source: SOURCE }
    }

    fn next(listener: &Listener) -> Option<String> {
        listener.next(Duration::ZERO).unwrap().map(|event| event.name().to_owned())
    }

    #[test]
    fn a_slow_listener_learns_what_it_missed_and_delays_nobody() {
        let mut bus = Bus::default();
        let (slow, quick) = (bus.listen(2), bus.listen(10));
        for _ in 0..5 {
            bus.send(event());
        }
        assert_eq!(next(&slow).as_deref(), Some("sessions-changed"));
        assert_eq!(next(&slow).as_deref(), Some("sessions-changed"));
        let first = slow.next(Duration::ZERO).unwrap().unwrap();
        assert_eq!(*first, SessionEvent::Resync { lost: 3 });
        assert_eq!(next(&slow), None);
        bus.send(event());
        assert_eq!(next(&slow).as_deref(), Some("sessions-changed"));
        assert_eq!((0..7).filter(|_| next(&quick).is_some()).count(), 6);
    }

    #[test]
    fn a_listener_learns_that_the_monitor_ended() {
        let mut bus = Bus::default();
        let listener = bus.listen(2);
        bus.send(event());
        drop(bus);
        assert!(next(&listener).is_some());
        assert_eq!(listener.next(Duration::from_secs(10)), Err(MonitorEnded));
    }
}
