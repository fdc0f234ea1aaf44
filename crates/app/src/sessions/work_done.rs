//! What a session left behind: the files that its tools changed and the commits that git reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Session;
use transcript::{HistoryEventKind, each_history_event};

use crate::Secrets;

/// What a session left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// The files that were changed, the most often changed first; relative to the session's directory where they are in
    /// it.
    pub files: Vec<String>,
    /// The commits, in order: the beginning of the hash, and the subject.
    pub commits: Vec<(String, String)>,
}

impl WorkDone {
    /// Reads it from a transcript and those of the session's sub-agents; what cannot be read is left out.
    pub(crate) fn read(file: &Path, session: &Session, secrets: Secrets) -> Self {
        let mut files: BTreeMap<PathBuf, u64> = BTreeMap::new();
        let mut commits: Vec<(String, String)> = Vec::new();
        let _ = each_history_event(file, |event| match event.what {
            HistoryEventKind::Changed(path) => *files.entry(path).or_default() += 1,
            HistoryEventKind::Commit { hash, subject } => {
                // An amended or cherry-picked commit is reported again.
                commits.retain(|(known, _)| *known != hash);
                commits.push((hash, secrets.redacted(subject.into())));
            }
            _ => {}
        });
        for agent in session.subagents.iter().filter(|agent| agent.file != file) {
            let _ = each_history_event(&agent.file, |event| {
                if let HistoryEventKind::Changed(path) = event.what {
                    *files.entry(path).or_default() += 1;
                }
            });
        }
        let mut files: Vec<(PathBuf, u64)> = files.into_iter().collect();
        files.sort_by_key(|(_, changes)| std::cmp::Reverse(*changes));
        let name = |path: &Path| {
            let inner = session.cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd).ok());
            secrets.redacted(inner.unwrap_or(path).to_string_lossy())
        };
        Self { files: files.iter().map(|(path, _)| name(path)).collect(), commits }
    }
}
