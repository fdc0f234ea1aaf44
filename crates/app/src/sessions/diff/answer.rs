//! The answer of `diff`.

use std::path::PathBuf;

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::Serialize;

/// What a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DiffAnswer")]
pub struct Answer {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The work tree to whose root the paths of files are relative.
    #[serde(serialize_with = "model::path")]
    pub root: PathBuf,
    /// The turns in which it changed something, in order.
    pub turns: Vec<DiffTurn>,
    /// The files, by path.
    pub files: Vec<DiffFile>,
    /// Lines added in all.
    pub added: u64,
    /// Lines removed in all.
    pub removed: u64,
    /// Successful shell commands that may have changed files, too: nothing records what they changed.
    pub shell_commands: u64,
    /// How many lines of its transcripts were too long to be read: what they changed is missing.
    pub too_long_lines: u64,
}

/// A turn: what the person asked, and all that was done for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffTurn {
    /// Its number, from 1.
    pub turn: usize,
    /// The line of the prompt in the transcript, from 1.
    pub line: u64,
    /// When it was asked.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// How the prompt begins.
    pub prompt: String,
}

/// What was changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffFile {
    /// Its path, relative to the root where it is below it.
    pub path: String,
    /// Whether it is not below the root.
    pub is_outside: bool,
    /// Whether it was created.
    pub is_new: bool,
    /// Lines added from the first change to the last.
    pub added: u64,
    /// Lines removed from the first change to the last.
    pub removed: u64,
    /// The turns in which it was changed, in order.
    pub turns: Vec<FileTurn>,
    /// The difference between its content before the first change and after the last, as `git apply` takes it.
    pub patch: String,
    /// Changes whose place in the file is not recorded: lines that were removed (`-`) and added (`+`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<String>,
    /// How often something else had changed it in between, in a way that the patch had to take over.
    pub taken_over: u64,
    /// Whether secrets are replaced in the patch, which then does not apply there.
    pub is_redacted: bool,
}

/// What was changed in a file in one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileTurn {
    /// The number of the turn, from 1; 0 before the first prompt.
    pub turn: usize,
    /// The line of the first edit, from 1: in the transcript, or in the sub-agent's own.
    pub line: u64,
    /// The sub-agent that made it; empty where it has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// How many edits it were.
    pub edits: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}
