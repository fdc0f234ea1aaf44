//! The kind of an indexed text: who said it, or which fact of a tool's work it is.

use schemars::JsonSchema;
use serde::Serialize;
use transcript::Role;

/// What an indexed text is.
// The numbers are stored in the index: never change one, only add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ChunkKind {
    /// A prompt of the person.
    Prompt = 0,
    /// An answer of the model.
    Answer = 1,
    /// The model's reasoning.
    Thinking = 2,
    /// The title of a session.
    Title = 3,
    /// A plan put before the person.
    Plan = 4,
    /// An item of a task list, when it was started.
    Todo = 5,
    /// The short description of a sub-agent's task.
    Delegation = 6,
    /// The prompt a sub-agent was given.
    AgentPrompt = 7,
    /// A shell command that was run.
    Command = 8,
    /// The description of a command, in the model's words.
    Purpose = 9,
    /// A pattern that was searched for.
    Pattern = 10,
    /// A file was edited: its path, the old text and the new.
    Edit = 11,
    /// A file was written: its path and content.
    Write = 12,
    /// The summary after a compaction.
    Summary = 13,
    /// A command of the terminal with its arguments.
    Slash = 14,
    /// A question put to the person.
    Question = 15,
    /// The person's words in refusing a tool.
    Refusal = 16,
    /// Lines of output that look like errors.
    Error = 17,
    /// The subject of a commit.
    Commit = 18,
    /// A file was read.
    Read = 19,
    /// Git names a file as changed.
    GitChange = 20,
    /// The CLI kept a backup of a file before it was changed.
    Backup = 21,
    /// The branch that was checked out.
    Branch = 22,
    /// A search of the web, or an address that was fetched.
    Web = 23,
    /// A section of a note.
    Note = 24,
    /// A prompt that waited for its turn, and may have been withdrawn.
    Queued = 25,
}

impl ChunkKind {
    const ALL: [Self; 26] = [
        Self::Prompt,
        Self::Answer,
        Self::Thinking,
        Self::Title,
        Self::Plan,
        Self::Todo,
        Self::Delegation,
        Self::AgentPrompt,
        Self::Command,
        Self::Purpose,
        Self::Pattern,
        Self::Edit,
        Self::Write,
        Self::Summary,
        Self::Slash,
        Self::Question,
        Self::Refusal,
        Self::Error,
        Self::Commit,
        Self::Read,
        Self::GitChange,
        Self::Backup,
        Self::Branch,
        Self::Web,
        Self::Note,
        Self::Queued,
    ];

    /// The kind with that number in the index.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|at| Self::ALL.get(at)).copied()
    }

    /// Its number in the index.
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    /// Whether a chunk of this kind can be a hit by its words.
    pub(crate) fn is_found_by_words(self) -> bool {
        !matches!(self, Self::Read | Self::GitChange | Self::Backup | Self::Branch)
    }

    /// Whether it counts among the places of a session: what was queued stands there again where it was said.
    pub(crate) fn is_place(self) -> bool {
        self != Self::Queued
    }

    /// Whether its words count for the session as a whole: conversation and actions, not the code itself.
    pub(crate) fn speaks_for_session(self) -> bool {
        matches!(
            self,
            Self::Prompt
                | Self::Answer
                | Self::Title
                | Self::Plan
                | Self::Todo
                | Self::Delegation
                | Self::Command
                | Self::Purpose
                | Self::Pattern
                | Self::Slash
                | Self::Question
                | Self::Refusal
                | Self::Commit
                | Self::Branch
                | Self::Note
        )
    }

    /// Whether it can also be found by meaning: text of the person or the model about the work.
    pub(crate) fn has_meaning(self) -> bool {
        matches!(
            self,
            Self::Prompt
                | Self::Answer
                | Self::Title
                | Self::Plan
                | Self::Delegation
                | Self::Summary
                | Self::Question
                | Self::Refusal
                | Self::Commit
                | Self::Note
        )
    }

    /// Whether a path in its text indicates that the session dealt with the file.
    pub(crate) fn names_files(self) -> bool {
        matches!(
            self,
            Self::Prompt
                | Self::Answer
                | Self::Thinking
                | Self::Plan
                | Self::Summary
                | Self::AgentPrompt
                | Self::Note
        )
    }

    /// Whether it is a change of a file by a tool.
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Self::Edit | Self::Write)
    }

    /// The role it is attributed to.
    pub fn role(self) -> Role {
        match self {
            Self::Prompt | Self::Slash | Self::Refusal | Self::Queued => Role::User,
            Self::Answer | Self::Thinking | Self::Plan | Self::Question => Role::Assistant,
            Self::Title | Self::Summary | Self::Branch | Self::Note => Role::Note,
            Self::Todo
            | Self::Delegation
            | Self::AgentPrompt
            | Self::Command
            | Self::Purpose
            | Self::Pattern
            | Self::Edit
            | Self::Write
            | Self::Error
            | Self::Commit
            | Self::Read
            | Self::GitChange
            | Self::Backup
            | Self::Web => Role::Tool,
        }
    }

    /// The word used in JSON and next to a hit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::Title => "title",
            Self::Plan => "plan",
            Self::Todo => "todo",
            Self::Delegation => "delegation",
            Self::AgentPrompt => "agent_prompt",
            Self::Command => "command",
            Self::Purpose => "purpose",
            Self::Pattern => "pattern",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Summary => "summary",
            Self::Slash => "slash",
            Self::Question => "question",
            Self::Refusal => "refusal",
            Self::Error => "error",
            Self::Commit => "commit",
            Self::Read => "read",
            Self::GitChange => "git_change",
            Self::Backup => "backup",
            Self::Branch => "branch",
            Self::Web => "web",
            Self::Note => "note",
            Self::Queued => "queued",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_kinds_and_words_are_those_in_json() {
        for kind in ChunkKind::ALL {
            assert_eq!(ChunkKind::from_number(kind.number()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!(ChunkKind::from_number(250), None);
    }
}
