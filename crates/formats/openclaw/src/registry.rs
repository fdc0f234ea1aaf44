//! `claude-code-sessions.json`: the Claude Code sessions that one agent started. Only read here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Problem, file};

/// The maximum size of a registry, far larger than any real one: one entry for each repository and label, with its
/// tasks.
const CAP: u64 = 64 << 20;

/// The content of an agent's registry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    /// Its entries, by key.
    pub entries: Vec<RegistryEntry>,
    /// The entries that could not be read.
    pub problems: Vec<Problem>,
}

/// One session as its agent remembers it. Its file may be gone.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// The session's id.
    pub session: SessionId,
    /// The repository it was started for, as OpenClaw wrote it.
    pub repo: PathBuf,
    /// The label it was started under.
    pub label: Option<String>,
    /// When the session was started.
    pub created: Option<Timestamp>,
    /// When the session was last continued.
    pub last_resumed: Option<Timestamp>,
    /// The cost OpenClaw adds up, in US dollars; some versions of OpenClaw counted every run twice.
    pub total_cost_usd: Option<f64>,
    /// Turns, as OpenClaw counts them.
    pub total_turns: Option<u64>,
    /// The newest task it was given.
    pub last_task: Option<AssignedTask>,
    /// All tasks that the registry still lists for it.
    pub tasks: Vec<AssignedTask>,
}

/// Something an agent asked a session to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedTask {
    /// The text of the task.
    pub task: String,
    /// When it was given.
    pub at: Option<Timestamp>,
}

impl Registry {
    /// Reads the registry in an agent's folder; without one there are no entries and no problem.
    pub fn read(agent_folder: &Path) -> Self {
        let path = agent_folder.join("claude-code-sessions.json");
        match file::read(&path, CAP) {
            Ok(Some(content)) => Self::parse(&path, &content),
            Ok(None) => Self::default(),
            Err(problem) => Self { entries: Vec::new(), problems: vec![problem] },
        }
    }

    fn parse(path: &Path, content: &[u8]) -> Self {
        let sessions = match sessions(content) {
            Ok(sessions) => sessions,
            Err(error) => {
                let what = format!("is not a registry of sessions: {error}");
                let next = "Repair or move it; OpenClaw itself takes it for empty and writes over it.";
                return Self { entries: Vec::new(), problems: vec![Problem::new(path, what, next)] };
            }
        };
        let mut registry = Self::default();
        for (key, raw) in sessions {
            match entry(&key, raw) {
                Ok(entry) => registry.entries.push(entry),
                Err(why) => registry.problems.push(Problem::new(
                    path,
                    format!("its entry `{}` was passed over: {why}", key.escape_debug()),
                    "Remove or repair the entry.",
                )),
            }
        }
        registry
    }
}

/// The entries, not yet parsed: an invalid one must not affect the others.
fn sessions(content: &[u8]) -> serde_json::Result<BTreeMap<String, &RawValue>> {
    let whole: BTreeMap<String, &RawValue> = serde_json::from_slice(content)?;
    whole.get("sessions").map_or_else(|| Ok(BTreeMap::new()), |raw| serde_json::from_str(raw.get()))
}

fn entry(key: &str, raw: &RawValue) -> Result<RegistryEntry, String> {
    let fields: Value = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let text = |name: &str| fields[name].as_str();
    let time = |name: &str| text(name).and_then(|text| text.parse().ok());
    let session = text("sessionId").ok_or("it has no sessionId")?;
    let label = text("label").filter(|label| !label.is_empty());
    let tasks = fields["taskHistory"].as_array().map_or_else(Vec::new, |all| tasks(all));
    Ok(RegistryEntry {
        session: session.parse().map_err(|error: model::InvalidId| error.to_string())?,
        repo: repo(key, label).into(),
        label: label.map(str::to_owned),
        created: time("createdAt"),
        last_resumed: time("lastResumedAt"),
        total_cost_usd: fields["totalCostUsd"].as_f64().filter(|cost| *cost >= 0.0),
        total_turns: fields["totalTurns"].as_u64(),
        last_task: newest(&tasks).cloned(),
        tasks,
    })
}

/// The part of a key before `::<label>`. A path may contain `::` itself, so the label decides.
fn repo<'a>(key: &'a str, label: Option<&str>) -> &'a str {
    label.and_then(|label| key.strip_suffix(label)?.strip_suffix("::")).unwrap_or(key)
}

impl RegistryEntry {
    /// The newest task it had been given before a moment.
    pub fn last_task_before(&self, moment: Timestamp) -> Option<&AssignedTask> {
        newest(self.tasks.iter().filter(|task| task.at.is_some_and(|at| at < moment)))
    }
}

fn tasks(values: &[Value]) -> Vec<AssignedTask> {
    let task = |value: &Value| {
        let at = value["at"].as_str().and_then(|at| at.parse().ok());
        Some(AssignedTask { task: value["task"].as_str()?.to_owned(), at })
    };
    values.iter().filter_map(task).collect()
}

