//! A recorded session once more, on a clock of its own: the bytes go in when they were written, and time
//! passes in between as it did.

use jiff::Timestamp;
use model::{Activity, SessionEvent};
use transcript::Reader;
use transcript::record::parse;

use crate::Tracker;

/// What the session did, by the bytes that were written to its file and when; time goes on until `until`.
///
/// Each change is told once, with the time at which it is seen.
pub fn replay(
    tracker: &mut Tracker,
    written: &[(Timestamp, Vec<u8>)],
    until: Timestamp,
) -> Vec<(Timestamp, Activity)> {
    let mut seen = Vec::new();
    for (at, bytes) in written {
        pass(tracker, *at, &mut seen);
        let mut lines = Reader::new(bytes.as_slice());
        while let Ok(Some(line)) = lines.next_line() {
            if let Ok(record) = parse(line.bytes) {
                tracker.observe(&record, *at);
            }
        }
        tell(tracker, *at, &mut seen);
    }
    pass(tracker, until, &mut seen);
    tell(tracker, until, &mut seen);
    seen
}

/// Stops at each moment before `at` at which time alone may change something.
fn pass(tracker: &mut Tracker, at: Timestamp, seen: &mut Vec<(Timestamp, Activity)>) {
    let mut now = tracker.heard().unwrap_or(at);
    while let Some(next) = tracker.next_deadline(now).filter(|next| *next < at) {
        now = next;
        tell(tracker, now, seen);
    }
}

fn tell(tracker: &mut Tracker, at: Timestamp, seen: &mut Vec<(Timestamp, Activity)>) {
    let changed = tracker.tick(at).iter().any(|event| matches!(event, SessionEvent::SessionActivity(_)));
    if changed {
        seen.push((at, tracker.activity(at)));
    }
}
