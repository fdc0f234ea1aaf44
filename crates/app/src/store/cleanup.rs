//! Sessions that get a new conversation, are removed, or are too old to stay.

use std::path::PathBuf;

use model::AgentId;
use openclaw::{
    AgentStore, EndedSession, MaintenanceMode, MaintenanceReport, OldTranscript, ResetOptions, SessionKey,
};
use serde::Serialize;

use super::sessions::found;
use super::{clock, failed, key, store_of};
use crate::{Context, Error};

/// How a session is reset.
#[derive(Debug, Clone)]
pub struct ResetRequest {
    /// Its key.
    pub key: String,
    /// The agent, where the key names none.
    pub agent: Option<AgentId>,
    /// Whether its settings and what is known of its chat go too.
    pub drop_metadata: bool,
    /// Whether the transcript is deleted and not archived.
    pub delete_transcript: bool,
    /// Whether only to say what would be done.
    pub dry_run: bool,
}

/// A session that was reset or removed, or would be.
#[derive(Debug, Serialize)]
pub struct Ended {
    /// Its key.
    pub key: String,
    /// Whether it was done.
    pub is_done: bool,
    /// The conversation it had.
    pub old_session_id: Option<String>,
    /// The conversation it has now.
    pub new_session_id: Option<String>,
    /// Where the transcript is now.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "model::optional_path")]
    pub archived: Option<PathBuf>,
    /// What the person should know, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ResetRequest {
    fn transcript(&self) -> OldTranscript {
        if self.delete_transcript { OldTranscript::Delete } else { OldTranscript::Archive }
    }
}

/// Gives a session a new conversation.
pub fn reset(context: &Context, request: &ResetRequest) -> Result<Ended, Error> {
    end(context, request, |store, key| {
        let options =
            ResetOptions { keep_metadata: !request.drop_metadata, transcript: request.transcript() };
        store.reset(key, options, &clock(context))
    })
}

/// Removes a session.
pub fn delete(context: &Context, request: &ResetRequest) -> Result<Ended, Error> {
    end(context, request, |store, key| store.delete(key, request.transcript(), &clock(context)))
}

fn end(
    context: &Context,
    request: &ResetRequest,
    how: impl FnOnce(&AgentStore, &SessionKey) -> Result<openclaw::Updated<EndedSession>, openclaw::StoreError>,
) -> Result<Ended, Error> {
    context.require_person("changing a session store")?;
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    if request.dry_run {
        let (_, entry) = found(context, &store, &key)?;
        return Ok(Ended {
            key: key.to_string(),
            is_done: false,
            old_session_id: entry.session_id,
            new_session_id: None,
            archived: None,
            notes: Vec::new(),
        });
    }
    let done = how(&store, &key).map_err(failed)?;
    context.config().store_cache.forget(&store);
    let EndedSession { before, after, archived } = done.value;
    Ok(Ended {
        key: key.to_string(),
        is_done: true,
        old_session_id: before.session_id,
        new_session_id: after.and_then(|after| after.session_id),
        archived,
        notes: done.notes,
    })
}

/// Which old sessions to remove.
#[derive(Debug, Clone, Default)]
pub struct PruneRequest {
    /// Of this agent; the default one without it.
    pub agent: Option<AgentId>,
    /// Whether to do it, whatever the configuration says; `false` only says what would be done.
    pub enforce: Option<bool>,
}

/// Removes old sessions and those beyond the limit, as the configuration says.
pub fn prune(context: &Context, request: &PruneRequest) -> Result<MaintenanceReport, Error> {
    context.require_person("changing a session store")?;
    let store = store_of(context, request.agent.as_ref(), None)?;
    let mode =
        request.enforce.map(|enforce| if enforce { MaintenanceMode::Enforce } else { MaintenanceMode::Warn });
    let done = store.maintain(mode, &clock(context)).map_err(failed)?;
    context.config().store_cache.forget(&store);
    Ok(done.value)
}
