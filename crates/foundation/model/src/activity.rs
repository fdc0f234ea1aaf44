//! What a session is doing now, and how we know.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One session's state with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// What it is doing.
    pub state: State,
    /// The sign that says so.
    pub evidence: Evidence,
    /// Since when, where the sign tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The tool that is open or asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool does, `question`, `question: ` with what is waited for, or what else is said of it; short and
    /// safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Activity {
    /// A state with nothing else to say.
    pub fn new(state: State, evidence: Evidence, since: Option<Timestamp>) -> Self {
        Self { state, evidence, since, tool: None, detail: None }
    }

    /// Whether a person has to do something before it can go on: a permission or a question is open.
    pub fn is_blocked(&self) -> bool {
        is_blocked(self.state, self.detail.as_deref())
    }
}

/// The detail of an activity that waits for the answer to a question; what is waited for may follow, after a colon.
pub const QUESTION: &str = "question";

/// Whether a person has to do something before a session of this state and detail can go on.
pub(crate) fn is_blocked(state: State, detail: Option<&str>) -> bool {
    let asks = |detail: &str| {
        detail.strip_prefix(QUESTION).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    state == State::WaitingPermission || (state == State::WaitingInput && detail.is_some_and(asks))
}

/// The states of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No live process, or nothing happens.
    Idle,
    /// A turn runs and no block has come yet.
    Thinking,
    /// A tool is open and nobody is asked.
    ToolUse,
    /// Text is being written.
    Responding,
    /// Alive, and the turn is over or a question is open.
    WaitingInput,
    /// A permission is asked for.
    WaitingPermission,
    /// The process left the session in good order.
    Ended,
    /// The process is gone and did not say so: it was killed.
    Lost,
}

impl Evidence {
    /// The word used in JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Registry => "registry",
            Self::Hook => "hook",
            Self::Transcript => "transcript",
            Self::Timer => "timer",
        }
    }
}

impl State {
    /// The word used in JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Thinking => "thinking",
            Self::ToolUse => "tool_use",
            Self::Responding => "responding",
            Self::WaitingInput => "waiting_input",
            Self::WaitingPermission => "waiting_permission",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }

    /// The word where only the older six are known.
    pub fn legacy_word(self) -> &'static str {
        match self {
            Self::Ended | Self::Lost => Self::Idle.word(),
            Self::Idle
            | Self::Thinking
            | Self::ToolUse
            | Self::Responding
            | Self::WaitingInput
            | Self::WaitingPermission => self.word(),
        }
    }

    /// Whether a turn runs and nobody is asked.
    pub fn is_working(self) -> bool {
        matches!(self, Self::Thinking | Self::ToolUse | Self::Responding)
    }
}

/// Where a state was read from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// We own the process and speak its protocol.
    Protocol,
    /// Claude Code's own live registry.
    Registry,
    /// A Claude Code hook told us.
    Hook,
    /// The transcript's last records.
    Transcript,
    /// Silence; a guess.
    Timer,
}
