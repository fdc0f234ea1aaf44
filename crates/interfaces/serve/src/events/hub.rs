//! Sends each event to all listeners, and keeps the latest ones for those who come back. A listener who is too slow for
//! what is kept is told to fetch everything again; nobody waits for them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::live::watch::Live;
use axum::body::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{broadcast, watch};

/// How many events a listener may be behind.
const BEHIND: usize = 512;
/// How many events are kept for those who come back, and how many bytes of them.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 8 << 20;

/// Where events come from, and where they go.
pub(crate) struct Hub {
    sender: broadcast::Sender<Bytes>,
    kept: Mutex<Kept>,
    live: watch::Sender<Option<Live>>,
}

/// The latest events, as they are written on the stream.
struct Kept {
    /// What tells this server's events from those of one before it.
    epoch: String,
    /// The number of the latest event.
    last: u64,
    frames: VecDeque<(u64, Bytes)>,
    bytes: usize,
}

/// Where a listener begins.
pub(crate) struct Beginning {
    /// The events since the one that was heard last.
    pub(crate) missed: Vec<Bytes>,
    /// Whether there are others that nobody knows any more.
    pub(crate) is_incomplete: bool,
    /// All later events.
    pub(crate) later: broadcast::Receiver<Bytes>,
}

impl Hub {
    /// A hub without listeners.
    pub(crate) fn new(now: Timestamp) -> Self {
        let epoch = format!("{:x}", now.as_microsecond());
        let kept = Kept { epoch, last: 0, frames: VecDeque::new(), bytes: 0 };
        Self { sender: broadcast::channel(BEHIND).0, kept: Mutex::new(kept), live: watch::channel(None).0 }
    }

    /// Sends an event to everybody who listens.
    pub(crate) fn publish(&self, name: &str, data: &impl Serialize) {
        let Ok(data) = serde_json::to_string(data) else { return };
        let mut kept = self.locked();
        kept.last += 1;
        let frame = Bytes::from(format!("id: {}-{}\nevent: {name}\ndata: {data}\n\n", kept.epoch, kept.last));
        kept.keep(frame.clone());
        // Within the lock, so that nobody who joins misses it or hears it twice; nobody may be listening.
        let _ = self.sender.send(frame);
    }

    /// Joins the listeners; `heard` is the id of the last event that was heard.
    pub(crate) fn join(&self, heard: Option<&str>) -> Beginning {
        let kept = self.locked();
        let later = self.sender.subscribe();
        let since = heard.map(|heard| kept.since(heard));
        let is_incomplete = since.as_ref().is_some_and(Option::is_none);
        Beginning { missed: since.flatten().unwrap_or_default(), is_incomplete, later }
    }

    /// What tells a listener that it missed events.
    pub(crate) fn resync(&self) -> Bytes {
        let kept = self.locked();
        let data =
            json!({ "lost": null, "reason": "some events are not kept any more: fetch everything again" });
        Bytes::from(format!("id: {}-{}\nevent: resync\ndata: {data}\n\n", kept.epoch, kept.last))
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
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

    fn locked(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, frame: Bytes) {
        self.bytes += frame.len();
        self.frames.push_back((self.last, frame));
        while self.frames.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((_, frame)) = self.frames.pop_front() else { return };
            self.bytes -= frame.len();
        }
    }

    /// The events after this one; `None` where they are not all known.
    fn since(&self, heard: &str) -> Option<Vec<Bytes>> {
        let heard: u64 = heard.strip_prefix(&self.epoch)?.strip_prefix('-')?.parse().ok()?;
        let oldest = self.frames.front().map_or(self.last + 1, |(number, _)| *number);
        let is_known = heard <= self.last && heard + 1 >= oldest;
        let later = self.frames.iter().filter(|(number, _)| *number > heard);
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
    fn check(hub: &Hub, heard: Option<&str>, missed: &[&str], is_incomplete: bool) {
        let found = hub.join(heard);
        let data = |frame: &Bytes| {
            String::from_utf8_lossy(frame)
                .lines()
                .find_map(|line| line.strip_prefix("data: ").map(str::to_owned))
        };
        let found_data: Vec<_> = found.missed.iter().filter_map(data).collect();
        assert_eq!(
            (found_data, found.is_incomplete),
            (missed.iter().map(ToString::to_string).collect(), is_incomplete),
            "{heard:?}"
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
        assert_eq!(hub.join(Some("0-2")).missed.len(), KEPT);
        assert_eq!(String::from_utf8_lossy(&hub.resync()).lines().next(), Some("id: 0-4098"));
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
