//! The condition of a store: who holds its lock, and what is wrong with it.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use super::place::require_agent;
use super::sessions::{StoreRequest, StoredSession, each_entry};
use super::store_of;
use crate::{Context, Error};

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
    require_agent(context, request.agent.as_ref())?;
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
    require_agent(context, request.agent.as_ref())?;
    let store = store_of(context, request.agent.as_ref(), None)?;
    let mut all = Vec::new();
    let (path, notes) = each_entry(context, &store, &mut |StoredSession { key, entry, .. }| {
        let is_lost = || store.transcript_of(&entry).is_ok_and(|path| !path.exists());
        // One that OpenClaw has just reset has the counts of the conversation before, or none.
        let has_run = entry.system_sent != Some(false) && entry.input_tokens.unwrap_or(0) > 0;
        let has_lost_transcript = has_run && is_lost();
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
    let mut folded: HashMap<String, &str> = HashMap::new();
    for entry in &all {
        let mut say = |problem: &str| {
            problems.push(StoreProblem { subject: entry.key.clone(), problem: problem.to_owned() });
        };
        if !entry.is_named {
            say("has no valid session id");
        } else if is_file && entry.has_lost_transcript {
            say("has no transcript any more");
        }
        if let Some(other) = folded.insert(entry.key.to_lowercase(), &entry.key) {
            say(&format!("differs from {other} in case only: name each as it is written here"));
        }
        if let Some(parent) = entry.parent.as_deref().filter(|parent| !keys.contains(parent)) {
            say(&format!("was started by {parent}, which is gone"));
        }
    }
    Ok(CheckAnswer { path, sessions: all.len(), problems })
}
