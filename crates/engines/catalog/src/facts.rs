//! What is kept of one file: whose it is, how far it was read, and what it says.

use model::{MessageUsage, SessionId};
use serde::{Deserialize, Serialize};
use system::FileStamp;
use transcript::{Checkpoint, Summary};

/// Whose words a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The session's own.
    Session(SessionId),
    /// Those of a sub-agent; without a session its records name it.
    Subagent(Option<SessionId>),
}

/// What has been read of one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileFacts {
    /// The file's stamp when it was read.
    pub(crate) stamp: FileStamp,
    /// How far it was read.
    pub(crate) mark: Checkpoint,
    /// What it says.
    pub(crate) summary: Box<Summary>,
    /// The API messages in it.
    pub(crate) messages: Vec<MessageUsage>,
    /// Of a sub-agent: what it is.
    pub(crate) agent: Option<SubagentFacts>,
}

/// What is known of a sub-agent beside its records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubagentFacts {
    /// The session it belongs to, by its records.
    pub(crate) session: Option<SessionId>,
    /// `general-purpose`, or a custom agent's name.
    pub(crate) kind: Option<String>,
    /// The task in a few words.
    pub(crate) description: Option<String>,
    /// What it was told, as a hash.
    pub(crate) task: Option<u64>,
    /// Whether no tool use called it: 2.0.42 to 2.0.77 warmed agents up.
    pub(crate) is_warm_up: bool,
}

impl SubagentFacts {
    /// One of which nothing is known.
    pub(crate) const UNKNOWN: Self =
        Self { session: None, kind: None, description: None, task: None, is_warm_up: false };
}
