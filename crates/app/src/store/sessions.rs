//! The sessions of a store: listed, looked at, changed.

use std::path::PathBuf;

use model::AgentId;
use openclaw::{AgentStore, DatabaseSession, Entry, Generation, SessionKey, SessionRow};
use serde::Serialize;
use serde_json::{Map, Value};

use super::place::{StorePlace, agents, require_agent};
use super::{clock, failed, key, require_writable, store_of, unreadable};
use crate::repository::other_names::other_names;
use crate::{Context, Error, Kind};

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct StoreRequest {
    /// Of this agent; the default one without it.
    pub agent: Option<AgentId>,
    /// Of all agents.
    pub all_agents: bool,
    /// Only those in which something happened in so many minutes.
    pub active_minutes: Option<u64>,
}

/// The sessions of a store, in the shape of `openclaw sessions --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListAnswer {
    /// The file or database; `None` for all agents.
    #[serde(serialize_with = "model::optional_path")]
    pub path: Option<PathBuf>,
    /// The files and databases of all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<Vec<ListedStore>>,
    /// Whether they are those of all agents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_agents: bool,
    /// The installation and the agent, for people.
    #[serde(skip)]
    pub places: Vec<StorePlace>,
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

/// The store of one of several agents.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedStore {
    /// The agent.
    pub agent_id: AgentId,
    /// The file or database.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
}

