//! Writes `claude-code-sessions.json`: records a run that an agent requested, once, and changes nothing else.
//!
//! OpenClaw's own writer loses the file when it cannot read it, adds a run's cost twice and leaves out kept-alive
//! sessions. This one writes atomically under its lock, keeps every field and entry it does not know, and never
//! touches a file that it could not read completely. A run is recorded as often as it makes progress: by its id, only
//! the cost that was not counted yet is added.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use serde_json::{Map, Value, json};

use crate::lock::{Lock, LockError};
use crate::rewrite::rewrite;
use crate::{Problem, file, left_over};

/// The maximum size of a registry, far larger than any real one.
const CAP: u64 = 64 << 20;
/// A task is cut to this length in characters, as OpenClaw's own are.
const TASK: usize = 500;
/// The most tasks kept for one session.
const TASKS: usize = 50;
/// Our own field: the part of an entry's sums that each run contributed.
const COUNTED: &str = "backstoryRuns";
/// The most runs kept in that field.
const RUNS: usize = 200;

/// The progress of a session's run, to be recorded in its agent's registry.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRun<'a> {
    /// An id that no other run has.
    pub run: &'a str,
    /// When it was requested: a session recorded later is not replaced.
    pub at: Timestamp,
    /// The session's id.
    pub session: &'a SessionId,
    /// The work tree it works in.
    pub repo: &'a Path,
    /// The label it goes by; without one it keeps the one it has.
    pub label: Option<&'a str>,
    /// The id of the message it was given last.
    pub message: &'a str,
    /// The text of that message.
    pub task: &'a str,
    /// The cost of the run so far, in US dollars.
    pub cost_usd: f64,
    /// Its turns so far.
    pub turns: u64,
}

/// Records a run in the registry of the agent with this folder. Fails, and leaves the file as it is, where the
/// registry cannot be read or another program holds its lock for ten seconds.
pub fn record_run(
    agent_folder: &Path,
    run: &AgentRun<'_>,
    clock: &dyn Fn() -> Timestamp,
) -> Result<(), Problem> {
    let path = registry_of(agent_folder)?;
    let lock = Lock::acquire(&path, clock).map_err(|refused| not_locked(&path, refused))?;
    let (original, mut whole) = read(&path)?;
    if !apply(&mut whole, run, clock()) {
        return Ok(());
    }
    let text = rewrite(original.as_deref(), &Value::Object(whole)).map_err(|error| {
        Problem::new(&path, format!("was not written: {error}"), "Repair it or move it away.")
    })?;
    if !lock.is_held() {
        let what = "was not written: its lock was lost meanwhile";
        return Err(Problem::new(&path, what, "Try again."));
    }
    let unwritable = |error: std::io::Error| {
        Problem::new(&path, format!("cannot be written: {error}"), "Make it and its folder writable.")
    };
    system::replace_private_file(&path, text.as_bytes()).map_err(unwritable)?;
    left_over::remove(&path, clock());
    Ok(())
}

/// The registry's path, links resolved, so that a link is kept when the file is replaced.
fn registry_of(agent_folder: &Path) -> Result<PathBuf, Problem> {
    let path = agent_folder.join("claude-code-sessions.json");
    if !agent_folder.is_dir() {
        return Err(Problem::new(
            agent_folder,
            "is no folder of an agent",
            "Name an agent that OpenClaw knows.",
        ));
    }
    Ok(path.canonicalize().unwrap_or(path))
}

fn not_locked(path: &Path, refused: LockError) -> Problem {
    let (what, next) = match refused {
        LockError::Held(holder) => {
            (format!("is locked by {holder}"), "Try again when that is done; remove the lock if it is gone.")
        }
        LockError::Io(error) => (format!("cannot be locked: {error}"), "Make its folder writable."),
    };
    Problem::new(path, what, next)
}

/// The registry's text, where the file exists, and its content.
fn read(path: &Path) -> Result<(Option<String>, Map<String, Value>), Problem> {
    let Some(content) = file::read(path, CAP)? else { return Ok((None, Map::new())) };
    let bad =
        |why: String| Problem::new(path, format!("was not written: {why}"), "Repair it or move it away.");
    let whole: Value =
        serde_json::from_slice(&content).map_err(|error| bad(format!("it is no JSON: {error}")))?;
    match whole {
        Value::Object(whole) if whole.get("sessions").is_none_or(Value::is_object) => {
            Ok((Some(String::from_utf8_lossy(&content).into_owned()), whole))
        }
        _ => Err(bad("it is not a registry of sessions".to_owned())),
    }
}

