//! The minute that `watch --demo` plays: what some of the made-up sessions would do if they were open. Nothing runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use model::{Activity, Evidence, QUESTION, SessionActivity, SessionEvent, SessionId, SessionInfo, State};

use crate::live::facts::Listed;

/// A step: the second in which it comes, the session, and what that does from then on.
type Step = (u64, &'static str, DemoActivity);

const TOKENS: &str = "1ba1de03-4b78-5244-9858-2706428e076f";
const FLAKY: &str = "7716132d-3f5d-5688-9ea3-601cc410800c";
const FORK: &str = "80048f3c-7d0f-54dd-996d-d569f78d3a62";

/// The steps in their order.
const STEPS: [Step; 14] = [
    (0, TOKENS, DemoActivity::Thinking),
    (0, FLAKY, DemoActivity::Tool("Bash", "Run the tests")),
    (0, FORK, DemoActivity::Done),
    (4, TOKENS, DemoActivity::Tool("Edit", "refresh.ts")),
    (
        8,
        TOKENS,
        DemoActivity::Asks("Should a token that was used twice end the whole session, or only that device?"),
    ),
    (14, FLAKY, DemoActivity::Thinking),
    (
        18,
        FLAKY,
        DemoActivity::Permission("Bash", "npm install --save-dev fake-timers && npm test -- --repeat 50"),
    ),
    (26, TOKENS, DemoActivity::Thinking),
    (30, TOKENS, DemoActivity::Tool("Bash", "Run the tests")),
    (34, FLAKY, DemoActivity::Tool("Bash", "Run the tests")),
    (38, TOKENS, DemoActivity::Answers),
    (42, TOKENS, DemoActivity::Done),
    (48, FLAKY, DemoActivity::Answers),
    (54, FLAKY, DemoActivity::Done),
];

/// What a session does in the play.
#[derive(Debug, Clone, Copy)]
enum DemoActivity {
    Thinking,
    Answers,
    Done,
    Tool(&'static str, &'static str),
    Permission(&'static str, &'static str),
    Asks(&'static str),
}

/// The play, from the moment it began.
#[derive(Debug)]
pub(crate) struct Play {
    began: Instant,
    /// The next events; a step is a change of the session and then the event about it.
    waiting: Vec<Arc<SessionEvent>>,
    next: usize,
}

impl Play {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), waiting: Vec::new(), next: 0 }
    }

    /// How long it is until something happens; `None` when all has.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        if !self.waiting.is_empty() {
            return Some(Duration::ZERO);
        }
        let (second, ..) = STEPS.get(self.next)?;
        Some(Duration::from_secs(*second).saturating_sub(self.began.elapsed()))
    }

    /// What happens now, of the sessions that are listed, if anything does.
    pub(crate) fn next(&mut self, listed: &Listed, now: Timestamp) -> Option<Arc<SessionEvent>> {
        if self.waiting.is_empty() && self.due_in()?.is_zero() {
            let (_, session, doing) = STEPS[self.next];
            self.next += 1;
            self.waiting = events(session, doing, listed, now);
        }
        self.waiting.pop()
    }
}

/// The events of a step, the last one first.
fn events(session: &str, doing: DemoActivity, listed: &Listed, now: Timestamp) -> Vec<Arc<SessionEvent>> {
    let Ok(session_id) = session.parse::<SessionId>() else { return Vec::new() };
    let activity = doing.activity(now);
    let news = SessionEvent::SessionActivity(SessionActivity::new(&session_id, &activity));
    let mut info = SessionInfo {
        session_id: session_id.clone(),
        activity,
        title: None,
        cwd: None,
        project: None,
        branch: None,
        model: None,
        context_tokens: 0,
        created: None,
        last_activity: Some(now),
        // A made-up session has no process.
        pid: None,
        subagents: Vec::new(),
        background_job: None,
    };
    if let Some(facts) = listed.get(&session_id) {
        facts.complete(&mut info);
        info.context_tokens = facts.context_tokens;
    }
    [news, SessionEvent::SessionUpdated(Box::new(info))].map(Arc::new).into()
}

impl DemoActivity {
    fn activity(self, now: Timestamp) -> Activity {
        let state = match self {
            Self::Thinking => State::Thinking,
            Self::Answers => State::Responding,
            Self::Done | Self::Asks(_) => State::WaitingInput,
            Self::Tool(..) => State::ToolUse,
            Self::Permission(..) => State::WaitingPermission,
        };
        let (tool, detail, asking) = match self {
            Self::Thinking | Self::Answers | Self::Done => (None, None, None),
            Self::Tool(tool, detail) => (Some(tool), Some(detail), None),
            Self::Permission(tool, command) => (Some(tool), None, Some(command)),
            Self::Asks(question) => (Some("AskUserQuestion"), Some(QUESTION), Some(question)),
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let since = now.checked_sub(SignedDuration::from_secs(1)).unwrap_or(now);
        Activity {
            tool: owned(tool),
            detail: owned(detail),
            asking: owned(asking),
            ..Activity::new(state, Evidence::Registry, Some(since))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_minute_ends_with_no_blocked_session() {
        let mut last = std::collections::BTreeMap::new();
        let mut needs = Vec::new();
        let mut before = 0;
        for (second, session, doing) in STEPS {
            assert!(before <= second && second < 60, "{second}");
            before = second;
            let activity = doing.activity(Timestamp::UNIX_EPOCH);
            needs.extend(activity.needs());
            last.insert(session, activity);
        }
        assert!(last.values().all(|activity| !activity.is_blocked()));
        let words: std::collections::BTreeSet<_> = needs.iter().map(|need| need.as_str()).collect();
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["answer", "permission", "prompt"]);
    }
}
