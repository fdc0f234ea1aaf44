//! Publishes each event to all subscribers, and keeps the latest ones for clients that reconnect. A subscriber that is too slow
//! has to fetch everything again; no other waits for it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use app::live::watch::Live;
use axum::body::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, broadcast, watch};

/// How many events a subscriber may be behind.
const CAPACITY: usize = 512;
/// For how long a snapshot is given to those who join: hundreds of them join at once when a server starts again.
const FRESH: Duration = Duration::from_secs(2);
/// How many events are kept for clients that reconnect, and how many bytes of them.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 8 << 20;

/// What events say of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// What our own types say.
    Own,
    /// What CrewHub's front end expects: its keys, names and rows of sub-agents.
    CrewHub,
}

/// An event as it is written on a stream, in both dialects.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    own: Bytes,
    crew: Bytes,
}

/// An event's name and its data.
pub(crate) type Named = (&'static str, Value);

/// Where events come from, and where they go.
pub(crate) struct Hub {
    sender: broadcast::Sender<Frame>,
    history: Mutex<History>,
    live: watch::Sender<Option<Live>>,
    /// The latest snapshot in each dialect; who joins while one is made waits for it.
    snapshots: [AsyncMutex<Option<Snapshot>>; 2],
}

/// All sessions at one moment.
#[derive(Debug, Clone)]
struct Snapshot {
    made: Instant,
    /// The id of the event before it.
    id: String,
    frame: Bytes,
}

/// The latest events, as they are written on the stream.
struct History {
    /// Distinguishes this server's events from those of one before it.
    epoch: String,
    /// The number of the latest event.
    last: u64,
    frames: VecDeque<(u64, Frame)>,
    bytes: usize,
}

/// Where a subscriber begins.
pub(crate) struct Subscription {
    /// The events since the one that was received last.
    pub(crate) missed: Vec<Frame>,
    /// Whether there are others that are not kept any more.
    pub(crate) is_incomplete: bool,
    /// All later events.
    pub(crate) later: broadcast::Receiver<Frame>,
}

impl Frame {
    /// The bytes for a subscriber.
    pub(crate) fn bytes(&self, dialect: Dialect) -> Bytes {
        match dialect {
            Dialect::Own => self.own.clone(),
            Dialect::CrewHub => self.crew.clone(),
        }
    }

    fn len(&self) -> usize {
        let is_shared = self.own.as_ptr() == self.crew.as_ptr();
        self.own.len() + if is_shared { 0 } else { self.crew.len() }
    }
}

impl Hub {
    /// A hub without subscribers.
    pub(crate) fn new(now: Timestamp) -> Self {
        let epoch = format!("{:x}", now.as_microsecond());
        let history = History { epoch, last: 0, frames: VecDeque::new(), bytes: 0 };
        Self {
            sender: broadcast::channel(CAPACITY).0,
            history: Mutex::new(history),
            live: watch::channel(None).0,
            snapshots: Default::default(),
        }
    }

    /// Publishes an event that is the same for all subscribers.
    pub(crate) fn publish(&self, name: &str, data: &impl Serialize) {
        let Ok(data) = serde_json::to_string(data) else { return };
        self.send(|id| {
            let bytes = written(id, name, &data);
            Frame { own: bytes.clone(), crew: bytes }
        });
    }

    /// Publishes an event that is another one, or several, for CrewHub's front end. The last of several has the id: who
    /// comes back after the first one gets them all.
    pub(crate) fn publish_both(&self, own: &Named, crew: &[Named]) {
        self.send(|id| {
            let mut group = Vec::new();
            if let Some(((name, data), before)) = crew.split_last() {
                for (name, data) in before {
                    group.extend(unnumbered(name, &data.to_string()).into_bytes());
                }
                group.extend(written(id, name, &data.to_string()));
            }
            Frame { own: written(id, own.0, &own.1.to_string()), crew: Bytes::from(group) }
        });
    }

    /// Publishes an event for CrewHub's front end alone.
    pub(crate) fn publish_to_crewhub(&self, crew: &Named) {
        self.send(|id| Frame { own: Bytes::new(), crew: written(id, crew.0, &crew.1.to_string()) });
    }

    fn send(&self, frame: impl FnOnce(&str) -> Frame) {
        let mut history = self.locked();
        history.last += 1;
        let frame = frame(&format!("{}-{}", history.epoch, history.last));
        history.keep(frame.clone());
        // Within the lock, so that a new subscriber neither misses it nor gets it twice; there may be none.
        let _ = self.sender.send(frame);
    }

    /// Subscribes; `received` is the id of the last event that was received.
    pub(crate) fn subscribe(&self, received: Option<&str>) -> Subscription {
        let history = self.locked();
        let later = self.sender.subscribe();
        let since = received.map(|received| history.since(received));
        let is_incomplete = since.as_ref().is_some_and(Option::is_none);
        Subscription { missed: since.flatten().unwrap_or_default(), is_incomplete, later }
    }

    /// Subscribes with a snapshot, which is made where there is no fresh one; events since then follow it.
    pub(crate) async fn subscribe_with_snapshot(
        &self,
        dialect: Dialect,
        make: impl Future<Output = Option<Bytes>>,
    ) -> (Option<Bytes>, Subscription) {
        let mut known = self.snapshots[dialect as usize].lock().await;
        if let Some(snapshot) = known.as_ref().filter(|known| known.made.elapsed() < FRESH) {
            let subscription = self.subscribe(Some(&snapshot.id));
            if !subscription.is_incomplete {
                return (Some(snapshot.frame.clone()), subscription);
            }
        }
        let (id, subscription) = (self.last_id(), self.subscribe(None));
        let frame = make.await;
        *known = frame.clone().map(|frame| Snapshot { made: Instant::now(), id, frame });
        (frame, subscription)
    }

    fn last_id(&self) -> String {
        let history = self.locked();
        format!("{}-{}", history.epoch, history.last)
    }

    /// The event for a subscriber that missed others.
    pub(crate) fn resync(&self) -> Bytes {
        let history = self.locked();
        let data =
            json!({ "lost": null, "reason": "some events are not kept any more: fetch everything again" });
        Bytes::from(format!("id: {}-{}\nevent: resync\ndata: {data}\n\n", history.epoch, history.last))
    }

    /// How many subscribers there are.
    pub(crate) fn subscribers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// The handle on what sessions do, once they are watched.
    pub(crate) fn live(&self) -> Option<Live> {
        self.live.borrow().clone()
    }

    /// Sessions are watched from now on, or not any more.
    pub(crate) fn set_live(&self, live: Option<Live>) {
        self.live.send_replace(live);
    }

    fn locked(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn written(id: &str, name: &str, data: &str) -> Bytes {
    Bytes::from(format!("id: {id}\n{}", unnumbered(name, data)))
}

/// An event without an id.
pub(super) fn unnumbered(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

impl History {
    fn keep(&mut self, frame: Frame) {
        self.bytes += frame.len();
        self.frames.push_back((self.last, frame));
        while self.frames.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((_, frame)) = self.frames.pop_front() else { return };
            self.bytes -= frame.len();
        }
    }

    /// The events after this one; `None` where they are not all known.
    fn since(&self, received: &str) -> Option<Vec<Frame>> {
        let received: u64 = received.strip_prefix(&self.epoch)?.strip_prefix('-')?.parse().ok()?;
        let oldest = self.frames.front().map_or(self.last + 1, |(number, _)| *number);
        let is_known = received <= self.last && received + 1 >= oldest;
        let later = self.frames.iter().filter(|(number, _)| *number > received);
        is_known.then(|| later.map(|(_, frame)| frame.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(events: usize) -> Hub {
        let hub = Hub::new(Timestamp::UNIX_EPOCH);
        for number in 1..=events {
            hub.publish("tick", &number);
        }
        hub
    }

    #[track_caller]
    fn check(hub: &Hub, received: Option<&str>, missed: &[&str], is_incomplete: bool) {
        let found = hub.subscribe(received);
        let data = |frame: &Frame| {
            String::from_utf8_lossy(&frame.own)
                .lines()
                .find_map(|line| line.strip_prefix("data: ").map(str::to_owned))
        };
        let found_data: Vec<_> = found.missed.iter().filter_map(data).collect();
        assert_eq!(
            (found_data, found.is_incomplete),
            (missed.iter().map(ToString::to_string).collect(), is_incomplete),
            "{received:?}"
        );
    }

    #[test]
    fn who_comes_back_gets_what_was_missed() {
        let hub = hub(3);
        check(&hub, None, &[], false);
        check(&hub, Some("0-1"), &["2", "3"], false);
        check(&hub, Some("0-3"), &[], false);
        check(&hub, Some("0-0"), &["1", "2", "3"], false);
        for strange in ["0-4", "1-1", "0", "0-x", "", "0-18446744073709551615"] {
            check(&hub, Some(strange), &[], true);
        }
    }

    #[test]
    fn what_is_not_kept_any_more_is_said() {
        let hub = hub(KEPT + 2);
        check(&hub, Some("0-1"), &[], true);
        assert_eq!(hub.subscribe(Some("0-2")).missed.len(), KEPT);
        assert_eq!(String::from_utf8_lossy(&hub.resync()).lines().next(), Some("id: 0-4098"));
    }

    #[test]
    fn an_event_can_be_another_one_for_the_other_front_end() {
        let hub = hub(0);
        hub.publish_both(&("a", json!(1)), &[("b", json!(2)), ("c", json!(3))]);
        let frame = &hub.subscribe(Some("0-0")).missed[0];
        assert_eq!(frame.bytes(Dialect::Own), "id: 0-1\nevent: a\ndata: 1\n\n");
        assert_eq!(frame.bytes(Dialect::CrewHub), "event: b\ndata: 2\n\nid: 0-1\nevent: c\ndata: 3\n\n");
    }

    #[tokio::test]
    async fn those_who_join_at_once_share_a_snapshot_and_get_what_happened_since() {
        let hub = hub(3);
        let count = std::cell::Cell::new(0);
        let make = async || {
            count.set(count.get() + 1);
            Some(Bytes::from_static(b"all"))
        };
        let (first, subscription) = hub.subscribe_with_snapshot(Dialect::Own, make()).await;
        assert_eq!((first.as_deref(), subscription.missed.len()), (Some(&b"all"[..]), 0));
        hub.publish("tick", &4);
        let (second, subscription) = hub.subscribe_with_snapshot(Dialect::Own, make()).await;
        assert_eq!((second.as_deref(), subscription.missed.len(), count.get()), (Some(&b"all"[..]), 1, 1));
        // Too much has happened since.
        for number in 0..=KEPT {
            hub.publish("tick", &number);
        }
        let (_, subscription) = hub.subscribe_with_snapshot(Dialect::Own, make()).await;
        assert_eq!((subscription.missed.len(), subscription.is_incomplete, count.get()), (0, false, 2));
        let _ = hub.subscribe_with_snapshot(Dialect::CrewHub, make()).await;
        assert_eq!(count.get(), 3);
    }

    #[test]
    fn few_large_events_are_kept() {
        let hub = Hub::new(Timestamp::UNIX_EPOCH);
        let large = "x".repeat(KEPT_BYTES / 4);
        for _ in 0..8 {
            hub.publish("large", &large);
        }
        assert!(hub.locked().bytes <= KEPT_BYTES && hub.locked().frames.len() == 3);
    }
}
