//! The request of `memory search`.

use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::SourceKind;

/// A question to the memory.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "MemorySearchRequest")]
pub struct Request {
    /// What to look for; `#name` limits it to a project.
    pub query: String,
    /// Only this agent's memory, and Claude Code's sessions.
    pub agent: Option<AgentId>,
    /// Only Claude Code's sessions of this project.
    pub project: Option<String>,
    /// Search this source only; all of them by default.
    pub source: Option<SourceKind>,
    /// Only this conversation: OpenClaw's key or a session's id.
    pub session: Option<String>,
    /// At most so many results; the number of OpenClaw's settings without it, else 6.
    #[schemars(range(min = 1))]
    pub max_results: Option<usize>,
    /// Leaves out results that score less, from 0 to 1; the score of OpenClaw's settings without it, else 0.35.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f64>,
    /// Whether to show Claude sessions whose conversation OpenClaw has, too.
    #[serde(default)]
    pub include_owned: bool,
}
