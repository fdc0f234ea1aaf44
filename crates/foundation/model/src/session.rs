//! The facts of one conversation.

mod json;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Activity, Annotations, BackgroundJob, Origin, ResumeCost, Resumption, SessionId, SessionStarts, Usage,
};
use json::SessionJson;

/// One conversation, merged from every source that mentions it. Its strings are shared, because thousands of sessions
/// have the same project, branch and version.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "SessionJson")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Session {
    /// Its id: the stem of its transcript's name.
    pub id: SessionId,
    /// The program that started the session.
    pub origin: Origin,
    /// The transcript, when one exists on disk.
    pub file: Option<Arc<Path>>,
    /// Other files with its id in which the conversation goes on otherwise; not in JSON.
    pub diverged: Vec<Arc<Path>>,
    /// The main repository of the directory it started in, else that directory.
    pub repo_path: Option<Arc<Path>>,
    /// The short name of the repository: the last component of `repo_path`.
    pub project: Option<Arc<str>>,
    /// The directory it started in.
    pub cwd: Option<Arc<Path>>,
    /// The other directories that it was in, as recorded; not in JSON.
    pub visited: Vec<Arc<Path>>,
    /// The branch last seen on the main chain; never `HEAD` or empty.
    pub branch: Option<Arc<str>>,
    /// The title: the person's own, the CLI's model's, an old summary, else the first prompt.
    pub title: Option<Arc<str>>,
    /// The title that the person gave it in Claude Code.
    pub custom_title: Option<Arc<str>>,
    /// What the person annotated it with in Backstory.
    pub annotations: Option<Box<Annotations>>,
    /// The first thing the person wrote, at most 200 characters.
    pub first_message: Option<Arc<str>>,
    /// The last thing the person wrote, at most 200 characters.
    pub last_prompt: Option<Arc<str>>,
    /// The time of the first record.
    pub created: Option<Timestamp>,
    /// The last record's time, else the file's.
    pub last_modified: Option<Timestamp>,
    /// When a person started the session, and returned to it after a pause.
    pub beginnings: SessionStarts,
    /// Lines in the transcript.
    pub message_count: u64,
    /// Messages a person would read.
    pub visible_messages: u64,
    /// The transcript's size, in bytes.
    pub file_size: u64,
    /// Tokens, each API message counted once, for the session that first had it.
    pub usage: Usage,
    /// Tokens the model would have before it now.
    pub context_tokens: u64,
    /// What its transcript says about continuing it.
    pub resumption: Resumption,
    /// What continuing it costs, where that was asked for.
    pub resume_cost: Option<Box<ResumeCost>>,
    /// Estimated price in US dollars; `None` when a model is unknown.
    pub cost_usd: Option<f64>,
    /// The cost in US dollars according to OpenClaw's registry.
    pub registry_cost_usd: Option<f64>,
    /// Turns, from OpenClaw's registry.
    pub registry_turns: Option<u64>,
    /// The most recent task OpenClaw gave it.
    pub last_task: Option<Arc<str>>,
    /// Claude's three-word name of the session.
    pub nickname: Option<Arc<str>>,
    /// Whether a running process has the session open.
    pub is_running: bool,
    /// Whether the person left the session with `/exit` and has not written since.
    pub was_exited: bool,
    /// The current activity, if there is evidence for it.
    pub activity: Option<Activity>,
    /// The background job of Claude Code that the session is, if it is one.
    pub background_job: Option<Box<BackgroundJob>>,
    /// The marker that began its first message, as written.
    pub origin_marker: Option<Arc<str>>,
    /// The number of compactions of the context.
    pub compactions: u64,
    /// Cost over its budget, in percent, when both are known.
    pub budget_used_pct: Option<f64>,
    /// The permission mode last recorded.
    pub permission_mode: Option<Arc<str>>,
    /// The version of `claude` that wrote the last record.
    pub version: Option<Arc<str>>,
    /// The entrypoint the session was started by: `cli`, `sdk-cli`, `claude-vscode`, …
    pub entrypoint: Option<Arc<str>>,
    /// The session it was forked from.
    pub forked_from: Option<ForkOrigin>,
    /// The sub-agents of the session.
    pub subagents: Vec<Subagent>,
    /// Its place in a team of agents.
    pub team: Option<Box<TeamPlace>>,
    /// Whether it is the one in which the question is asked.
    pub is_asking: bool,
    /// How many sessions of the same program it stands for in a list.
    pub folded: u64,
    /// The parts of the transcript that could not be read exactly.
    pub damage: Damage,
    /// Whether its transcript is gone, or cannot be read, and Backstory's archive is where it is read.
    pub archived: bool,
    /// How many bytes of the transcript the archive's copy lacks, because it was deleted while it was copied.
    pub missing_bytes: u64,
    /// By when its transcript was deleted, where the archive noticed it.
    pub deleted_at: Option<Timestamp>,
    /// The folder of its transcript, where that cannot be read: nobody knows whether the transcript is gone.
    pub unreadable_folder: Option<Arc<Path>>,
    /// Whether it is a conversation that OpenClaw keeps itself, and no session of Claude Code.
    pub is_conversation: bool,
}

