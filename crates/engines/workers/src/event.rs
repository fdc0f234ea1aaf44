//! Events from workers and commands to them. Both are exchanged between processes as lines of JSON.

use std::path::PathBuf;

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PermissionMode, PermissionReply, PermissionRequest, WorkerId, WorkerState};

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The worker waits for its directory.
    Queued {
        /// The worker that has the directory.
        behind: Option<WorkerId>,
    },
    /// A turn begins.
    Started(TurnStarted),
    /// The state changed.
    State(WorkerState),
    /// The model was given a message.
    Accepted {
        /// Id of the message.
        message: String,
    },
    /// Part of a text that is being written.
    Delta {
        /// The new part.
        text: String,
    },
    /// A complete text from the model.
    Text {
        /// The whole text.
        text: String,
        /// The sub-agent that wrote it, identified by the tool call that started it.
        agent: Option<String>,
        /// Whether its parts were sent as [`Event::Delta`] before.
        streamed: bool,
    },
    /// A thinking block from the model.
    Thinking {
        /// The whole text.
        text: String,
        /// The sub-agent, if any.
        agent: Option<String>,
    },
    /// A tool call.
    Tool {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Input of the tool.
        input: Value,
        /// The sub-agent that made the call, if any.
        agent: Option<String>,
    },
    /// The result of a tool call.
    ToolResult {
        /// Id of the call.
        id: String,
        /// The beginning of the result.
        text: String,
        /// Whether the call failed.
        is_error: bool,
        /// The sub-agent that made the call, if any.
        agent: Option<String>,
    },
    /// A sub-agent or background command started.
    TaskStarted {
        /// Id of the task.
        id: String,
        /// Description of the task.
        description: String,
        /// Kind of task: `local_agent`, `local_bash`, …
        kind: String,
    },
    /// A sub-agent or background command ended.
    TaskEnded {
        /// Id of the task.
        id: String,
        /// How it ended: `completed`, `failed`, …
        outcome: String,
        /// Summary of the result.
        summary: String,
    },
    /// A request to the model failed and is retried.
    Retry {
        /// Number of the failed attempt.
        attempt: u64,
        /// Maximum number of attempts.
        of: u64,
        /// Time until the next attempt in milliseconds.
        delay_ms: u64,
        /// The API's error message.
        error: String,
    },
    /// The worker asks the user for permission or an answer.
    Asked(PermissionRequest),
    /// A request was answered.
    Answered {
        /// Id of the request.
        request: String,
        /// Whether it was allowed.
        allowed: bool,
        /// What was allowed from now on with it, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        granted: Vec<String>,
    },
    /// A request no longer needs an answer.
    Withdrawn {
        /// Id of the request.
        request: String,
    },
    /// A tool call was denied without asking the user.
    Refused {
        /// Name of the tool.
        tool: String,
        /// The reason that Claude Code gave.
        message: String,
    },
    /// A turn ended.
    Result(TurnResult),
    /// A message for the user.
    Note {
        /// The message's text.
        text: String,
    },
    /// The worker's agent announces something to the user of its chat.
    Announced(Announcement),
    /// The listener was too slow and missed events.
    Missed {
        /// Number of missed events.
        count: u64,
    },
    /// The worker ended; this is the last event.
    Ended {
        /// The final state.
        state: WorkerState,
    },
}

/// What Claude Code reports at the beginning of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct TurnStarted {
    /// Id of the session.
    pub session_id: SessionId,
    /// The model's API name.
    pub model: Option<String>,
    /// Release of Claude Code.
    pub version: Option<String>,
    /// Permission mode, as Claude Code names it.
    pub permission_mode: Option<String>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
}

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema, Deserialize)]
pub struct TurnResult {
    /// Whether the turn failed; the other fields do not tell.
    pub is_error: bool,
    /// How the turn ended, as Claude Code names it.
    pub subtype: String,
    /// More specific reason, from newer releases.
    pub terminal_reason: Option<String>,
    /// The last answer.
    pub text: String,
    /// Error messages.
    pub errors: Vec<String>,
    /// Number of calls of the model.
    pub turns: u64,
    /// Cost of the turn in US dollars.
    pub cost_usd: f64,
    /// Cost of the session in US dollars, as counted by Claude Code.
    pub session_cost_usd: f64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Names of the denied tools.
    pub denied: Vec<String>,
}

/// What a worker's agent announced to the user of its chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Announcement {
    /// The text to announce.
    pub message: String,
    /// When it was announced.
    #[serde(serialize_with = "model::time")]
    pub timestamp: Timestamp,
}

/// A command to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Answer a request.
    Answer {
        /// Id of the request, or an unambiguous beginning of it.
        request: String,
        /// The answer.
        reply: PermissionReply,
    },
    /// Send another message to the model.
    Message {
        /// A UUID, which becomes the id of the transcript's record.
        id: String,
        /// The message's text.
        text: String,
    },
    /// Announce a message to the user of the agent's chat.
    Announce {
        /// The message.
        message: String,
    },
    /// End the turn but not the worker.
    Interrupt,
    /// Change the permission mode.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
    },
    /// Change the model.
    SetModel {
        /// The model, as `--model` takes it.
        model: String,
    },
    /// End the worker after the current turn.
    Close,
    /// End the worker if it is idle, because another needs its directory.
    Yield,
    /// End the worker now.
    Stop,
}
