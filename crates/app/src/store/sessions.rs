//! The questions of `store`: each is a function that takes a request and returns an answer.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use model::AgentId;
use openclaw::{
    AgentStore, DecidedBy, EndedSession, Entry, MaintenanceMode, MaintenanceReport, OldTranscript,
    ResetOptions, SendDecision, SendStrategy, SendVerdict, SessionKey, SessionRow, resolve_send_policy,
};
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

/// Gives the entries of the file or of the database that took its place, one after the other: they may be large. Returns
/// where they are, and what is wrong there.
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

/// Whether messages may be sent into a session, and why.
#[derive(Debug, Serialize)]
pub struct PolicyAnswer {
    /// Its key.
    pub key: String,
    /// `allow` or `deny`.
    pub decision: SendDecision,
    /// `deny-wins` or `first-match`.
    pub strategy: &'static str,
    /// What decided, in a sentence.
    pub reason: String,
    /// The place of the rule that decided, from 1.
    pub rule: Option<usize>,
    /// What the other strategy would decide, where that differs.
    pub other_strategy: Option<SendDecision>,
}

/// Decides whether messages may be sent into a session.
pub fn policy(context: &Context, request: &KeyRequest) -> Result<PolicyAnswer, Error> {
    let key = key(&request.key)?;
    let store = store_of(context, request.agent.as_ref(), Some(&key))?;
    let entry = found(context, &store, &key).ok().map(|(_, entry)| entry);
    let strategy = context.config().settings.openclaw.send_strategy.of_store();
    let decide = |strategy| {
        resolve_send_policy(store.config.send_policy.as_ref(), request.key.trim(), entry.as_ref(), strategy)
    };
    let (verdict, other) = match strategy {
        SendStrategy::DenyWins => (decide(strategy), decide(SendStrategy::FirstMatch)),
        SendStrategy::FirstMatch => (decide(strategy), decide(SendStrategy::DenyWins)),
    };
    Ok(PolicyAnswer {
        key: key.to_string(),
        decision: verdict.decision,
        strategy: match strategy {
            SendStrategy::DenyWins => "deny-wins",
            SendStrategy::FirstMatch => "first-match",
        },
        reason: reason(&verdict),
        rule: match verdict.by {
            DecidedBy::Rule(at) => Some(at + 1),
            DecidedBy::Session | DecidedBy::Default | DecidedBy::Nothing => None,
        },
        other_strategy: Some(other.decision).filter(|other| *other != verdict.decision),
    })
}

fn reason(verdict: &SendVerdict) -> String {
    let of = match (&verdict.channel, verdict.chat_type) {
        (Some(channel), Some(chat)) => format!(" (channel {channel}, {})", chat.as_str()),
        (Some(channel), None) => format!(" (channel {channel})"),
        (None, Some(chat)) => format!(" ({})", chat.as_str()),
        (None, None) => String::new(),
    };
    match verdict.by {
        DecidedBy::Session => "the session's own sendPolicy decides".to_owned(),
        DecidedBy::Rule(at) => format!("rule {} of session.sendPolicy decides{of}", at + 1),
        DecidedBy::Default => format!("no rule matches, so session.sendPolicy.default decides{of}"),
        DecidedBy::Nothing => "nothing forbids it".to_owned(),
    }
}

/// Who holds the lock of a store.
#[derive(Debug, Serialize)]
pub struct LockAnswer {
    /// The store.
    #[serde(serialize_with = "model::path")]
    pub store: PathBuf,
    /// Whether it is locked.
    pub is_locked: bool,
    /// The process that locked it.
    pub pid: Option<u32>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whether the next one who needs the lock takes it.
    pub is_stale: bool,
}

/// Who holds the lock of an agent's store.
pub fn lock(context: &Context, request: &StoreRequest) -> Result<LockAnswer, Error> {
    let store = store_of(context, request.agent.as_ref(), None)?;
    let state = store.lock_state(context.now);
    Ok(LockAnswer {
        store: store.path().to_owned(),
        is_locked: state.is_some(),
        pid: state.as_ref().and_then(|state| state.pid),
        since: state.as_ref().map(|state| state.since),
        is_stale: state.is_some_and(|state| state.is_stale),
    })
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
pub struct StoreProblem {
    /// The session or file.
    pub subject: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What is wrong with a store.
#[derive(Debug, Serialize)]
pub struct CheckAnswer {
    /// The file or database.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// How many sessions there are.
    pub sessions: usize,
    /// What is wrong.
    pub problems: Vec<StoreProblem>,
}

/// What is looked at in an entry.
struct CheckedEntry {
    key: String,
    is_named: bool,
    has_lost_transcript: bool,
    parent: Option<String>,
}

/// Looks for what is wrong with an agent's store.
pub fn check(context: &Context, request: &StoreRequest) -> Result<CheckAnswer, Error> {
    use std::os::unix::fs::PermissionsExt as _;

    let store = store_of(context, request.agent.as_ref(), None)?;
    let mut all = Vec::new();
    let (path, notes) = each_entry(context, &store, &mut |key, entry| {
        let is_lost = || store.transcript_of(&entry).is_ok_and(|path| !path.exists());
        let has_lost_transcript = entry.input_tokens.is_some() && is_lost();
        let is_named = entry.session().is_some();
        all.push(CheckedEntry { key, is_named, has_lost_transcript, parent: entry.spawned_by });
    })?;
    let mut problems: Vec<StoreProblem> = notes
        .into_iter()
        .map(|problem| StoreProblem { subject: path.display().to_string(), problem })
        .collect();
    let mode = std::fs::metadata(&path).map_or(0o600, |found| found.permissions().mode() & 0o777);
    if mode & 0o077 != 0 {
        let problem = format!("other users can read it (mode {mode:o}); the next change makes it 600");
        problems.push(StoreProblem { subject: path.display().to_string(), problem });
    }
    let is_file = path == *store.path();
    let keys: HashSet<&str> = all.iter().map(|entry| entry.key.as_str()).collect();
    for entry in &all {
        let mut say = |problem: &str| {
            problems.push(StoreProblem { subject: entry.key.clone(), problem: problem.to_owned() });
        };
        if !entry.is_named {
            say("has no valid session id");
        } else if is_file && entry.has_lost_transcript {
            say("has no transcript any more");
        }
        if let Some(parent) = entry.parent.as_deref().filter(|parent| !keys.contains(parent)) {
            say(&format!("was started by {parent}, which is gone"));
        }
    }
    Ok(CheckAnswer { path, sessions: all.len(), problems })
}