/// The parts of a transcript that could not be read exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema, Deserialize)]
pub struct Damage {
    /// Lines that give no record.
    pub unreadable_lines: u64,
    /// The number of lines in which U+FFFD replaces bytes that are not UTF-8.
    pub mended_lines: u64,
    /// Whether the file ends in the middle of a line.
    pub is_cut_off: bool,
}

impl Session {
    /// Whether the person hid it: then it is offered by its id alone.
    pub fn is_hidden(&self) -> bool {
        self.annotations.as_deref().is_some_and(|annotations| annotations.hidden)
    }

    /// Whether it belongs to the repository with this root, however that is spelled.
    pub fn is_of_repository(&self, root: &Path) -> bool {
        self.repo_path.as_deref().is_some_and(|own| crate::is_same_path(own, root))
    }

    /// Creates a session of which only the id is known.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            origin: Origin::Native,
            file: None,
            diverged: Vec::new(),
            repo_path: None,
            project: None,
            cwd: None,
            visited: Vec::new(),
            branch: None,
            title: None,
            custom_title: None,
            annotations: None,
            first_message: None,
            last_prompt: None,
            created: None,
            last_modified: None,
            beginnings: SessionStarts::default(),
            message_count: 0,
            visible_messages: 0,
            file_size: 0,
            usage: Usage::default(),
            context_tokens: 0,
            resumption: Resumption::default(),
            resume_cost: None,
            cost_usd: None,
            registry_cost_usd: None,
            registry_turns: None,
            last_task: None,
            nickname: None,
            is_running: false,
            was_exited: false,
            activity: None,
            background_job: None,
            origin_marker: None,
            compactions: 0,
            budget_used_pct: None,
            permission_mode: None,
            version: None,
            entrypoint: None,
            forked_from: None,
            subagents: Vec::new(),
            team: None,
            is_asking: false,
            folded: 0,
            damage: Damage::default(),
            archived: false,
            missing_bytes: 0,
            deleted_at: None,
            unreadable_folder: None,
            is_conversation: false,
        }
    }
}

/// The origin of a fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ForkOrigin {
    /// The session whose records were copied.
    pub session_id: SessionId,
    /// The last copied record, where known.
    pub message_uuid: Option<String>,
}

/// A session's place in a team of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct TeamPlace {
    /// The team.
    pub name: String,
    /// The teammate whose session it is; `null` where it is the lead's.
    pub agent: Option<String>,
}

/// A run of the Task or Agent tool inside a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Subagent {
    /// Its id, without `agent-`.
    pub id: String,
    /// `general-purpose`, or the name of a custom agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The short description the sub-agent was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The path of the sub-agent's transcript.
    #[serde(serialize_with = "crate::path")]
    pub file: PathBuf,
}
