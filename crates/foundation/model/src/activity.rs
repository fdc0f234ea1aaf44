//! The activity of a session: its state and the evidence for it.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// One session's state with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ActivityJson")]
pub struct Activity {
    /// The current state.
    pub state: State,
    /// Where the state was read from.
    pub evidence: Evidence,
    /// When the state began, if the evidence says so.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// The name of the tool that is running or waits for permission.
    pub tool: Option<String>,
    /// A short text that is safe to show: what the tool does, `question`, or `question: ` followed by what the
    /// session waits for; why the turn failed.
    pub detail: Option<String>,
    /// What a person is asked, where that is known: the question, or the command or file that waits for permission.
    #[serde(default)]
    pub asking: Option<String>,
}

/// An activity in JSON: with what it needs of a person, so that nobody has to derive that.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Activity")]
struct ActivityJson {
    /// The current state.
    state: State,
    /// What the session needs of a person; absent where it needs nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<Need>,
    /// Where the state was read from.
    evidence: Evidence,
    /// When the state began, if the evidence says so.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_time")]
    since: Option<Timestamp>,
    /// The name of the tool that is running or waits for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// A short text that is safe to show: what the tool does, `question`, or `question: ` followed by what the
    /// session waits for; why the turn failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// What a person is asked, where that is known: the question, or the command or file that waits for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    asking: Option<String>,
}

impl From<Activity> for ActivityJson {
    fn from(activity: Activity) -> Self {
        let needs = activity.needs();
        let Activity { state, evidence, since, tool, detail, asking } = activity;
        Self { state, needs, evidence, since, tool, detail, asking }
    }
}

impl JsonSchema for Activity {
    fn schema_name() -> Cow<'static, str> {
        ActivityJson::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ActivityJson::json_schema(generator)
    }
}

/// What a session needs of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A permission: it cannot go on without.
    Permission,
    /// The answer to a question: it cannot go on without.
    Answer,
    /// The next prompt: it has done what it was asked.
    Prompt,
}

impl Need {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Answer => "answer",
            Self::Prompt => "prompt",
        }
    }
}

impl Activity {
    /// Creates an activity without tool and detail.
    pub fn new(state: State, evidence: Evidence, since: Option<Timestamp>) -> Self {
        Self { state, evidence, since, tool: None, detail: None, asking: None }
    }

    /// What it needs of a person.
    pub fn needs(&self) -> Option<Need> {
        match self.state {
            State::WaitingPermission => Some(Need::Permission),
            State::WaitingInput if self.is_blocked() => Some(Need::Answer),
            State::WaitingInput | State::Failed => Some(Need::Prompt),
            _ => None,
        }
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
    /// The turn ended with an error of the API; the detail is its reason.
    Failed,
    /// The process left the session in good order.
    Ended,
    /// The process ended without saying so; it was killed.
    Lost,
}

impl Evidence {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
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
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Thinking => "thinking",
            Self::ToolUse => "tool_use",
            Self::Responding => "responding",
            Self::WaitingInput => "waiting_input",
            Self::WaitingPermission => "waiting_permission",
            Self::Failed => "failed",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }

    /// The name for clients that know only the six older states.
    pub fn legacy_str(self) -> &'static str {
        match self {
            Self::Failed => Self::WaitingInput.as_str(),
            Self::Ended | Self::Lost => Self::Idle.as_str(),
            Self::Idle
            | Self::Thinking
            | Self::ToolUse
            | Self::Responding
            | Self::WaitingInput
            | Self::WaitingPermission => self.as_str(),
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
