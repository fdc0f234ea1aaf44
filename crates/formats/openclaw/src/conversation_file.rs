//! A file that holds a conversation of OpenClaw's, and the names of such files.

use std::fs::Metadata;
use std::path::PathBuf;

use model::SessionId;

/// A transcript of OpenClaw's own.
#[derive(Debug, Clone)]
pub struct ConversationFile {
    /// The conversation it holds.
    pub session: SessionId,
    /// The path of the file.
    pub path: PathBuf,
    /// The file's metadata, a link not followed.
    pub metadata: Metadata,
}

/// The conversation in a file of a sessions folder: `<id>.jsonl`, `<id>-topic-<topic>.jsonl`, and their archived
/// names `….jsonl.reset.<time>` and `….jsonl.deleted.<time>`.
pub(crate) fn conversation(name: &str) -> Option<SessionId> {
    let (stem, rest) = name.split_once(".jsonl")?;
    let put_away = [".reset.", ".deleted."].iter().any(|word| rest.starts_with(word));
    if !rest.is_empty() && !put_away {
        return None;
    }
    SessionId::from_file_stem(stem.split_once("-topic-").map_or(stem, |(id, _)| id)).ok()
}
