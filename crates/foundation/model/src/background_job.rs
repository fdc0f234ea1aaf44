//! Claude Code's own background jobs: sessions that its daemon runs without a terminal (`claude --bg`).

use schemars::JsonSchema;
use serde::Serialize;

/// A background job of Claude Code, as its session shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackgroundJob {
    /// The short id that `claude attach`, `logs` and `stop` take.
    pub id: String,
    /// Its name: the person's, the one Claude Code chose, else the beginning of its first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What has become of it.
    pub state: BackgroundState,
    /// What it needs of a person before it can go on; only for one that is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// What it says of itself, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The states of a background job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundState {
    /// It works, or waits for something that needs no person.
    Working,
    /// It cannot go on until a person does something.
    Blocked,
    /// It has done what it was asked.
    Done,
    /// It gave up, or its process is gone.
    Failed,
    /// It was stopped.
    Stopped,
}

impl BackgroundState {
    /// The name used in JSON and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}
