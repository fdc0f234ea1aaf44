//! Writing `claude-code-sessions.json`: a run that an agent asked for is entered once, and nothing else is changed.
//!
//! OpenClaw's own writer loses the file when it cannot read it, adds a run's cost twice and leaves kept-alive sessions
//! out. This one writes under its lock, in one step, keeps every field and entry it does not know, adds a run's cost
//! once by the run's id, and touches no file that it could not read whole.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use serde_json::{Map, Value, json};

use crate::lock::{Lock, Refused, replace};
use crate::{Problem, file};

/// Larger than any registry we heard of by far.
const CAP: u64 = 64 << 20;
/// A task is cut to this length in characters, as OpenClaw's own are.
const TASK: usize = 500;
/// So many tasks are kept of one session.
const TASKS: usize = 50;
/// The runs whose cost an entry holds, by their ids: a field of ours.
const COUNTED: &str = "backstoryRuns";
/// So many of them are kept.
const RUNS: usize = 200;

/// A run of a session, to be entered into its agent's registry.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRun<'a> {
    /// An id that no other run has: entering it again changes nothing.
    pub run: &'a str,
    /// The session.
    pub session: &'a SessionId,
    /// The repository it works in.
    pub repo: &'a Path,
    /// The label it goes by.
    pub label: Option<&'a str>,
    /// What it was asked.
    pub task: &'a str,
    /// What the run cost, in US dollars; `None` while it goes on.
    pub cost_usd: Option<f64>,
    /// Turns of the run.
    pub turns: u64,
}

/// Enters a run into the registry of the agent whose folder this is. An unreadable registry, or one another program
/// holds for ten seconds, is told of and left as it is.
pub fn enter(agent_folder: &Path, run: &AgentRun<'_>, clock: fn() -> Timestamp) -> Result<(), Problem> {
    let path = registry_of(agent_folder)?;
    let lock = Lock::of(&path, clock).map_err(|refused| not_locked(&path, refused))?;
    let mut whole = read(&path)?;
    if !apply(&mut whole, run, clock()) {
        return Ok(());
    }
    let mut text = serde_json::to_vec_pretty(&Value::Object(whole)).unwrap_or_default();
    text.push(b'\n');
    if !lock.is_held() {
        let what = "was not written: its lock was lost meanwhile";
        return Err(Problem::new(&path, what, "Try again."));
    }
    let unwritable = |error: std::io::Error| {
        Problem::new(&path, format!("cannot be written: {error}"), "Make it and its folder writable.")
    };
    replace(&path, &text).map_err(unwritable)
}

/// The file itself: where a link stands in its place, that is kept.
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

fn not_locked(path: &Path, refused: Refused) -> Problem {
    let (what, next) = match refused {
        Refused::Held(holder) => {
            (format!("is locked by {holder}"), "Try again when that is done; remove the lock if it is gone.")
        }
        Refused::Io(error) => (format!("cannot be locked: {error}"), "Make its folder writable."),
    };
    Problem::new(path, what, next)
}

fn read(path: &Path) -> Result<Map<String, Value>, Problem> {
    let Some(content) = file::read(path, CAP)? else { return Ok(Map::new()) };
    let bad =
        |why: String| Problem::new(path, format!("was not written: {why}"), "Repair it or move it away.");
    let whole: Value =
        serde_json::from_slice(&content).map_err(|error| bad(format!("it is no JSON: {error}")))?;
    match whole {
        Value::Object(whole) if whole.get("sessions").is_none_or(Value::is_object) => Ok(whole),
        _ => Err(bad("it is not a registry of sessions".to_owned())),
    }
}

/// Enters the run; says whether anything changed.
fn apply(whole: &mut Map<String, Value>, run: &AgentRun<'_>, now: Timestamp) -> bool {
    let sessions = whole.entry("sessions").or_insert_with(|| json!({}));
    let Some(sessions) = sessions.as_object_mut() else { return false };
    let key = match run.label {
        Some(label) => format!("{}::{label}", run.repo.display()),
        None => run.repo.display().to_string(),
    };
    let entry = sessions.entry(key).or_insert(Value::Null);
    let is_same = entry["sessionId"].as_str() == Some(run.session.as_str());
    if !is_same || !entry.is_object() {
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
    enter_task(fields, run, now);
    enter_cost(fields, run);
    if is_same && *fields == before {
        return false;
    }
    fields.insert("lastResumedAt".to_owned(), millis(now).into());
    if let Some(label) = run.label {
        fields.insert("label".to_owned(), label.into());
    }
    true
}

/// The task of the run, once; its cost when that is known.
fn enter_task(fields: &mut Map<String, Value>, run: &AgentRun<'_>, now: Timestamp) {
    let history = fields.entry("taskHistory").or_insert_with(|| json!([]));
    // What is no list is not ours to throw away.
    let Some(tasks) = history.as_array_mut() else { return };
    if !tasks.iter().any(|task| task["backstoryRun"] == run.run) {
        let task: String = run.task.chars().take(TASK).collect();
        tasks.push(json!({"at": millis(now), "task": task, "backstoryRun": run.run}));
    }
    let ours = tasks.iter_mut().find(|task| task["backstoryRun"] == run.run);
    if let (Some(task), Some(cost)) = (ours.and_then(Value::as_object_mut), run.cost_usd) {
        task.insert("costUsd".to_owned(), cost.into());
    }
    let too_many = tasks.len().saturating_sub(TASKS);
    tasks.drain(..too_many);
}

/// The cost and the turns of a run that is over, once.
fn enter_cost(fields: &mut Map<String, Value>, run: &AgentRun<'_>) {
    let Some(cost) = run.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0) else {
        fields.entry("totalCostUsd").or_insert_with(|| json!(0.0));
        fields.entry("totalTurns").or_insert_with(|| json!(0));
        return;
    };
    let counted = fields.entry(COUNTED).or_insert_with(|| json!([]));
    let Some(counted) = counted.as_array_mut() else { return };
    if counted.iter().any(|id| id == run.run) {
        return;
    }
    counted.push(run.run.into());
    let too_many = counted.len().saturating_sub(RUNS);
    counted.drain(..too_many);
    let total = fields.get("totalCostUsd").and_then(Value::as_f64).unwrap_or(0.0) + cost;
    let turns = fields.get("totalTurns").and_then(Value::as_u64).unwrap_or(0).saturating_add(run.turns);
    fields.insert("totalCostUsd".to_owned(), total.into());
    fields.insert("totalTurns".to_owned(), turns.into());
}

/// As JavaScript writes a date.
fn millis(time: Timestamp) -> String {
    format!("{time:.3}")
}

#[cfg(test)]
mod tests;