/// Lists the sessions of an agent, or of all.
pub fn list(context: &Context, request: &StoreRequest) -> Result<ListAnswer, Error> {
    require_agent(context, request.agent.as_ref())?;
    let wanted: Vec<Option<AgentId>> = if request.all_agents {
        agents(context).into_iter().map(Some).collect()
    } else {
        vec![request.agent.clone()]
    };
    let (mut sessions, mut stores, mut places, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for agent in &wanted {
        let store = store_of(context, agent.as_ref(), None)?;
        let config = &store.config;
        let (path, found) =
            each_entry(context, &store, &mut |StoredSession { key, entry, generation, .. }| {
                let row = SessionRow::new(&key, &entry, generation, context.now);
                sessions.push(SessionRow {
                    model: row.model.or_else(|| config.model.clone()),
                    context_tokens: row.context_tokens.or(Some(config.context_tokens)),
                    ..row
                });
            })?;
        notes.extend(found);
        places.push(StorePlace::of(&store));
        stores.push(ListedStore { agent_id: store.agent().clone(), path });
    }
    sessions.sort_by_key(|row| std::cmp::Reverse(row.updated_at.unwrap_or(0)));
    if let Some(minutes) = request.active_minutes {
        let longest = i64::try_from(minutes.saturating_mul(60_000)).unwrap_or(i64::MAX);
        sessions.retain(|row| row.age_ms.is_some_and(|age| age <= longest));
    }
    Ok(ListAnswer {
        path: stores.first().filter(|_| !request.all_agents).map(|store| store.path.clone()),
        stores: request.all_agents.then_some(stores),
        all_agents: request.all_agents,
        places,
        count: sessions.len(),
        active_minutes: request.active_minutes,
        sessions,
        notes,
    })
}

/// A session as a store has it.
pub(super) struct StoredSession {
    /// Its key, spelled as there.
    pub(super) key: String,
    /// The text of its entry, where one session was asked for.
    pub(super) text: String,
    pub(super) entry: Entry,
    pub(super) generation: Generation,
}

/// Gives the entries of the file or of the database that took its place, one after the other: they may be large.
/// Returns where they are, and what is wrong there.
pub(super) fn each_entry(
    context: &Context,
    store: &AgentStore,
    each: &mut dyn FnMut(StoredSession),
) -> Result<(PathBuf, Vec<String>), Error> {
    if let Some(place) = store.database() {
        let database = place.open().map_err(unreadable)?;
        let found = database.sessions().map_err(unreadable)?;
        if !found.is_empty() || !store.path().exists() {
            let notes = database.warning().iter().map(said).collect();
            for DatabaseSession { key, text, entry } in found {
                each(StoredSession { key, text, entry, generation: Generation::Database });
            }
            return Ok((place.path.clone(), notes));
        }
    }
    let loaded = context.config().store_cache.load(store, context.now);
    let mut notes: Vec<String> = loaded.problem.iter().map(said).collect();
    for name in loaded.store.keys() {
        let Ok(key) = name.parse() else { continue };
        match loaded.store.get(&key) {
            Ok(Some(entry)) => each(StoredSession {
                key: name.to_owned(),
                text: String::new(),
                entry,
                generation: Generation::File,
            }),
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
    /// The installation and the agent.
    #[serde(flatten)]
    pub place: StorePlace,
    /// Its key, spelled as the store has it.
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
    let StoredSession { key, text, entry, .. } = found(context, &store, &key)?;
    let entry_value: Value = serde_json::from_str(&text)
        .map_err(|error| Error::caused(Kind::Unavailable, format!("cannot read the entry {key}"), &error))?;
    let transcript = store.transcript_of(&entry).ok().filter(|path| path.exists());
    Ok(GetAnswer {
        place: StorePlace::of(&store),
        key,
        entry: context.redacted(&entry_value)?,
        claude_session: store.claude_session_of(&entry),
        transcript,
    })
}

/// One session, of the database or the file.
pub(super) fn found(context: &Context, store: &AgentStore, key: &SessionKey) -> Result<StoredSession, Error> {
    if let Some(place) = store.database() {
        let database = place.open().map_err(unreadable)?;
        if let Some(DatabaseSession { key, text, entry }) = database.session(key).map_err(failed)? {
            return Ok(StoredSession { key, text, entry, generation: Generation::Database });
        }
    }
    let loaded = context.config().store_cache.load(store, context.now);
    if let Some(problem) = loaded.problem {
        return Err(unreadable(problem));
    }
    let name = loaded.store.written(key).map_err(failed)?;
    let text = loaded.store.text(key).map_err(failed)?;
    let entry = loaded.store.get(key).map_err(failed)?;
    let session = name.zip(text).zip(entry).map(|((key, text), entry)| StoredSession {
        key,
        text,
        entry,
        generation: Generation::File,
    });
    session.ok_or_else(|| not_found(context, store, key))
}

/// There is no such session in this installation: what there is instead.
fn not_found(context: &Context, store: &AgentStore, key: &SessionKey) -> Error {
    let mut keys = Vec::new();
    // What cannot be read has no names to suggest.
    let _ = each_entry(context, store, &mut |session| keys.push(session.key));
    let others = other_names("keys", key.given(), keys.iter().map(String::as_str));
    let (agent, state) = (store.agent(), store.state().display());
    Error::new(Kind::NotFound, format!("agent {agent} of {state} has no session `{key}`{others}"))
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
    require_writable(&store, || {
        let patch = serde_json::json!({"key": key.given(), "label": "…"});
        format!("openclaw gateway call sessions.patch --params '{patch}'")
    })?;
    let text = Value::Object(request.fields.clone()).to_string();
    if let Some(name) = openclaw::mistyped(&text) {
        let message = format!("`{name}` cannot have this value: OpenClaw expects one of another type");
        return Err(Error::new(Kind::Usage, message));
    }
    let id = request.fields.get("sessionId").and_then(Value::as_str);
    if let Some(id) = id.filter(|id| id.trim().parse::<model::SessionId>().is_err()) {
        let message =
            format!("`sessionId` cannot have this value: `{}` is not the id of a session", id.escape_debug());
        return Err(Error::new(Kind::Usage, message));
    }
    if !request.create {
        found(context, &store, &key).map_err(|error| match error.kind {
            Kind::NotFound => error.hint("add --create to make it"),
            _ => error,
        })?;
    }
    store.set_fields(&key, &request.fields, &clock(context)).map_err(failed)?;
    context.config().store_cache.forget(&store);
    get(context, &KeyRequest { key: request.key.clone(), agent: request.agent.clone() })
}
