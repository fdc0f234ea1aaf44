//! Which Claude session is behind a session of OpenClaw's: three fields of the entry and a file beside the transcript.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use serde_json::{Value, json};

use super::agent_store::{AgentStore, Updated};
use super::entry::Entry;
use super::session_key::SessionKey;
use super::store_error::StoreError;
use crate::{Problem, file};

/// The name of the provider in `cliSessionIds`.
const PROVIDER: &str = "claude-cli";
/// Larger than any side file.
const CAP: u64 = 1 << 20;

/// The Claude session that a session of OpenClaw's continues. Of several the first counts of: the side file, then
/// `sdkSessionId`, `cliSessionIds["claude-cli"]`, `claudeCliSessionId`.
pub fn claude_session(entry: &Entry, side_file: Option<&SessionId>) -> Option<SessionId> {
    let id = |text: Option<&String>| text.and_then(|text| text.trim().parse::<SessionId>().ok());
    let listed = entry.cli_session_ids.as_ref().and_then(|ids| ids.get(PROVIDER));
    side_file
        .cloned()
        .or_else(|| id(entry.sdk_session_id.as_ref()))
        .or_else(|| id(listed))
        .or_else(|| id(entry.claude_cli_session_id.as_ref()))
}

impl AgentStore {
    /// The Claude session behind an entry.
    pub fn claude_session_of(&self, entry: &Entry) -> Option<SessionId> {
        let side =
            self.transcript_of(entry).ok().and_then(|transcript| read_side_file(&side_file(&transcript)));
        claude_session(entry, side.as_ref())
    }

    /// Enters the Claude session behind a session, in place of another one. The time of the entry advances.
    pub fn set_claude_session(
        &self,
        key: &SessionKey,
        claude: &SessionId,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        let updated = self.update_entry(key, clock, |entry, _| {
            let mut ids = entry.cli_session_ids.clone().unwrap_or_default();
            ids.insert(PROVIDER.to_owned(), claude.to_string());
            Some(Entry {
                sdk_session_id: Some(claude.to_string()),
                cli_session_ids: Some(ids),
                claude_cli_session_id: Some(claude.to_string()),
                ..Entry::default()
            })
        })?;
        let path = side_file(&self.transcript_of(&updated.value)?);
        let content = json!({"resumeSessionId": claude.as_str(), "updatedAt": format!("{:.3}", clock())});
        system::replace_private_file(&path, content.to_string().as_bytes()).map_err(|error| {
            Problem::new(&path, format!("cannot be written: {error}"), "Make it and its folder writable.")
        })?;
        Ok(updated)
    }

    /// Removes the side file of a transcript.
    pub(crate) fn forget_claude_session(transcript: &Path) -> Result<(), StoreError> {
        let path = side_file(transcript);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Problem::new(&path, format!("cannot be removed: {error}"), "Remove it.").into())
            }
            _ => Ok(()),
        }
    }
}

/// Removes every trace of the Claude session from an entry.
pub(crate) fn clear(entry: &mut Entry) {
    entry.sdk_session_id = None;
    entry.claude_cli_session_id = None;
    if let Some(ids) = &mut entry.cli_session_ids {
        ids.remove(PROVIDER);
        if ids.is_empty() {
            entry.cli_session_ids = None;
        }
    }
}

/// The file beside a transcript that names the Claude session.
fn side_file(transcript: &Path) -> PathBuf {
    let mut name = transcript.as_os_str().to_owned();
    name.push(".claude-sdk.json");
    name.into()
}

fn read_side_file(path: &Path) -> Option<SessionId> {
    let content = file::read(path, CAP).ok().flatten()?;
    let fields: Value = serde_json::from_slice(&content).ok()?;
    fields["resumeSessionId"].as_str()?.trim().parse().ok()
}
