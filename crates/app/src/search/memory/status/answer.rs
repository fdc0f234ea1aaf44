//! The request and the answer of `memory status`.

use std::path::PathBuf;

use model::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::SourceKind;

/// Whose memory to look at.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "MemoryStatusRequest")]
pub struct Request {
    /// Report on this agent only; on all of them by default.
    pub agent: Option<AgentId>,
    /// Whether to test semantic search, too.
    pub deep: bool,
    /// Whether to bring the index up to date first; this tests semantic search, too.
    pub index: bool,
}

/// What is known of the memory of each agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "MemoryStatusAnswer")]
pub struct Answer(pub Vec<AgentStatus>);

/// What is known of one agent's memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemoryOfAgent")]
pub struct AgentStatus {
    /// The agent's id in OpenClaw.
    pub agent_id: AgentId,
    /// What is indexed, and how it is searched.
    pub status: IndexStatus,
    /// The files on disk, whether they are indexed or not.
    pub scan: Scan,
    /// The test of semantic search; absent if it was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_probe: Option<Probe>,
    /// Why the index could not be brought up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_error: Option<String>,
}

/// What is indexed for an agent, and how it is searched.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemoryIndex")]
pub struct IndexStatus {
    /// How many files are indexed.
    pub files: u64,
    /// How many pieces of text are indexed.
    pub chunks: u64,
    /// Whether something is not indexed yet.
    pub dirty: bool,
    /// The agent's workspace.
    #[serde(serialize_with = "model::path")]
    pub workspace_dir: PathBuf,
    /// The folder of the index.
    #[serde(serialize_with = "model::path")]
    pub db_path: PathBuf,
    /// Who embeds texts: `local` or `openai`.
    pub provider: &'static str,
    /// The embedding model: `built-in`, a folder, a name on the hub, or the endpoint's model.
    pub model: String,
    /// The same as `provider`.
    pub requested_provider: &'static str,
    /// The sources that are searched.
    pub sources: Vec<SourceKind>,
    /// Notes outside the workspace, from OpenClaw's settings.
    pub extra_paths: Vec<String>,
    /// How Claude Code's sessions are searched, from OpenClaw's settings.
    pub claude_sessions: MemoryClaudeSessions,
    /// What is indexed of each source.
    pub source_counts: Vec<Count>,
    /// Whether embeddings are cached; never.
    pub cache: Cache,
    /// Whether search by words is possible.
    pub fts: MemoryPart,
    /// Whether search by meaning is possible.
    pub vector: MemoryPart,
    /// Whether embeddings are requested in batches; never.
    pub batch: Batch,
    /// Which provider the built-in table replaces; `null` if none.
    pub fallback: Option<Fallback>,
}

/// OpenClaw's settings for Claude Code's sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemoryClaudeSessions")]
pub struct MemoryClaudeSessions {
    /// Whether they are searched.
    pub enabled: bool,
    /// The only folder of them that is searched.
    #[serde(serialize_with = "model::optional_path")]
    pub path: Option<PathBuf>,
    /// Whether they are watched.
    pub watch: bool,
    /// The project that is meant where none is named.
    pub default_project: Option<String>,
}

/// What is indexed of one source.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MemorySourceCount")]
pub struct Count {
    /// The kind of source that is counted.
    pub source: SourceKind,
    /// How many of its files are indexed.
    pub files: u64,
    /// How many pieces of text they have.
    pub chunks: u64,
}

/// A cache of embeddings.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "MemoryCache")]
pub struct Cache {
    /// Whether there is one.
    pub enabled: bool,
    /// How much it holds.
    pub entries: u64,
}

/// A way to search.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MemoryPart")]
pub struct MemoryPart {
    /// Whether it is turned on.
    pub enabled: bool,
    /// Whether there is an index for it.
    pub available: bool,
}

/// How texts are embedded in batches, as OpenClaw reports it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "MemoryBatch")]
pub struct Batch {
    /// Whether it is turned on.
    pub enabled: bool,
}

/// Which provider the built-in table replaces, and why.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MemoryFallback")]
pub struct Fallback {
    /// The provider that did not answer.
    pub from: &'static str,
    /// Why it did not.
    pub reason: String,
}

/// A test of semantic search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "MemoryProbe")]
pub struct Probe {
    /// Whether a text could be embedded.
    pub ok: bool,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The files of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemoryScan")]
pub struct Scan {
    /// The files of each source.
    pub sources: Vec<SourceScan>,
    /// How many files there are.
    pub total_files: usize,
    /// What is wrong with them.
    pub issues: Vec<String>,
}

/// The files of one source.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemorySourceScan")]
pub struct SourceScan {
    /// The kind of source that is counted.
    pub source: SourceKind,
    /// How many files there are.
    pub total_files: usize,
    /// What is wrong with them.
    pub issues: Vec<String>,
}
