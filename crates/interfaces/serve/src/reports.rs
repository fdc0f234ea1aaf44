//! What the server reports, passed on by a thread of its own: a paused terminal or a pipe that nobody reads delays no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use app::{Error, Kind};

use crate::notice::{Notice, Reporter};

/// How many notices wait while the program does not take them; more of them are dropped and counted.
const MOST_WAITING: usize = 4096;

/// How long to wait between attempts to enter a full queue.
const PAUSE: Duration = Duration::from_millis(5);

/// Passes notices on in their order, without ever waiting for the program that takes them.
#[derive(Clone)]
pub(crate) struct Reports {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

enum Entry {
    Notice(Notice),
    /// Answered when everything before it was passed on.
    Flush(Sender<()>),
}

impl Reports {
    /// Starts the thread that calls the reporter.
    pub(crate) fn start(reporter: Reporter) -> Result<Self, Error> {
        let (queue, waiting) = sync_channel(MOST_WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let thread = thread::Builder::new().name("reports".to_owned());
        let started = thread.spawn(move || pass_on(&waiting, &counted, &*reporter));
        started.map_err(|error| Error::caused(Kind::Unavailable, "cannot start a thread", &error))?;
        Ok(Self { queue, dropped })
    }

    /// Queues a notice; where the queue is full, it is only counted.
    pub(crate) fn send(&self, notice: Notice) {
        if self.queue.try_send(Entry::Notice(notice)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything queued was passed on, or the timeout is over.
    pub(crate) fn flush(&self, timeout: Duration) {
        let (done, passed) = channel();
        let until = Instant::now() + timeout;
        let mut entry = Entry::Flush(done);
        // A stuck reporter must not keep the server from stopping.
        while let Err(TrySendError::Full(back)) = self.queue.try_send(entry) {
            if Instant::now() >= until {
                return;
            }
            entry = back;
            thread::park_timeout(PAUSE);
        }
        let _ = passed.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

fn pass_on(waiting: &Receiver<Entry>, dropped: &AtomicU64, report: &dyn Fn(Notice)) {
    for entry in waiting {
        match entry {
            Entry::Notice(notice) => report(notice),
            Entry::Flush(done) => drop(done.send(())),
        }
        let count = dropped.swap(0, Ordering::Relaxed);
        if count > 0 {
            report(Notice::Dropped { count });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_stuck_reporter_delays_nobody_and_learns_what_it_missed() {
        let (free, held) = channel::<()>();
        let held = Mutex::new(held);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let writes = Arc::clone(&seen);
        let reporter: Reporter = Arc::new(move |notice| {
            // Returns at once when the sender is gone.
            let _ = held.lock().unwrap().recv();
            writes.lock().unwrap().push(notice);
        });
        let reports = Reports::start(reporter).unwrap();
        for number in 0..MOST_WAITING + 10 {
            reports.send(Notice::Warning(number.to_string()));
        }
        drop(free);
        reports.flush(Duration::from_mins(1));
        let seen = seen.lock().unwrap();
        let passed = seen.iter().filter(|notice| matches!(notice, Notice::Warning(_))).count();
        let dropped: u64 = seen
            .iter()
            .filter_map(|notice| match notice {
                Notice::Dropped { count } => Some(*count),
                _ => None,
            })
            .sum();
        assert!(dropped >= 9, "{dropped}");
        assert_eq!(passed as u64 + dropped, MOST_WAITING as u64 + 10);
    }
}
