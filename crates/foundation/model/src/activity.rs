//! The activity of a session: its state and the evidence for it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One session's state with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Activity {
    /// The current state.
    pub state: State,
    /// Where the state was read from.
    pub evidence: Evidence,
    /// When the state began, if the evidence says so.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_time", default)]
    pub since: Option<Timestamp>,
    /// The name of the tool that is running or waits for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A short text that is safe to show: what the tool does, `question`, or `question: ` followed by what the
    /// session waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Activity {
    /// Creates an activity without tool and detail.
    pub fn new(state: State, evidence: Evidence, since: Option<Timestamp>) -> Self {
        Self { state, evidence, since, tool: None, detail: None }
    }

    /// Whether the session cannot continue until a person answers a permission request or a question.
    pub fn is_blocked(&self) -> bool {
        is_blocked(self.state, self.detail.as_deref())
    }
}

/// The detail of an activity that waits for the answer to a question; what is waited for may follow, after a colon.
pub const QUESTION: &str = "question";

/// Whether a session in this state and with this detail cannot continue until a person acts.
pub(crate) fn is_blocked(state: State, detail: Option<&str>) -> bool {
    let asks = |detail: &str| {
        detail.strip_prefix(QUESTION).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    state == State::WaitingPermission || (state == State::WaitingInput && detail.is_some_and(asks))
}

/// The states of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No live process, or nothing happens.
    Idle,
    /// A turn runs and no block has come yet.
    Thinking,
    /// A tool is running and no permission is requested.
    ToolUse,
    /// Text is being written.
    Responding,
    /// Alive, and the turn is over or a question is open.
    WaitingInput,
    /// A tool waits for permission.
    WaitingPermission,
    /// The process left the session in good order.
    Ended,
    /// The process ended without saying so; it was killed.
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

    /// Whether a turn is running that needs no answer from a person.
    pub fn is_working(self) -> bool {
        matches!(self, Self::Thinking | Self::ToolUse | Self::Responding)
    }
}

/// The source a state was read from, most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The protocol of a process that Backstory started.
    Protocol,
    /// Claude Code's own live registry.
    Registry,
    /// A hook of Claude Code.
    Hook,
    /// The transcript's last records.
    Transcript,
    /// The time since the last record; a guess.
    Timer,
}
