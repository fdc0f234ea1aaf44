//! Replays a recorded session with its own clock: inputs arrive when they were written, and time passes in
//! between.

use jiff::Timestamp;
use model::{Activity, SessionEvent};
use transcript::record::Record;
use transcript::{Reader, SubagentMeta};

use crate::hooks::HookEvent;
use crate::{ProcessState, Tracker};

/// An input recorded for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedInput {
    /// Complete lines of the transcript.
    Transcript(Vec<u8>),
    /// Complete lines of a sub-agent's file.
    Subagent {
        /// Id of the sub-agent.
        agent: String,
        /// Content of the sub-agent's side file.
        meta: SubagentMeta,
        /// The lines that were appended, with their line ends.
        lines: Vec<u8>,
    },
    /// Information from the registry about the process.
    Process(ProcessState),
    /// An event reported to a hook.
    Hook(HookEvent),
}

/// Returns each change of activity with the time it was seen. Time continues until `until`.
pub fn replay(
    tracker: &mut Tracker,
    written: &[(Timestamp, RecordedInput)],
    until: Timestamp,
) -> Vec<(Timestamp, Activity)> {
    let mut seen = Vec::new();
    for (at, what) in written {
        advance(tracker, *at, &mut seen);
        match what {
            RecordedInput::Transcript(lines) => each(lines, |record| tracker.observe(record, *at)),
            RecordedInput::Subagent { agent, meta, lines } => {
                each(lines, |record| tracker.observe_subagent(agent, meta, record, *at));
            }
            RecordedInput::Process(process) => tracker.registry(process.clone(), *at),
            RecordedInput::Hook(hook) => tracker.hook(hook),
        }
        report(tracker, *at, &mut seen);
    }
    advance(tracker, until, &mut seen);
    report(tracker, until, &mut seen);
    seen
}

fn each(lines: &[u8], mut take: impl FnMut(&Record<'_>)) {
    let mut lines = Reader::new(lines);
    while let Ok(Some(line)) = lines.next_line() {
        if let Ok(record) = line.record() {
            take(&record);
        }
    }
}

/// Ticks the tracker at each deadline before `at`.
fn advance(tracker: &mut Tracker, at: Timestamp, seen: &mut Vec<(Timestamp, Activity)>) {
    let mut now = tracker.last_active().unwrap_or(at);
    while let Some(next) = tracker.next_deadline(now).filter(|next| *next < at) {
        now = next;
        report(tracker, now, seen);
    }
}

fn report(tracker: &mut Tracker, at: Timestamp, seen: &mut Vec<(Timestamp, Activity)>) {
    let changed = tracker.tick(at).iter().any(|event| matches!(event, SessionEvent::SessionActivity(_)));
    if changed {
        seen.push((at, tracker.activity(at)));
    }
}
