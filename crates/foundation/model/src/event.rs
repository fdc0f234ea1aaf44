//! The events of the event stream.
//!
//! Two front ends expect two sets of names and fields, so events carry both. `docs/events.json` shows every event as
//! it is written.

mod session_info;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Activity, SessionId, State};
pub use session_info::SessionInfo;

/// A fact that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "kebab-case")]
pub enum SessionEvent {
    /// Every session there is, at the beginning and after events were lost.
    SessionsRefresh {
        /// All sessions.
        sessions: Vec<SessionInfo>,
    },
    /// A session was found that was not there before.
    SessionCreated(Box<SessionInfo>),
    /// Details of a session changed.
    SessionUpdated(Box<SessionInfo>),
    /// A session's transcript is gone.
    SessionRemoved {
        /// The session's key, see [`SessionInfo::key`].
        key: String,
        /// The session's id.
        #[serde(rename = "sessionId")]
        session_id: SessionId,
    },
    /// A session does something else now.
    SessionActivity(SessionActivity),
    /// A message, a tool call or another step of a conversation.
    SessionEvent(ConversationEvent),
    /// A sub-agent was started.
    SubagentSpawned(SubagentEvent),
    /// A sub-agent does something.
    SubagentProgress(SubagentEvent),
    /// A sub-agent is through.
    SubagentCompleted(SubagentEvent),
    /// The agent of a worker announced something to the user of its chat.
    Announcement(AnnouncementEvent),
    /// The list of sessions is another one now.
    SessionsChanged {
        /// The agent program the sessions belong to; see [`SOURCE`].
        source: &'static str,
    },
    /// The listener missed events, so its state may be out of date.
    Resync {
        /// The approximate number of lost events.
        lost: u64,
    },
    /// The way files are watched has changed.
    Watching(WatchStatus),
}

impl SessionEvent {
    /// The event's name on the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionsRefresh { .. } => "sessions-refresh",
            Self::SessionCreated(_) => "session-created",
            Self::SessionUpdated(_) => "session-updated",
            Self::SessionRemoved { .. } => "session-removed",
            Self::SessionActivity(_) => "session-activity",
            Self::SessionEvent(_) => "session-event",
            Self::SubagentSpawned(_) => "subagent-spawned",
            Self::SubagentProgress(_) => "subagent-progress",
            Self::SubagentCompleted(_) => "subagent-completed",
            Self::Announcement(_) => "announcement",
            Self::SessionsChanged { .. } => "sessions-changed",
            Self::Resync { .. } => "resync",
            Self::Watching(_) => "watching",
        }
    }

    /// The session it is about.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::SessionCreated(info) | Self::SessionUpdated(info) => Some(&info.session_id),
            Self::SessionRemoved { session_id, .. } => Some(session_id),
            Self::SessionActivity(event) => Some(&event.session_id),
            Self::SessionEvent(event) => Some(&event.session_id),
            Self::SubagentSpawned(event) | Self::SubagentProgress(event) | Self::SubagentCompleted(event) => {
                Some(&event.session_id)
            }
            Self::Announcement(event) => Some(&event.session_id),
            Self::SessionsRefresh { .. }
            | Self::SessionsChanged { .. }
            | Self::Resync { .. }
            | Self::Watching(_) => None,
        }
    }
}

/// The value of `source` for sessions of Claude Code.
pub const SOURCE: &str = "claude_code";

/// A session does something else now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionActivity {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's key, see [`SessionInfo::key`].
    pub session_key: String,
    /// The state in one of the older six words.
    pub activity: &'static str,
    /// The name of the tool that is running or waits for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// A short description of the tool call that is safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<String>,
    /// The state in all its words.
    pub state: State,
    /// Where the state was read from.
    pub evidence: crate::Evidence,
    /// The time at which the state began.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_time")]
    pub since: Option<Timestamp>,
    /// As an [`Activity`] has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What the session needs of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<crate::Need>,
    /// What a person is asked, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking: Option<String>,
}

impl SessionActivity {
    /// The event of an activity.
    pub fn new(session: &SessionId, activity: &Activity) -> Self {
        Self {
            session_id: session.clone(),
            session_key: SessionInfo::key(session),
            activity: activity.state.legacy_str(),
            tool_name: activity.tool.clone(),
            tool_input: activity.tool.as_ref().and(activity.detail.clone()),
            state: activity.state,
            evidence: activity.evidence,
            since: activity.since,
            detail: activity.detail.clone(),
            needs: activity.needs(),
            asking: activity.asking.clone(),
        }
    }

    /// Whether the session cannot continue until a person acts.
    pub fn is_blocked(&self) -> bool {
        crate::activity::is_blocked(self.state, self.detail.as_deref())
    }
}

/// A message, a tool call or another step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationEvent {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's key, see [`SessionInfo::key`].
    pub session_key: String,
    /// `user_message`, `assistant_text`, `thinking`, `tool_use`, `tool_result`, `turn_complete`, `interrupted`,
    /// `error`, `progress`, `hook`.
    pub event_type: &'static str,
    /// The agent program the session belongs to; see [`SOURCE`].
    pub source: &'static str,
    /// The name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// A short description of the tool call that is safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The name of the hook that reported the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_name: Option<String>,
    /// The time of the record.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_time")]
    pub at: Option<Timestamp>,
}