/// The task with the latest time, of equal ones the last written.
fn newest<'a>(tasks: impl IntoIterator<Item = &'a AssignedTask>) -> Option<&'a AssignedTask> {
    tasks.into_iter().max_by_key(|task| task.at)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(content: &[u8]) -> Registry {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("claude-code-sessions.json"), content).unwrap();
        Registry::read(scratch.path())
    }

    /// A registry of one entry with this key and these fields.
    fn one(key: &str, fields: &str) -> Registry {
        let key = serde_json::to_string(key).unwrap();
        read(format!("{{\"sessions\": {{{key}: {fields}}}}}").as_bytes())
    }

    #[test]
    fn every_field_of_an_entry_is_read() {
        let registry = one(
            "/home/fonz/openclaw::auth-work",
            r#"{"sessionId": "60309e1e-c4ea-4d6d-8da1-21732781ce4d", "label": "auth-work", "new": {"field": 1},
                "createdAt": "2026-02-20T10:11:12.000Z", "lastResumedAt": "2026-02-20T12:00:00.000Z",
                "totalCostUsd": 0.42, "totalTurns": 7, "triggeredBy": {"userId": "u1"},
                "taskHistory": [{"at": "2026-02-20T12:00:00.000Z", "task": "fix tests", "costUsd": 0.2},
                                {"at": "2026-02-20T10:11:12.000Z", "task": "write tests"}]}"#,
        );
        let time = |text: &str| text.parse::<Timestamp>().ok();
        let expected = RegistryEntry {
            session: "60309e1e-c4ea-4d6d-8da1-21732781ce4d".parse().unwrap(),
            repo: "/home/fonz/openclaw".into(),
            label: Some("auth-work".into()),
            created: time("2026-02-20T10:11:12Z"),
            last_resumed: time("2026-02-20T12:00:00Z"),
            total_cost_usd: Some(0.42),
            total_turns: Some(7),
            last_task: Some(AssignedTask { task: "fix tests".into(), at: time("2026-02-20T12:00:00Z") }),
            tasks: vec![
                AssignedTask { task: "fix tests".into(), at: time("2026-02-20T12:00:00Z") },
                AssignedTask { task: "write tests".into(), at: time("2026-02-20T10:11:12Z") },
            ],
        };
        let before = |moment: &str| {
            let moment = moment.parse().unwrap();
            expected.last_task_before(moment).map(|task| task.task.as_str())
        };
        assert_eq!(before("2026-02-20T10:11:12Z"), None);
        assert_eq!(before("2026-02-20T12:00:00Z"), Some("write tests"));
        assert_eq!(before("2026-02-21T00:00:00Z"), Some("fix tests"));
        assert_eq!(registry, Registry { entries: vec![expected], problems: vec![] });
    }

    #[test]
    fn keys_are_split_by_their_label_only() {
        let check = |key, label, expected| assert_eq!(repo(key, label), expected);
        check("/r", None, "/r");
        check("/r::a", Some("a"), "/r");
        check("/r::a::b", Some("b"), "/r::a");
        check("/r::a::b", Some("a::b"), "/r");
        check("/r::a", None, "/r::a");
        check("/r::a", Some("b"), "/r::a");
        check("/ra", Some("a"), "/ra");
    }

    #[test]
    fn a_bad_field_costs_the_field_and_a_bad_entry_the_entry() {
        let odd = r#"{"sessionId": "s", "label": 5, "createdAt": "soon", "totalCostUsd": "1", "totalTurns": -1, "taskHistory": {}}"#;
        let registry = one("/r", odd);
        assert!(registry.problems.is_empty());
        let entry = &registry.entries[0];
        assert_eq!(
            (&entry.label, entry.created, entry.total_cost_usd, entry.total_turns, &entry.last_task),
            (&None, None, None, None, &None)
        );

        let tasks = r#"{"sessionId": "s", "taskHistory": [{"task": "a"}, 7, {"task": "b"}, {"at": "2026-01-01T00:00:00Z"}]}"#;
        assert_eq!(one("/r", tasks).entries[0].last_task, Some(AssignedTask { task: "b".into(), at: None }));

        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        for bad in ["7", "null", "{}", r#"{"sessionId": 7}"#, r#"{"sessionId": "../x"}"#, &deep] {
            let text = format!(r#"{{"sessions": {{"/good": {{"sessionId": "s"}}, "/bad": {bad}}}}}"#);
            let registry = read(text.as_bytes());
            let short: String = bad.chars().take(30).collect();
            assert_eq!((registry.entries.len(), registry.problems.len()), (1, 1), "{short}");
            assert!(registry.problems[0].what.contains("/bad"), "{short}");
        }
    }

    #[test]
    fn a_bad_file_is_a_problem_without_entries() {
        for bad in [&b""[..], b"{", b"[]", b"\xff\xfe", b"null", br#"{"sessions": []}"#] {
            let registry = read(bad);
            assert_eq!((registry.entries.len(), registry.problems.len()), (0, 1), "{bad:?}");
            assert!(registry.problems[0].path.ends_with("claude-code-sessions.json"));
        }
        for empty in ["{}", r#"{"sessions": {}}"#, r#"{"version": 2}"#] {
            assert_eq!(read(empty.as_bytes()), Registry::default(), "{empty}");
        }
        assert_eq!(Registry::read(Path::new("/nowhere")), Registry::default());
    }
}
