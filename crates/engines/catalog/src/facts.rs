//! What is cached of one file: its owner, how far it was read, and its summary.

use model::{MessageUsage, SessionId};
use serde::{Deserialize, Serialize};
use system::FileStamp;
use transcript::{Checkpoint, Summary, task_key};

/// The session or sub-agent that wrote a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The session itself.
    Session(SessionId),
    /// A sub-agent of this session; `None` where only its records name the session.
    Subagent(Option<SessionId>),
}

/// The facts that were read from one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileFacts {
    /// The file's stamp when it was read.
    pub(crate) stamp: FileStamp,
    /// How far the file was read.
    pub(crate) mark: Checkpoint,
    /// The summary of its records.
    pub(crate) summary: Box<Summary>,
    /// The API messages in it.
    pub(crate) messages: Vec<MessageUsage>,
    /// For a sub-agent's file, which sub-agent it is.
    pub(crate) agent: Option<SubagentFacts>,
}

/// What is known of a sub-agent apart from its records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubagentFacts {
    /// The session it belongs to, by its records.
    pub(crate) session: Option<SessionId>,
    /// `general-purpose`, or a custom agent's name.
    pub(crate) kind: Option<String>,
    /// The task in a few words.
    pub(crate) description: Option<String>,
    /// A hash of the prompt it was given.
    pub(crate) task: Option<u64>,
    /// Whether no tool use called it: 2.0.42 to 2.0.77 warmed agents up.
    pub(crate) is_warm_up: bool,
}

impl SubagentFacts {
    /// A sub-agent of which nothing is known.
    pub(crate) const UNKNOWN: Self =
        Self { session: None, kind: None, description: None, task: None, is_warm_up: false };

    /// Takes in the prompt it was given.
    pub(crate) fn note_task(&mut self, task: Option<&str>) {
        self.task = task.map(task_key);
        self.is_warm_up = task.is_some_and(|task| task.trim() == "Warmup");
    }
}
