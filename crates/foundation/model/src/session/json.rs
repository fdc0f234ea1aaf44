//! A session in JSON (`snake_case`, RFC 3339): every answer that holds one shows it so.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    Activity, AgentId, Annotations, BackgroundJob, ForkOrigin, Origin, ResumeCost, Session, SessionId,
    Subagent, TeamPlace,
};

/// The facts of a session in JSON; a field that is not known is `null`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(super) struct SessionJson {
    /// The session's id: the UUID that names its transcript.
    session_id: SessionId,
    /// `openclaw`, `native`, `archived` or `ghost`.
    origin: &'static str,
    /// `conversation` where OpenClaw keeps it itself; a session of Claude Code has no kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The OpenClaw agent that started it.
    agent_id: Option<AgentId>,
    /// The main repository of the directory it started in.
    #[serde(serialize_with = "crate::optional_path")]
    repo_path: Option<Arc<Path>>,
    /// What people call the repository.
    project: Option<Arc<str>>,
    /// The directory it started in.
    #[serde(serialize_with = "crate::optional_path")]
    cwd: Option<Arc<Path>>,
    /// The branch last seen.
    branch: Option<Arc<str>>,
    /// The session's title, by the ladder of titles.
    title: Option<Arc<str>>,
    /// Its name, tags, note and pin from the person; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Box<Annotations>>,
    /// The first thing the person wrote.
    first_message: Option<Arc<str>>,
    /// The last thing the person wrote.
    last_prompt: Option<Arc<str>>,
    /// The time of its first record.
    #[serde(serialize_with = "crate::optional_time")]
    created: Option<Timestamp>,
    /// When something last happened in it.
    #[serde(serialize_with = "crate::optional_time")]
    last_modified: Option<Timestamp>,
    /// Lines of the transcript.
    message_count: u64,
    /// Messages a person would read.
    visible_messages: u64,
    /// The transcript's size in bytes, without sub-agents.
    file_size_bytes: u64,
    /// Input tokens that came neither from nor went into the cache.
    total_input_tokens: u64,
    /// Tokens that models wrote, in all.
    total_output_tokens: u64,
    /// Tokens read from the cache.
    cache_read_tokens: u64,
    /// Tokens written to the cache.
    cache_creation_tokens: u64,
    /// Tokens the model would have before it now.
    context_tokens: u64,
    /// What resuming it costs; only in lists, and only for a session that is not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    resume_cost: Option<Box<ResumeCost>>,
    /// The estimated price in US dollars.
    cost_usd: Option<f64>,
    /// The price by OpenClaw's registry, in US dollars.
    total_cost_usd: Option<f64>,
    /// Turns by OpenClaw's registry.
    total_turns: Option<u64>,
    /// The latest task OpenClaw gave it.
    last_task: Option<Arc<str>>,
    /// The label OpenClaw started it under.
    label: Option<Arc<str>>,
    /// Claude's three-word name.
    nickname: Option<Arc<str>>,
    /// Whether a live process holds it.
    is_running: bool,
    /// What it is doing, and the evidence.
    activity: Option<Activity>,
    /// The background job of Claude Code that it is; absent where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    background_job: Option<Box<BackgroundJob>>,
    /// The marker that began its first message.
    origin_marker: Option<Arc<str>>,
    /// How often its context was compacted.
    compaction_count: u64,
    /// Cost over budget, in percent.
    budget_used_pct: Option<f64>,
    /// The permission mode last recorded.
    permission_mode: Option<Arc<str>>,
    /// The version of `claude` that last wrote to it.
    version: Option<Arc<str>>,
    /// How it was started.
    entrypoint: Option<Arc<str>>,
    /// Where it was forked from.
    forked_from: Option<ForkOrigin>,
    /// The sub-agents that the session started.
    subagents: Vec<Subagent>,
    /// Its place in a team of agents; absent where it is in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<Box<TeamPlace>>,
    /// Whether it is the session that asks; absent where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    this_conversation: bool,
    /// How many sessions of the same program are folded into it; absent where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    folded: u64,
    /// The path of the session's transcript.
    #[serde(serialize_with = "crate::optional_path")]
    file: Option<Arc<Path>>,
    /// Whether its transcript is gone, or cannot be read, and Backstory's archive is where it is read.
    archived: bool,
    /// How many bytes at the end of the transcript the archive's copy lacks; absent where it is whole.
    #[serde(skip_serializing_if = "is_zero")]
    missing_bytes: u64,
    /// By when its transcript was deleted; absent where it is not, or where nobody noticed when.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<Timestamp>,
    /// The folder of its transcript, where that cannot be read: nobody knows whether the transcript is gone.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_path")]
    unreadable_folder: Option<Arc<Path>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl JsonSchema for Session {
    fn schema_name() -> Cow<'static, str> {
        SessionJson::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SessionJson::json_schema(generator)
    }
}

impl From<Session> for SessionJson {
    fn from(session: Session) -> Self {
        let label = match &session.origin {
            Origin::OpenClaw { label, .. } => label.as_deref().map(Arc::from),
            Origin::Native | Origin::Archived | Origin::Ghost => None,
        };
        Self {
            origin: session.origin.as_str(),
            kind: session.is_conversation.then_some("conversation"),
            agent_id: session.origin.agent().cloned(),
            label,
            session_id: session.id,
            repo_path: session.repo_path,
            project: session.project,
            cwd: session.cwd,
            branch: session.branch,
            title: session.title,
            annotations: session.annotations,
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
            resume_cost: session.resume_cost,
            cost_usd: session.cost_usd,
            total_cost_usd: session.registry_cost_usd,
            total_turns: session.registry_turns,
            last_task: session.last_task,
            nickname: session.nickname,
            is_running: session.is_running,
            activity: session.activity,
            background_job: session.background_job,
            origin_marker: session.origin_marker,
            compaction_count: session.compactions,
            budget_used_pct: session.budget_used_pct,
            permission_mode: session.permission_mode,
            version: session.version,
            entrypoint: session.entrypoint,
            forked_from: session.forked_from,
            subagents: session.subagents,
            team: session.team,
            this_conversation: session.is_asking,
            folded: session.folded,
            file: session.file,
            archived: session.archived,
            missing_bytes: session.missing_bytes,
            deleted_at: session.deleted_at,
            unreadable_folder: session.unreadable_folder,
        }
    }
}
