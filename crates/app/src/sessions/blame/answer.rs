//! The answer of `blame`.

use jiff::Timestamp;
use model::SessionId;
use project::Commit;
use schemars::JsonSchema;
use serde::Serialize;

/// Which sessions wrote a file or a line, or made a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BlameAnswer")]
pub struct Answer {
    /// The file, by the end of its path that sessions are compared with; `null` for a commit.
    pub file: Option<String>,
    /// The line of the file, from 1.
    pub line: Option<u64>,
    /// The text of the line.
    pub text: Option<String>,
    /// The commit, or the one that the line is from according to git.
    pub commit: Option<Commit>,
    /// The sessions, those with the better sign first, then the newest.
    pub sessions: Vec<BlamedSession>,
    /// How many more there are beyond the limit.
    pub more: usize,
    /// Where no session is named: how many sessions of other repositories changed a file of this path.
    pub elsewhere: usize,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A session that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlamedSession {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The short name of its repository.
    pub project: Option<String>,
    /// What it did.
    pub sign: BlameSign,
    /// The line of the transcript that shows it, from 1; of a sub-agent's work, the prompt that it was done for.
    pub line: u64,
    /// When it did.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// How the prompt begins that it was done for.
    pub prompt: Option<String>,
    /// How often it changed the file.
    pub edits: u64,
}

/// What a session did, the better sign first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlameSign {
    /// It wrote this line.
    WroteLine,
    /// It made the commit.
    MadeCommit,
    /// It changed the file.
    ChangedFile,
}
