//! The names of origins in requests: who started a session.

use model::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who started a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OriginName {
    /// Started by an agent of OpenClaw's.
    OpenClaw,
    /// A person, an editor's extension or a script.
    Native,
    /// Nobody knows any more: only the archive still has the session.
    Archived,
    /// No transcript is left: other files of Claude Code's still tell of the session.
    Ghost,
}

impl OriginName {
    /// The name used in JSON and in `--origin`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::Native => "native",
            Self::Archived => "archived",
            Self::Ghost => "ghost",
        }
    }
}

impl From<&Origin> for OriginName {
    fn from(origin: &Origin) -> Self {
        match origin {
            Origin::OpenClaw { .. } => Self::OpenClaw,
            Origin::Native => Self::Native,
            Origin::Archived => Self::Archived,
            Origin::Ghost => Self::Ghost,
        }
    }
}
