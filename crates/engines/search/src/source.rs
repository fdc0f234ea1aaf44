//! The kinds of files that are indexed.

use std::path::PathBuf;

use model::SessionId;
use openclaw::AgentMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::FileStamp;

use crate::notes;

/// A file to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The file's stamp.
    pub stamp: FileStamp,
    /// The kind of the file.
    pub kind: SourceKind,
    /// The session it belongs to, if its location shows that.
    pub session: Option<SessionId>,
    /// Whether it is a sub-agent's transcript.
    pub subagent: bool,
}

/// Where a text is from.
// The numbers and the order of the variants are stored: never change one, only add.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Source")]
#[repr(u8)]
pub enum SourceKind {
    /// Claude Code's sessions.
    #[default]
    ClaudeSessions = 0,
    /// OpenClaw's conversations.
    Sessions = 1,
    /// The notes in OpenClaw's workspaces.
    Memory = 2,
}

impl SourceKind {
    /// All sources.
    pub const ALL: [Self; 3] = [Self::ClaudeSessions, Self::Sessions, Self::Memory];

    /// The word used in JSON, in `--source` and in OpenClaw's configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeSessions => "claude-sessions",
            Self::Sessions => "sessions",
            Self::Memory => "memory",
        }
    }

    /// The kind that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Its number in the list of files.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    /// The kind with that number in the list of files.
    pub(crate) fn from_number(number: u8) -> Self {
        Self::ALL.into_iter().find(|kind| kind.number() == number).unwrap_or_default()
    }

    /// Whether indexed text stays when the file disappears: Claude Code deletes transcripts by itself, but a deleted
    /// note was deleted by a person.
    pub(crate) fn outlives_file(self) -> bool {
        self == Self::ClaudeSessions
    }
}

/// The files of what one of OpenClaw's agents remembers.
pub fn source_files(memory: &AgentMemory) -> impl Iterator<Item = SourceFile> {
    let source = |path: &std::path::Path, metadata, kind, session| SourceFile {
        path: path.to_owned(),
        stamp: FileStamp::from_metadata(metadata),
        kind,
        session,
        subagent: false,
    };
    let notes = memory
        .notes
        .iter()
        .map(move |note| source(&note.path, &note.metadata, SourceKind::Memory, notes::name_of(&note.path)));
    let transcripts = memory.transcripts.iter().map(move |file| {
        source(&file.path, &file.metadata, SourceKind::Sessions, Some(file.session.clone()))
    });
    notes.chain(transcripts)
}

/// The names of an agent's memory in the index: its conversations, and a synthetic name for each note.
pub fn session_names(memory: &AgentMemory) -> impl Iterator<Item = SessionId> {
    source_files(memory).filter_map(|source| source.session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_lead_back_to_their_kinds() {
        for kind in SourceKind::ALL {
            assert_eq!(SourceKind::parse(kind.as_str()), Some(kind));
            assert_eq!(SourceKind::from_number(kind.number()), kind);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!(SourceKind::parse("openclaw"), None);
    }
}
