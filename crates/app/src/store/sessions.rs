//! The sessions of a store: listed, looked at, changed.

use std::path::PathBuf;

use model::AgentId;
use openclaw::{AgentStore, Entry, SessionKey, SessionRow};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{clock, failed, key, store_of, unreadable};
use crate::{Context, Error, Kind};

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct StoreRequest {
    /// Of this agent; the default one without it.
    pub agent: Option<AgentId>,
    /// Only those in which something happened in so many minutes.
    pub active_minutes: Option<u64>,
}

/// The sessions of a store, in the shape of `openclaw sessions --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListAnswer {
    /// The file or database.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// How many there are.
    pub count: usize,
    /// The filter.
    pub active_minutes: Option<u64>,
    /// The sessions, the one that changed last first.
    pub sessions: Vec<SessionRow>,
    /// What the person should know, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Lists the sessions of an agent.
pub fn list(context: &Context, request: &StoreRequest) -> Result<ListAnswer, Error> {
    let store = store_of(context, request.agent.as_ref(), None)?;
    let config = &store.config;
    let mut sessions = Vec::new();
    let (path, notes) = each_entry(context, &store, &mut |key, entry| {
        let row = SessionRow::new(&key, &entry, context.now);
        sessions.push(SessionRow {
            model: row.model.or_else(|| config.model.clone()),
            context_tokens: row.context_tokens.or(Some(config.context_tokens)),
            ..row
        });
    })?;
    sessions.sort_by_key(|row| std::cmp::Reverse(row.updated_at.unwrap_or(0)));
    if let Some(minutes) = request.active_minutes {
        let longest = i64::try_from(minutes.saturating_mul(60_000)).unwrap_or(i64::MAX);
        sessions.retain(|row| row.age_ms.is_some_and(|age| age <= longest));
    }
    Ok(ListAnswer { path, count: sessions.len(), active_minutes: request.active_minutes, sessions, notes })
}

/// Gives the entries of the file or of the database that took its place, one after the other: they may be large.
/// Returns where they are, and what is wrong there.
pub(super) fn each_entry(
    context: &Context,
    store: &AgentStore,
    each: &mut dyn FnMut(String, Entry),
) -> Result<(PathBuf, Vec<String>), Error> {
    if let Some(place) = store.database() {
        let database = place.open().map_err(unreadable)?;
        let found = database.sessions().map_err(unreadable)?;
        if !found.is_empty() || !store.path().exists() {
            let notes = database.warning().iter().map(said).collect();
            for session in found {
                each(session.key, session.entry);
            }
            return Ok((place.path.clone(), notes));
        }
    }
    let loaded = context.config().store_cache.load(store, context.now);
    let mut notes: Vec<String> = loaded.problem.iter().map(said).collect();
    for name in loaded.store.keys() {
        let Ok(key) = name.parse() else { continue };
        match loaded.store.get(&key) {
            Ok(Some(entry)) => each(name.to_owned(), entry),
            Ok(None) => {}
            Err(error) => {
                let note = format!("{error}.");
                // The same is wrong with the entries behind it.
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    Ok((store.path().to_owned(), notes))
}

fn said(problem: &openclaw::Problem) -> String {
    format!("{} {}. {}", problem.path.display(), problem.what, problem.next_step)
}

/// A question about one session.
#[derive(Debug, Clone)]
pub struct KeyRequest {
    /// Its key.
    pub key: String,
    /// The agent, where the key names none.
    pub agent: Option<AgentId>,
}

/// One session as the store has it.
#[derive(Debug, Serialize)]
pub struct GetAnswer {
    /// Its key.
    pub key: String,
    /// Its entry: all fields, those that are not known here too.
    pub entry: Value,
    /// The Claude session behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_session: Option<model::SessionId>,
    /// Its transcript, where it is a file.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "model::optional_path")]
    pub transcript: Option<PathBuf>,
}

/// One session.
pub fn get(context: &Context, request: &KeyRequest) -> Result<GetAnswer, Error> {
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    let (text, entry) = found(context, &store, &key)?;
    let entry_value: Value = serde_json::from_str(&text)
        .map_err(|error| Error::caused(Kind::Unavailable, format!("cannot read the entry {key}"), &error))?;
    let transcript = store.transcript_of(&entry).ok().filter(|path| path.exists());
    Ok(GetAnswer {
        key: key.to_string(),
        entry: context.redacted(&entry_value)?,
        claude_session: store.claude_session_of(&entry),
        transcript,
    })
}

/// The text of an entry, and the entry.
pub(super) fn found(
    context: &Context,
    store: &AgentStore,
    key: &SessionKey,
) -> Result<(String, Entry), Error> {
    if let Some(place) = store.database() {
        let database = place.open().map_err(unreadable)?;
        if let Some(session) = database.session(key.as_str()).map_err(unreadable)? {
            return Ok((session.text, session.entry));
        }
    }
    let loaded = context.config().store_cache.load(store, context.now);
    if let Some(problem) = loaded.problem {
        return Err(unreadable(problem));
    }
    let text = loaded.store.text(key).map_err(failed)?;
    let entry = loaded.store.get(key).map_err(failed)?;
    text.zip(entry).ok_or_else(|| not_found(store, key))
}

fn not_found(store: &AgentStore, key: &SessionKey) -> Error {
    Error::new(Kind::NotFound, format!("agent {} has no session `{key}`", store.agent()))
}

/// New values for a session.
#[derive(Debug, Clone)]
pub struct SetRequest {
    /// Its key.
    pub key: String,
    /// The agent, where the key names none.
    pub agent: Option<AgentId>,
    /// Fields and their values; null removes one.
    pub fields: Map<String, Value>,
    /// Whether a session that does not exist is made.
    pub create: bool,
}

/// Sets fields of a session. A value of another type than its field has is refused.
pub fn set(context: &Context, request: &SetRequest) -> Result<GetAnswer, Error> {
    context.require_person("changing a session store")?;
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    let text = Value::Object(request.fields.clone()).to_string();
    if let Some(name) = openclaw::mistyped(&text) {
        let message = format!("`{name}` cannot have this value: OpenClaw expects one of another type");
        return Err(Error::new(Kind::Usage, message));
    }
    if !request.create && found(context, &store, &key).is_err() {
        return Err(not_found(&store, &key).hint("add --create to make it"));
    }
    store.set_fields(&key, &request.fields, &clock(context)).map_err(failed)?;
    context.config().store_cache.forget(&store);
    get(context, &KeyRequest { key: request.key.clone(), agent: request.agent.clone() })
}