/// A sub-agent's beginning, progress or end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentEvent {
    /// The session it works for.
    pub session_id: SessionId,
    /// The tool use that started it.
    pub task_id: String,
    /// Its own id, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The task of the sub-agent that started it, where it was not the session itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// The short description the sub-agent was started with.
    pub description: String,
    /// `general-purpose`, or the name of a custom agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Whether the session continues while the sub-agent works.
    pub background: bool,
    /// The tool it called last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Since when it works.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::optional_time")]
    pub since: Option<Timestamp>,
}

/// What the agent of a worker announced to the user of its chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnouncementEvent {
    /// The worker's session.
    pub session_id: SessionId,
    /// The session's key, see [`SessionInfo::key`].
    pub session_key: String,
    /// The message.
    pub message: String,
    /// When it was announced.
    #[serde(serialize_with = "crate::time")]
    pub at: Timestamp,
}

impl AnnouncementEvent {
    /// The event of an announcement.
    pub fn new(session: SessionId, message: String, at: Timestamp) -> Self {
        Self { session_key: SessionInfo::key(&session), session_id: session, message, at }
    }
}

/// The way Backstory watches files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WatchStatus {
    /// Whether the operating system reports changes; otherwise files are polled every second.
    pub events: bool,
    /// Why not, or what is not covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackgroundJob, BackgroundState, Evidence};

    fn info() -> SessionInfo {
        let at = Timestamp::from_millisecond(1_795_187_760_726).ok();
        SessionInfo {
            session_id: "469a19a4-0000-4000-8000-000000000001".parse().unwrap(),
            activity: Activity {
                state: State::WaitingPermission,
                evidence: Evidence::Registry,
                since: at,
                tool: Some("Bash".into()),
                detail: Some("Delete build".into()),
                asking: Some("rm -rf build".into()),
            },
            title: Some("Tidy the build".into()),
            cwd: Some("/home/ana/web".into()),
            project: Some("web".into()),
            branch: Some("main".into()),
            model: Some("claude-opus-5-5".into()),
            context_tokens: 12_316,
            created: at,
            last_activity: at,
            pid: Some(17702),
            subagents: vec![subagent()],
            background_job: None,
        }
    }

    fn subagent() -> SubagentEvent {
        SubagentEvent {
            session_id: info_id(),
            task_id: "toolu_01".into(),
            subagent_id: Some("a1da0b6c".into()),
            parent_task_id: None,
            description: "Count the files".into(),
            subagent_type: Some("general-purpose".into()),
            background: true,
            tool_name: Some("Grep".into()),
            since: None,
        }
    }

    fn info_id() -> SessionId {
        "469a19a4-0000-4000-8000-000000000001".parse().unwrap()
    }

    /// Compares every event with `docs/events.json`; a failure prints the expected content.
    #[test]
    fn every_event_is_written_as_documented() {
        let moment = ConversationEvent {
            session_id: info_id(),
            session_key: SessionInfo::key(&info_id()),
            event_type: "tool_use",
            source: SOURCE,
            tool_name: Some("Bash".into()),
            detail: Some("Delete build".into()),
            hook_name: None,
            at: info().created,
        };
        let mut job = info();
        job.background_job = Some(BackgroundJob {
            id: "469a19a4".into(),
            name: Some("tidy the build".into()),
            state: BackgroundState::Blocked,
            needs: Some("approve Bash: rm -rf build".into()),
            detail: Some("Delete build".into()),
        });
        let ended = Activity::new(State::Ended, Evidence::Registry, info().created);
        let events = [
            SessionEvent::SessionsRefresh { sessions: vec![info()] },
            SessionEvent::SessionCreated(Box::new(info())),
            SessionEvent::SessionUpdated(Box::new(info())),
            SessionEvent::SessionUpdated(Box::new(job)),
            SessionEvent::SessionRemoved { key: SessionInfo::key(&info_id()), session_id: info_id() },
            SessionEvent::SessionActivity(SessionActivity::new(&info_id(), &info().activity)),
            SessionEvent::SessionActivity(SessionActivity::new(&info_id(), &ended)),
            SessionEvent::SessionEvent(moment),
            SessionEvent::SubagentSpawned(subagent()),
            SessionEvent::SubagentProgress(subagent()),
            SessionEvent::SubagentCompleted(subagent()),
            SessionEvent::Announcement(AnnouncementEvent::new(
                info_id(),
                "The build is green again.".into(),
                info().created.unwrap(),
            )),
            SessionEvent::SessionsChanged { source: SOURCE },
            SessionEvent::Resync { lost: 3 },
            SessionEvent::Watching(WatchStatus { events: false, reason: Some("too many watches".into()) }),
        ];
        for event in &events {
            let json = serde_json::to_value(event).unwrap();
            assert_eq!(json["event"], event.name());
        }
        let written = serde_json::to_string_pretty(&events).unwrap() + "\n";
        let golden = include_str!("../../../../docs/events.json");
        assert!(written == golden, "docs/events.json should be:\n{written}");
    }

    #[test]
    fn a_session_without_a_title_is_called_by_its_project() {
        let mut info = info();
        info.title = None;
        assert_eq!(serde_json::to_value(&info).unwrap()["label"], "web (469a19)");
        info.project = None;
        assert_eq!(serde_json::to_value(&info).unwrap()["label"], "Claude Code 469a19a4");
    }
}
