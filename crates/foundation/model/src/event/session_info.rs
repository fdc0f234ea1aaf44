//! A session in the event stream, with the names and fields of both front ends.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::{SOURCE, SubagentEvent};
use crate::{Activity, BackgroundJob, SessionId};

/// A session as the stream shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "SessionInfoJson")]
pub struct SessionInfo {
    /// The session's id.
    pub session_id: SessionId,
    /// The current activity.
    pub activity: Activity,
    /// Its title, where one is known.
    pub title: Option<String>,
    /// The directory it works in.
    pub cwd: Option<PathBuf>,
    /// The short name of the repository.
    pub project: Option<String>,
    /// The branch last seen.
    pub branch: Option<String>,
    /// The model that answers.
    pub model: Option<String>,
    /// Tokens the model would have before it now.
    pub context_tokens: u64,
    /// The time of the first record.
    pub created: Option<Timestamp>,
    /// The time of the last event.
    pub last_activity: Option<Timestamp>,
    /// The id of the process that runs the session.
    pub pid: Option<u32>,
    /// Its sub-agents that are not through.
    pub subagents: Vec<SubagentEvent>,
    /// The background job of Claude Code that the session is, if it is one.
    pub background_job: Option<BackgroundJob>,
}

impl SessionInfo {
    /// The session's key in the event stream.
    pub fn key(id: &SessionId) -> String {
        format!("claude:{id}")
    }
}

/// The fields on the wire: the full ones first, then the thin ones.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SessionInfo")]
struct SessionInfoJson {
    key: String,
    session_id: SessionId,
    source: &'static str,
    connection_id: &'static str,
    agent_id: &'static str,
    channel: &'static str,
    kind: &'static str,
    label: String,
    model: Option<String>,
    status: &'static str,
    #[serde(serialize_with = "milliseconds")]
    #[schemars(with = "Option<i64>")]
    created_at: Option<Timestamp>,
    #[serde(serialize_with = "milliseconds")]
    #[schemars(with = "Option<i64>")]
    last_activity: Option<Timestamp>,
    #[serde(serialize_with = "milliseconds")]
    #[schemars(with = "Option<i64>")]
    updated_at: Option<Timestamp>,
    /// Whether it has written anything: a session that was just started has no transcript to ask for.
    has_transcript: bool,
    project_path: Option<PathBuf>,
    git_branch: Option<String>,
    context_tokens: u64,
    summary: Option<String>,
    activity_detail: Option<String>,
    activity_tool_name: Option<String>,
    pid: Option<u32>,
    activity: Activity,
    subagents: Vec<SubagentEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background_job: Option<BackgroundJob>,
    session_key: String,
    #[serde(rename = "project_name")]
    thin_project: Option<String>,
    #[serde(rename = "activity_detail")]
    thin_detail: Option<String>,
    #[serde(rename = "activity_tool_name")]
    thin_tool: Option<String>,
}

impl JsonSchema for SessionInfo {
    fn schema_name() -> Cow<'static, str> {
        SessionInfoJson::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SessionInfoJson::json_schema(generator)
    }
}

impl From<SessionInfo> for SessionInfoJson {
    fn from(info: SessionInfo) -> Self {
        let key = SessionInfo::key(&info.session_id);
        let short = info.session_id.short();
        let label = info.title.clone().unwrap_or_else(|| match &info.project {
            Some(project) => format!("{project} ({})", short.get(..6).unwrap_or(short)),
            None => format!("Claude Code {short}"),
        });
        // A session of this second has written nothing yet, and clients sort by these times.
        let last_activity = info.last_activity.or(info.activity.since);
        Self {
            session_key: key.clone(),
            key,
            source: SOURCE,
            connection_id: "local-claude",
            agent_id: "main",
            channel: "claude-code",
            kind: "session",
            label,
            model: info.model,
            status: info.activity.state.legacy_str(),
            created_at: info.created.or(last_activity),
            last_activity,
            updated_at: last_activity,
            has_transcript: info.created.is_some(),
            project_path: info.cwd,
            git_branch: info.branch,
            context_tokens: info.context_tokens,
            summary: info.title,
            activity_detail: info.activity.detail.clone(),
            activity_tool_name: info.activity.tool.clone(),
            pid: info.pid,
            thin_project: info.project,
            thin_detail: info.activity.detail.clone(),
            thin_tool: info.activity.tool.clone(),
            activity: info.activity,
            subagents: info.subagents,
            background_job: info.background_job,
            session_id: info.session_id,
        }
    }
}

#[expect(clippy::ref_option, reason = "the shape that serde asks for")]
fn milliseconds<S: Serializer>(at: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::as_millisecond).serialize(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evidence, State};

    #[test]
    fn a_session_that_has_written_nothing_yet_has_the_times_of_its_activity() {
        let id: SessionId = "3601d36f-b6c0-4e4b-9000-7b07e25374f7".parse().unwrap();
        let at = |second: i64| Some(Timestamp::from_second(second).unwrap());
        let check = |created, last, expected: [i64; 3]| {
            let info = SessionInfo {
                session_id: id.clone(),
                activity: Activity::new(State::Thinking, Evidence::Protocol, at(30)),
                title: None,
                cwd: None,
                project: None,
                branch: None,
                model: None,
                context_tokens: 0,
                created,
                last_activity: last,
                pid: None,
                subagents: Vec::new(),
                background_job: None,
            };
            let json = serde_json::to_value(&info).unwrap();
            let times = ["createdAt", "updatedAt", "lastActivity"].map(|name| json[name].as_i64().unwrap());
            assert_eq!(times, expected);
            assert_eq!(json["hasTranscript"], created.is_some());
        };
        check(None, None, [30_000; 3]);
        check(at(10), at(20), [10_000, 20_000, 20_000]);
    }
}
