//! A recorded session once more, on a clock of its own: the bytes go in when they were written, and time
//! passes in between as it did.

use jiff::Timestamp;
use model::{Activity, SessionEvent};
use transcript::record::{Record, parse};
use transcript::{Reader, SubagentMeta};

use crate::hooks::HookEvent;
use crate::{ProcessState, Tracker};

/// What was written, or became known, while a session was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedInput {
    /// Whole lines of its transcript.
    Transcript(Vec<u8>),
    /// Whole lines of a sub-agent's file.
    Subagent {
        /// The sub-agent.
        agent: String,
        /// What its side file tells.
        meta: SubagentMeta,
        /// The lines.
        lines: Vec<u8>,
    },
    /// What the registry says of its process.
    Process(ProcessState),
    /// What a hook was told.
    Hook(HookEvent),
}

/// What the session did, by what was written and when; time goes on until `until`.
///
/// Each change is told once, with the time at which it is seen.
pub fn replay(
    tracker: &mut Tracker,
    written: &[(Timestamp, RecordedInput)],
    until: Timestamp,
) -> Vec<(Timestamp, Activity)> {
    let mut seen = Vec::new();
    for (at, what) in written {
        pass(tracker, *at, &mut seen);
        match what {
            RecordedInput::Transcript(lines) => each(lines, |record| tracker.observe(record, *at)),
            RecordedInput::Subagent { agent, meta, lines } => {
                each(lines, |record| tracker.observe_subagent(agent, meta, record, *at));
            }
            RecordedInput::Process(process) => tracker.registry(process.clone(), *at),
            RecordedInput::Hook(hook) => tracker.hook(hook),
        }
        tell(tracker, *at, &mut seen);
    }
    pass(tracker, until, &mut seen);
    tell(tracker, until, &mut seen);
    seen
}

fn each(lines: &[u8], mut take: impl FnMut(&Record<'_>)) {
    let mut lines = Reader::new(lines);
    while let Ok(Some(line)) = lines.next_line() {
        if let Ok(record) = parse(line.bytes) {
            take(&record);
        }
    }
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
