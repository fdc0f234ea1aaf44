//! The program that started a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentId;

/// The program that started a session, as far as the files tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// An OpenClaw agent's registry names it, or its first message carries the agent's marker.
    OpenClaw {
        /// The agent that started it.
        agent: AgentId,
        /// The label it was started under, when the registry has one.
        label: Option<String>,
    },
    /// A person, an editor's extension or a script started it directly.
    Native,
    /// Only Backstory's archive still has the session.
    Archived,
    /// Its transcript is gone and was never copied: other files of Claude Code's still tell of it.
    Ghost,
}

impl Origin {
    /// The name used in JSON and in `--origin`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::OpenClaw { .. } => "openclaw",
            Self::Native => "native",
            Self::Archived => "archived",
            Self::Ghost => "ghost",
        }
    }

    /// The agent, where there is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::OpenClaw { agent, .. } => Some(agent),
            Self::Native | Self::Archived | Self::Ghost => None,
        }
    }
}