/// Records the run; returns whether anything changed.
fn apply(whole: &mut Map<String, Value>, run: &AgentRun<'_>, now: Timestamp) -> bool {
    let sessions = whole.entry("sessions").or_insert_with(|| json!({}));
    let Some(sessions) = sessions.as_object_mut() else { return false };
    let key = key(sessions, run);
    let entry = sessions.entry(key).or_insert(Value::Null);
    let is_same = entry["sessionId"].as_str() == Some(run.session.as_str());
    if !is_same {
        let created = entry["createdAt"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        if created.is_some_and(|created| created > run.at) {
            return false;
        }
        // Another session under this key: its counts were of that one, what else is there stays.
        let mut fields = entry.as_object().cloned().unwrap_or_default();
        for of_the_old in ["totalCostUsd", "totalTurns", "taskHistory", COUNTED] {
            fields.remove(of_the_old);
        }
        fields.insert("sessionId".to_owned(), run.session.as_str().into());
        fields.insert("createdAt".to_owned(), millis(now).into());
        *entry = Value::Object(fields);
    }
    let Some(fields) = entry.as_object_mut() else { return false };
    let before = fields.clone();
    let cost = record_cost(fields, run);
    record_task(fields, run, cost, now);
    if is_same && *fields == before {
        return false;
    }
    fields.insert("lastResumedAt".to_owned(), millis(now).into());
    if let Some(label) = run.label {
        fields.insert("label".to_owned(), label.into());
    }
    true
}

/// The session's own key, where it has one already; else that of its work tree and label.
fn key(sessions: &Map<String, Value>, run: &AgentRun<'_>) -> String {
    let is_its = |entry: &Value| {
        let is_called = run.label.is_none() || entry["label"].as_str() == run.label;
        is_called && entry["sessionId"].as_str() == Some(run.session.as_str())
    };
    let found = sessions.iter().find(|(_, entry)| is_its(entry)).map(|(key, _)| key.clone());
    found.unwrap_or_else(|| match run.label {
        Some(label) => format!("{}::{label}", run.repo.display()),
        None => run.repo.display().to_string(),
    })
}

/// The beginning of a task. No word is cut in two: a part of a key would not be recognised as one.
fn beginning(task: &str) -> &str {
    let Some((end, _)) = task.char_indices().nth(TASK) else { return task };
    let is_between = task[end..].starts_with(char::is_whitespace);
    let last = task[..end].rfind(char::is_whitespace).filter(|_| !is_between);
    task[..last.unwrap_or(if is_between { end } else { 0 })].trim_end()
}

/// The task, once, with what was spent on it.
fn record_task(fields: &mut Map<String, Value>, run: &AgentRun<'_>, cost: f64, now: Timestamp) {
    let history = fields.entry("taskHistory").or_insert_with(|| json!([]));
    // A value that is not a list is kept.
    let Some(tasks) = history.as_array_mut() else { return };
    if !tasks.iter().any(|task| task["backstoryMessage"] == run.message) {
        let task = beginning(run.task);
        tasks.push(json!({"at": millis(now), "task": task, "backstoryMessage": run.message}));
    }
    let ours = tasks.iter_mut().find(|task| task["backstoryMessage"] == run.message);
    if let Some(task) = ours.and_then(Value::as_object_mut).filter(|_| cost > 0.0) {
        let before = task.get("costUsd").and_then(Value::as_f64).unwrap_or(0.0);
        task.insert("costUsd".to_owned(), (before + cost).into());
    }
    let too_many = tasks.len().saturating_sub(TASKS);
    tasks.drain(..too_many);
}

/// Adds what the sums do not contain of the run yet; returns the added cost in US dollars.
fn record_cost(fields: &mut Map<String, Value>, run: &AgentRun<'_>) -> f64 {
    let spent = Some(run.cost_usd).filter(|cost| cost.is_finite()).unwrap_or(0.0);
    let counted = fields.entry(COUNTED).or_insert_with(|| json!([]));
    let Some(counted) = counted.as_array_mut() else { return 0.0 };
    let at = counted.iter().position(|one| one["run"] == run.run);
    let before = at.map(|at| &counted[at]);
    let held = |name: &str| before.and_then(|before| before[name].as_f64()).unwrap_or(0.0);
    let turns = before.and_then(|before| before["turns"].as_u64()).unwrap_or(0);
    let (cost, turns) = ((spent - held("costUsd")).max(0.0), run.turns.saturating_sub(turns));
    if cost > 0.0 || turns > 0 {
        let now = json!({"run": run.run, "costUsd": held("costUsd") + cost, "turns": run.turns});
        match at {
            Some(at) => counted[at] = now,
            None => counted.push(now),
        }
    }
    let too_many = counted.len().saturating_sub(RUNS);
    counted.drain(..too_many);
    let sum = fields.get("totalCostUsd").and_then(Value::as_f64).unwrap_or(0.0);
    let all = fields.get("totalTurns").and_then(Value::as_u64).unwrap_or(0);
    if cost > 0.0 || !fields.contains_key("totalCostUsd") {
        fields.insert("totalCostUsd".to_owned(), (sum + cost).into());
    }
    if turns > 0 || !fields.contains_key("totalTurns") {
        fields.insert("totalTurns".to_owned(), all.saturating_add(turns).into());
    }
    cost
}

/// As JavaScript writes a date.
fn millis(time: Timestamp) -> String {
    format!("{time:.3}")
}

#[cfg(test)]
mod tests;
