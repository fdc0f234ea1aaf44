//! Sessions that get a new conversation, are removed, or are too old to stay.

use std::path::PathBuf;

use model::AgentId;
use openclaw::{
    AgentStore, EndedSession, MaintenanceMode, MaintenanceReport, OldTranscript, ResetOptions, SessionKey,
};
use serde::Serialize;

use super::place::{StorePlace, require_agent};
use super::sessions::found;
use super::{clock, failed, key, require_writable, store_of};
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
    /// The installation and the agent.
    #[serde(flatten)]
    pub place: StorePlace,
    /// Its key, spelled as the store has it.
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
    let own_command =
        |key: &SessionKey| format!("openclaw agent --session-key {} --message /new", key.given());
    end(context, request, own_command, |store, key| {
        let options =
            ResetOptions { keep_metadata: !request.drop_metadata, transcript: request.transcript() };
        store.reset(key, options, &clock(context))
    })
}

/// Removes a session.
pub fn delete(context: &Context, request: &ResetRequest) -> Result<Ended, Error> {
    let own_command = |key: &SessionKey| format!("openclaw sessions delete {} --yes", key.given());
    end(context, request, own_command, |store, key| store.delete(key, request.transcript(), &clock(context)))
}

fn end(
    context: &Context,
    request: &ResetRequest,
    own_command: impl FnOnce(&SessionKey) -> String,
    how: impl FnOnce(&AgentStore, &SessionKey) -> Result<openclaw::Updated<EndedSession>, openclaw::StoreError>,
) -> Result<Ended, Error> {
    context.require_person("changing a session store")?;
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    require_writable(&store, || own_command(&key))?;
    let known = found(context, &store, &key)?;
    if request.dry_run {
        return Ok(Ended {
            place: StorePlace::of(&store),
            key: known.key,
            is_done: false,
            old_session_id: known.entry.session_id,
            new_session_id: None,
            archived: None,
            notes: Vec::new(),
        });
    }
    let done = how(&store, &key).map_err(failed)?;
    context.config().store_cache.forget(&store);
    let EndedSession { before, after, archived } = done.value;
    Ok(Ended {
        place: StorePlace::of(&store),
        key: known.key,
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

/// What was removed, or would be.
#[derive(Debug, Serialize)]
pub struct PruneAnswer {
    /// The installation and the agent.
    #[serde(flatten)]
    pub place: StorePlace,
    /// What was removed, or would be.
    #[serde(flatten)]
    pub report: MaintenanceReport,
}

/// Removes old sessions and those beyond the limit, as the configuration says.
pub fn prune(context: &Context, request: &PruneRequest) -> Result<PruneAnswer, Error> {
    context.require_person("changing a session store")?;
    require_agent(context, request.agent.as_ref())?;
    let store = store_of(context, request.agent.as_ref(), None)?;
    let mode =
        request.enforce.map(|enforce| if enforce { MaintenanceMode::Enforce } else { MaintenanceMode::Warn });
    require_writable(&store, || {
        let how = if request.enforce == Some(true) { "--enforce" } else { "--dry-run" };
        format!("openclaw sessions cleanup --agent {} {how}", store.agent())
    })?;
    let done = store.maintain(mode, &clock(context)).map_err(failed)?;
    context.config().store_cache.forget(&store);
    Ok(PruneAnswer { place: StorePlace::of(&store), report: done.value })
}
