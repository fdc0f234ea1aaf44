//! Where a session comes from.

use serde::{Deserialize, Serialize};

use crate::AgentId;

/// Who began a session, as far as anything on disk says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Only Backstory's archive still holds it.
    Archived,
}

impl Origin {
    /// The word used in JSON and in `--origin`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::OpenClaw { .. } => "openclaw",
            Self::Native => "native",
            Self::Archived => "archived",
        }
    }

    /// The agent, where there is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::OpenClaw { agent, .. } => Some(agent),
            Self::Native | Self::Archived => None,
        }
    }
}
