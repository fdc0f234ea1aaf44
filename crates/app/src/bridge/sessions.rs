//! `openclaw_session_list`: the sessions of the worker's repository that its agent may know of.

use jiff::Timestamp;
use model::{AgentId, Origin, Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bridge::Bridge;
use crate::sessions::select;
use crate::{Caller, Context, Error};

/// The most sessions of one answer.
const MAX_SESSIONS: usize = 50;

/// Which sessions to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BridgeSessionsRequest")]
pub struct Request {
    /// Whether to list sessions that people started, too; default true.
    pub include_native: Option<bool>,
}

/// The sessions, running first, then newest.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeSessions")]
pub struct Answer {
    /// At most fifty of them, running ones first.
    pub sessions: Vec<DiscoveredSession>,
    /// How many there are.
    pub total: usize,
    /// How many of them a live process holds.
    pub active_count: usize,
}

/// A session as OpenClaw describes it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredSession {
    /// The id that names its transcript.
    pub session_id: SessionId,
    /// `openclaw`, or `native-only` for one that a person started.
    pub source: &'static str,
    /// The agent that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The branch last seen; empty where none is known.
    pub branch: String,
    /// The beginning of the first prompt.
    pub first_message: String,
    /// When something last happened in it.
    #[serde(serialize_with = "model::optional_time")]
    pub last_modified: Option<Timestamp>,
    /// Lines of the transcript.
    pub message_count: u64,
    /// What it has cost in US dollars: as OpenClaw counted it, else an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost_usd: Option<f64>,
    /// Turns as OpenClaw counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_turns: Option<u64>,
    /// The latest task that OpenClaw gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_task: Option<String>,
    /// The label that OpenClaw gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether a live process holds it.
    pub is_running: bool,
}

/// The sessions of the worker's repository.
pub fn session_list(context: &Context, bridge: &Bridge, request: &Request) -> Result<Answer, Error> {
    let mut sessions = of_repository(context, bridge)?;
    if request.include_native == Some(false) {
        sessions.retain(|session| session.origin.agent().is_some());
    }
    Ok(Answer {
        total: sessions.len(),
        active_count: sessions.iter().filter(|session| session.is_running).count(),
        sessions: sessions.iter().take(MAX_SESSIONS).map(DiscoveredSession::from).collect(),
    })
}

/// The sessions of the worker's repository: its agent's and those that people started, never another agent's, and none of
/// a project that the person's settings keep from models.
pub(super) fn of_repository(context: &Context, bridge: &Bridge) -> Result<Vec<Session>, Error> {
    let root = catalog::repository(&context.config().places(), &bridge.directory);
    // A worker's own view holds its agent's sessions only.
    let of_models = Context { caller: Caller::Assistant, ..context.clone() };
    let mut sessions = select::all(&of_models)?.sessions;
    sessions.retain(|session| {
        let is_known = session.origin.agent().is_none_or(|agent| *agent == bridge.agent);
        is_known && session.is_of_repository(&root)
    });
    Ok(sessions)
}

impl From<&Session> for DiscoveredSession {
    fn from(session: &Session) -> Self {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        let label = match &session.origin {
            Origin::OpenClaw { label, .. } => label.clone(),
            Origin::Native | Origin::Archived | Origin::Ghost => None,
        };
        Self {
            session_id: session.id.clone(),
            source: if session.origin.agent().is_some() { "openclaw" } else { "native-only" },
            agent_id: session.origin.agent().cloned(),
            branch: text(&session.branch).unwrap_or_default(),
            first_message: text(&session.first_message).unwrap_or_default(),
            last_modified: session.last_modified,
            message_count: session.message_count,
            total_cost_usd: session.registry_cost_usd.or(session.cost_usd),
            total_turns: session.registry_turns,
            last_task: text(&session.last_task),
            label,
            is_running: session.is_running,
        }
    }
}
