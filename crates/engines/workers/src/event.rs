//! What a worker tells, and what it can be told. Both cross processes as lines of JSON.

use std::path::PathBuf;

use model::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PermissionMode, PermissionReply, PermissionRequest, WorkerId, WorkerState};

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// It waits for its directory.
    Queued {
        /// The worker that has it.
        behind: Option<WorkerId>,
    },
    /// A turn begins in this session.
    Started(TurnStarted),
    /// Its state changed.
    State(WorkerState),
    /// The model has been given a message.
    Accepted {
        /// The message's id.
        message: String,
    },
    /// A piece of a text that is being written.
    Delta {
        /// The piece.
        text: String,
    },
    /// A whole text of the model's.
    Text {
        /// The text.
        text: String,
        /// The sub-agent that wrote it, by the call that started it.
        agent: Option<String>,
        /// Whether its pieces were told before.
        streamed: bool,
    },
    /// What the model thought.
    Thinking {
        /// The thought.
        text: String,
        /// The sub-agent.
        agent: Option<String>,
    },
    /// A tool is called.
    Tool {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What with.
        input: Value,
        /// The sub-agent that calls it.
        agent: Option<String>,
    },
    /// A call is over.
    ToolResult {
        /// The call.
        id: String,
        /// The beginning of what came of it.
        text: String,
        /// Whether it failed.
        is_error: bool,
        /// The sub-agent.
        agent: Option<String>,
    },
    /// A sub-agent, or a command in the background, began.
    TaskStarted {
        /// The task.
        id: String,
        /// What it is to do.
        description: String,
        /// `local_agent`, `local_bash`, …
        kind: String,
    },
    /// It is over.
    TaskEnded {
        /// The task.
        id: String,
        /// `completed`, `failed`, …
        outcome: String,
        /// What came of it.
        summary: String,
    },
    /// The model could not be reached; it is tried again.
    Retry {
        /// Which attempt failed.
        attempt: u64,
        /// How many there are.
        of: u64,
        /// How long until the next, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: String,
    },
    /// Somebody is asked.
    Asked(PermissionRequest),
    /// A question has an answer.
    Answered {
        /// The question.
        request: String,
        /// Whether it was yes.
        allowed: bool,
    },
    /// A question needs no answer any more.
    Withdrawn {
        /// The question.
        request: String,
    },
    /// A tool was not allowed, without anybody being asked.
    Refused {
        /// The tool.
        tool: String,
        /// Why.
        message: String,
    },
    /// A turn is over.
    Result(TurnResult),
    /// Something that is worth a word.
    Note {
        /// The word.
        text: String,
    },
    /// One who listens was too slow for these.
    Missed {
        /// How many.
        count: u64,
    },
    /// The worker is no more.
    Ended {
        /// How it ended.
        state: WorkerState,
    },
}

/// What a turn begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The session.
    pub session_id: SessionId,
    /// The model.
    pub model: Option<String>,
    /// The release of Claude Code.
    pub version: Option<String>,
    /// What it may do without asking, in Claude Code's word.
    pub permission_mode: Option<String>,
    /// The directory.
    pub cwd: Option<PathBuf>,
}

/// How a turn went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TurnResult {
    /// Whether it failed; nothing else says so.
    pub is_error: bool,
    /// Claude Code's word for how it ended.
    pub subtype: String,
    /// A finer word, of newer releases.
    pub terminal_reason: Option<String>,
    /// The last answer.
    pub text: String,
    /// What went wrong.
    pub errors: Vec<String>,
    /// How many times the model was called.
    pub turns: u64,
    /// What the turn cost, in US dollars.
    pub cost_usd: f64,
    /// What the session has cost, as Claude Code counts.
    pub session_cost_usd: f64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The tools that were denied.
    pub denied: Vec<String>,
}

/// Something a worker is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// The answer to a question.
    Answer {
        /// The question.
        request: String,
        /// The answer.
        reply: PermissionReply,
    },
    /// Another message to the model.
    Message {
        /// Its id, a UUID: the transcript's record bears it.
        id: String,
        /// What is said.
        text: String,
    },
    /// The turn ends; the worker does not.
    Interrupt,
    /// It may do more or less without asking.
    SetMode {
        /// The mode.
        mode: PermissionMode,
    },
    /// Another model goes on.
    SetModel {
        /// The model, as `--model` takes it.
        model: String,
    },
    /// It ends once the turn is over.
    Close,
    /// It ends if it is idle: somebody else needs its directory.
    Yield,
    /// It ends now.
    Stop,
}
