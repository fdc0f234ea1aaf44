//! One session as every `--json` answer shows it (`snake_case`, RFC 3339).

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use model::{Activity, AgentId, ForkOrigin, Origin, Session, SessionId, Subagent};
use serde::Serialize;

/// The facts of a session in JSON; a field that is not known is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionJson {
    /// The id.
    pub session_id: SessionId,
    /// `openclaw`, `native` or `archived`.
    pub origin: &'static str,
    /// The OpenClaw agent that started it.
    pub agent_id: Option<AgentId>,
    /// The main repository of the directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub repo_path: Option<Arc<Path>>,
    /// What people call the repository.
    pub project: Option<Arc<str>>,
    /// The directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub cwd: Option<Arc<Path>>,
    /// The branch last seen.
    pub branch: Option<Arc<str>>,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// The first thing the person wrote.
    pub first_message: Option<Arc<str>>,
    /// The last thing the person wrote.
    pub last_prompt: Option<Arc<str>>,
    /// When it began.
    pub created: Option<Timestamp>,
    /// When something last happened in it.
    pub last_modified: Option<Timestamp>,
    /// Lines of the transcript.
    pub message_count: u64,
    /// Messages a person would read.
    pub visible_messages: u64,
    /// The transcript's size.
    pub file_size_bytes: u64,
    /// Input tokens that came neither from nor went into the cache.
    pub total_input_tokens: u64,
    /// Output tokens.
    pub total_output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_tokens: u64,
    /// Tokens the model would have before it now.
    pub context_tokens: u64,
    /// The estimated price in US dollars.
    pub cost_usd: Option<f64>,
    /// The price by OpenClaw's registry, in US dollars.
    pub total_cost_usd: Option<f64>,
    /// Turns by OpenClaw's registry.
    pub total_turns: Option<u64>,
    /// The latest task OpenClaw gave it.
    pub last_task: Option<Arc<str>>,
    /// The label OpenClaw started it under.
    pub label: Option<Arc<str>>,
    /// Claude's three-word name.
    pub nickname: Option<Arc<str>>,
    /// Whether a live process holds it.
    pub is_running: bool,
    /// What it is doing, and the evidence.
    pub activity: Option<Activity>,
    /// The marker that began its first message.
    pub origin_marker: Option<Arc<str>>,
    /// How often its context was compacted.
    pub compaction_count: u64,
    /// Cost over budget, in percent.
    pub budget_used_pct: Option<f64>,
    /// The permission mode last recorded.
    pub permission_mode: Option<Arc<str>>,
    /// The version of `claude` that last wrote to it.
    pub version: Option<Arc<str>>,
    /// How it was started.
    pub entrypoint: Option<Arc<str>>,
    /// Where it was forked from.
    pub forked_from: Option<ForkOrigin>,
    /// Its sub-agents.
    pub subagents: Vec<Subagent>,
    /// Its transcript.
    #[serde(serialize_with = "model::optional_path")]
    pub file: Option<Arc<Path>>,
    /// Whether Backstory's archive holds it.
    pub archived: bool,
}

impl From<&Session> for SessionJson {
    fn from(session: &Session) -> Self {
        let session = session.clone();
        let label = match &session.origin {
            Origin::OpenClaw { label, .. } => label.as_deref().map(Arc::from),
            Origin::Native | Origin::Archived => None,
        };
        Self {
            origin: session.origin.word(),
            agent_id: session.origin.agent().cloned(),
            label,
            session_id: session.id,
            repo_path: session.repo_path,
            project: session.project,
            cwd: session.cwd,
            branch: session.branch,
            title: session.title,
            first_message: session.first_message,
            last_prompt: session.last_prompt,
            created: session.created,
            last_modified: session.last_modified,
            message_count: session.message_count,
            visible_messages: session.visible_messages,
            file_size_bytes: session.file_size,
            total_input_tokens: session.usage.input,
            total_output_tokens: session.usage.output,
            cache_read_tokens: session.usage.cache_read,
            cache_creation_tokens: session.usage.cache_write(),
            context_tokens: session.context_tokens,
            cost_usd: session.cost_usd,
            total_cost_usd: session.registry_cost_usd,
            total_turns: session.registry_turns,
            last_task: session.last_task,
            nickname: session.nickname,
            is_running: session.is_running,
            activity: session.activity,
            origin_marker: session.origin_marker,
            compaction_count: session.compactions,
            budget_used_pct: session.budget_used_pct,
            permission_mode: session.permission_mode,
            version: session.version,
            entrypoint: session.entrypoint,
            forked_from: session.forked_from,
            subagents: session.subagents,
            file: session.file,
            archived: session.archived,
        }
    }
}
