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
    /// A tool's name, `question`, or what is waited for; short and safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
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
        }
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
