//! A short row for each session: what a list of ten thousand needs, and no more.

use jiff::Timestamp;
use model::{BackgroundJob, Origin, Session, SessionId, State};
use schemars::JsonSchema;
use serde::Serialize;

use super::short;

/// What a list shows of a session; what is absent is not known or not so.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionRow")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Row {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The short name of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The main repository of the directory it started in, else that directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The branch last seen in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What it is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// When it began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<i64>,
    /// When something last happened in it, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// Messages a person would read.
    pub messages: u64,
    /// Tokens the model would have before it.
    pub context: u64,
    /// What it has cost by list prices, else what OpenClaw says, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many sub-agents it had.
    #[serde(skip_serializing_if = "is_zero")]
    pub agents: usize,
    /// The OpenClaw agent that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<SessionId>,
    /// Whether a running process has it open.
    #[serde(skip_serializing_if = "is_false")]
    pub running: bool,
    /// The background job of Claude Code that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_job: Option<Box<BackgroundJob>>,
    /// Whether only Backstory's archive, or a registry, still has it.
    #[serde(skip_serializing_if = "is_false")]
    pub gone: bool,
    /// Whether Backstory's archive has a copy.
    #[serde(skip_serializing_if = "is_false")]
    pub archived: bool,
    /// Whether the person pinned it.
    #[serde(skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// Whether the person hid it.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The tags that the person gave it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The beginning of the person's note on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The row of a session.
pub fn row(session: Session) -> Row {
    let annotations = session.annotations.map(|annotations| *annotations).unwrap_or_default();
    Row {
        state: session.activity.as_ref().map(|activity| activity.state),
        title: session.title.as_deref().map(short),
        project: session.project.map(|name| name.to_string()),
        path: session.repo_path.or(session.cwd).map(|path| path.display().to_string()),
        branch: session.branch.map(|branch| branch.to_string()),
        created: session.created.map(Timestamp::as_millisecond),
        last: session.last_modified.map(Timestamp::as_millisecond),
        messages: session.visible_messages,
        context: session.context_tokens,
        cost: session.cost_usd.or(session.registry_cost_usd),
        agents: session.subagents.len(),
        agent: session.origin.agent().map(ToString::to_string),
        fork_of: session.forked_from.map(|origin| origin.session_id),
        running: session.is_running,
        background_job: session.background_job,
        gone: session.file.is_none() || matches!(session.origin, Origin::Archived | Origin::Ghost),
        archived: session.archived,
        pinned: annotations.pinned,
        hidden: annotations.hidden,
        tags: annotations.tags,
        note: annotations.note.as_deref().map(short),
        id: session.id,
    }
}
