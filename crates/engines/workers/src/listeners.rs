//! Distributes a worker's events: each listener has its own queue, and a slow one is notified how many events it
//! missed.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Event;

/// Capacity of a bounded queue in events.
const QUEUE_CAPACITY: usize = 1024;
/// Maximum number and total size in bytes of the past events sent to a new listener.
const REMEMBERED: (usize, usize) = (400, 256 << 10);

/// What happens when a listener is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePolicy {
    /// Drop events and tell the listener how many it missed.
    DropAndCount,
    /// Keep all events; the queue grows while the listener does not read.
    Unbounded,
}

/// All listeners of a worker.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    past: VecDeque<(Arc<Event>, usize)>,
    bytes: usize,
    state: Option<Arc<Event>>,
    all: Vec<Listener>,
    ended: bool,
}

#[derive(Debug)]
enum Listener {
    Unbounded(Sender<Arc<Event>>),
    DropAndCount { queue: SyncSender<Arc<Event>>, missed: u64 },
}

impl Listeners {
    /// Subscribes to events: recent ones, the current state, then new ones.
    pub(crate) fn listen(&self, policy: QueuePolicy) -> Receiver<Arc<Event>> {
        let mut inner = self.lock();
        let (mut listener, events) = match policy {
            QueuePolicy::Unbounded => {
                let (queue, events) = channel();
                (Listener::Unbounded(queue), events)
            }
            QueuePolicy::DropAndCount => {
                let (queue, events) = sync_channel(QUEUE_CAPACITY);
                (Listener::DropAndCount { queue, missed: 0 }, events)
            }
        };
        // There is room for all of it: a queue is longer than what is remembered.
        for event in inner.past.iter().map(|(event, _)| event).chain(&inner.state) {
            listener.try_send(event);
        }
        if !inner.ended {
            inner.all.push(listener);
        }
        events
    }

    /// Sends an event to all listeners.
    pub(crate) fn send(&self, event: Event) {
        let event = Arc::new(event);
        let mut inner = self.lock();
        inner.remember(&event);
        inner.all.retain_mut(|listener| listener.try_send(&event));
        inner.ended = matches!(*event, Event::Ended { .. });
        if inner.ended {
            inner.all.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn remember(&mut self, event: &Arc<Event>) {
        let mut event = Arc::clone(event);
        match &*event {
            // The whole text follows.
            Event::Delta { .. } => return,
            Event::State(_) => {
                self.state = Some(event);
                return;
            }
            // A later listener has received no parts of it.
            Event::Text { text, agent, streamed: true } => {
                event = Arc::new(Event::Text { text: text.clone(), agent: agent.clone(), streamed: false });
            }
            // A later listener need not see answered requests.
            Event::Answered { request, .. } | Event::Withdrawn { request } => return self.forget(request),
            _ => {}
        }
        let size = size(&event);
        self.past.push_back((event, size));
        self.bytes += size;
        while self.past.len() > REMEMBERED.0 || (self.bytes > REMEMBERED.1 && self.past.len() > 1) {
            self.bytes -= self.past.pop_front().map_or(0, |(_, size)| size);
        }
    }
}

impl Inner {
    fn forget(&mut self, answered: &str) {
        let is_it = |event: &Event| matches!(event, Event::Asked(asked) if asked.request == answered);
        if let Some(at) = self.past.iter().position(|(event, _)| is_it(event)) {
            self.bytes -= self.past.remove(at).map_or(0, |(_, size)| size);
        }
    }
}

impl Listener {
    /// Queues an event; returns false if the listener is gone.
    fn try_send(&mut self, event: &Arc<Event>) -> bool {
        let (queue, missed) = match self {
            Self::Unbounded(queue) => return queue.send(Arc::clone(event)).is_ok(),
            Self::DropAndCount { queue, missed } => (queue, missed),
        };
        let behind = (*missed > 0).then(|| queue.try_send(Arc::new(Event::Missed { count: *missed })));
        if let Some(Ok(())) = behind {
            *missed = 0;
        }
        let sent = match behind {
            Some(Err(full_or_gone)) => Err(full_or_gone),
            None | Some(Ok(())) => queue.try_send(Arc::clone(event)),
        };
        match sent {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                *missed += 1;
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

fn size(event: &Event) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, event);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerState;

    fn note(text: &str) -> Event {
        Event::Note { text: text.to_owned() }
    }

    fn texts(events: &Receiver<Arc<Event>>) -> Vec<String> {
        let text = |event: Arc<Event>| match &*event {
            Event::Note { text } => text.clone(),
            Event::Missed { count } => format!("missed {count}"),
            Event::State(state) => state.as_str().to_owned(),
            other => format!("{other:?}"),
        };
        events.try_iter().map(text).collect()
    }

    #[test]
    fn a_late_listener_gets_recent_events_and_the_current_state() {
        let all = Listeners::default();
        all.send(Event::State(WorkerState::Starting));
        all.send(note("one"));
        all.send(Event::State(WorkerState::Running));
        all.send(Event::Delta { text: "piece".into() });
        let late = all.listen(QueuePolicy::DropAndCount);
        assert_eq!(texts(&late), ["one", "running"]);
        all.send(note("two"));
        assert_eq!(texts(&late), ["two"]);
        all.send(Event::Ended { state: WorkerState::Stopped });
        assert_eq!(late.iter().count(), 1, "then there is nothing more to wait for");
        assert_eq!(all.listen(QueuePolicy::DropAndCount).iter().count(), 4);
    }

    #[test]
    fn a_late_listener_does_not_get_answered_requests() {
        let all = Listeners::default();
        let request = |id: &str| {
            let asked = serde_json::json!({"tool_name": "Bash", "input": {}});
            Event::Asked(crate::PermissionRequest::read(id, &asked).unwrap())
        };
        all.send(request("r1"));
        all.send(request("r2"));
        all.send(Event::Answered { request: "r1".into(), allowed: true, granted: Vec::new() });
        all.send(Event::Text { text: "Hi".into(), agent: None, streamed: true });
        let late: Vec<_> = all.listen(QueuePolicy::DropAndCount).try_iter().collect();
        let text = Event::Text { text: "Hi".into(), agent: None, streamed: false };
        assert!(matches!(&*late[0], Event::Asked(asked) if asked.request == "r2"));
        assert_eq!((late.len(), &*late[1]), (2, &text));
    }

    #[test]
    fn a_slow_listener_learns_how_many_events_it_missed() {
        let all = Listeners::default();
        let slow = all.listen(QueuePolicy::DropAndCount);
        for _ in 0..QUEUE_CAPACITY + 5 {
            all.send(note("x"));
        }
        assert_eq!(texts(&slow).len(), QUEUE_CAPACITY);
        all.send(note("y"));
        assert_eq!(texts(&slow), ["missed 5", "y"]);
    }

    #[test]
    fn remembered_events_are_bounded() {
        let all = Listeners::default();
        for _ in 0..1000 {
            all.send(note(&"x".repeat(10_000)));
        }
        assert!(all.lock().bytes <= REMEMBERED.1);
        all.send(note(&"x".repeat(1_000_000)));
        assert_eq!(all.listen(QueuePolicy::DropAndCount).try_iter().count(), 1);
    }
}
