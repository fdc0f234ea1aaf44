//! An agent's conversations and the Claude sessions behind them, from `sessions.json`, the database that took its place
//! and the files beside transcripts. Never writes any of them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use model::{AgentId, SessionId};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::config::OpenClawConfig;
use crate::conversation_file::conversation;
use crate::store::session_key::SessionKey;
use crate::store::store_text::{self, Content};
use crate::{Agent, AgentDatabase, Problem, file};

/// Larger than any side file by far.
const CAP: u64 = 1 << 20;
/// How the names of the files end that say which Claude session is behind a transcript.
pub(crate) const SIDE_FILE: &str = ".claude-sdk.json";

/// A conversation of an agent's store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredConversation {
    /// Its key, such as `agent:main:main`, in lower case; `None` where only a transcript's side file names it.
    pub key: Option<String>,
    /// The conversation's id.
    pub session: SessionId,
    /// The Claude sessions that belong to it.
    pub claude: Vec<SessionId>,
    /// What it is called.
    pub title: Option<String>,
    /// When something happened in it last, in milliseconds.
    pub updated_at: Option<i64>,
}

/// The conversations of an agent, read without looking at its transcripts.
pub fn agent_conversations(
    agent: &Agent,
    config: &OpenClawConfig,
    home: &Path,
) -> (Vec<StoredConversation>, Vec<Problem>) {
    let store = config.store(&agent.id, home).unwrap_or_else(|| agent.folder.join("sessions/sessions.json"));
    // A folder that is not there, or cannot be listed, has no side files that could be read.
    let entries = store.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let side_file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let session = name.strip_suffix(SIDE_FILE).and_then(conversation)?;
        Some((session, entry.path()))
    };
    let mut sidecars: Vec<_> = entries.flatten().filter_map(side_file).collect();
    sidecars.sort();
    of_agent(&agent.id, &store, &sidecars, AgentDatabase::of_agent(&agent.folder).as_ref())
}

/// The conversations that a store, the files beside transcripts and a database have of an agent. Several agents may
/// share a store.
pub(crate) fn of_agent(
    agent: &AgentId,
    store: &Path,
    sidecars: &[(SessionId, PathBuf)],
    database: Option<&AgentDatabase>,
) -> (Vec<StoredConversation>, Vec<Problem>) {
    let (mut found, mut problems) = read(store, sidecars);
    match database.map(|database| database.open()?.sessions()).transpose() {
        Ok(sessions) => {
            let sessions = sessions.into_iter().flatten();
            found.extend(sessions.filter_map(|one| StoredConversation::of_text(&one.key, &one.text)));
        }
        Err(problem) => problems.push(problem),
    }
    let is_others = |key: &String| {
        key.parse::<SessionKey>().ok().and_then(|key| key.agent()).is_some_and(|owner| owner != *agent)
    };
    let others: HashSet<SessionId> = found
        .iter()
        .filter(|one| one.key.as_ref().is_some_and(is_others))
        .map(|one| one.session.clone())
        .collect();
    found.retain(|one| match &one.key {
        Some(key) => !is_others(key),
        None => !others.contains(&one.session),
    });
    (found, problems)
}

/// Reads a store and the side files of transcripts; what is wrong with one entry costs that entry.
fn read(store: &Path, sidecars: &[(SessionId, PathBuf)]) -> (Vec<StoredConversation>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut found = match store_text::read(store) {
        Ok((Content::Json(object) | Content::Json5(object), _)) => {
            let mut text = |key| {
                object.get(key).unwrap_or_else(|problem| {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                    None
                })
            };
            let named = object.keys().map(|key| (key, text(key)));
            named.filter_map(|(key, text)| StoredConversation::of_text(key, &text?)).collect()
        }
        Ok((Content::Broken(why), _)) => {
            problems.push(Problem::new(store, why, "Repair it, or run `openclaw doctor`."));
            Vec::new()
        }
        Ok((Content::Absent, _)) => Vec::new(),
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    };
    for (session, path) in sidecars {
        match file::read(path, CAP) {
            Ok(content) => found.extend(content.and_then(|content| from_side_file(session, &content))),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

impl StoredConversation {
    /// That of an entry's text.
    pub(crate) fn of_text(key: &str, text: &str) -> Option<Self> {
        entry(key, &RawValue::from_string(text.to_owned()).ok()?)
    }
}

fn entry(key: &str, raw: &RawValue) -> Option<StoredConversation> {
    let fields: Value = serde_json::from_str(raw.get()).ok()?;
    let id = |field: &Value| field.as_str().and_then(|text| text.parse::<SessionId>().ok());
    let named =
        [&fields["cliSessionIds"]["claude-cli"], &fields["claudeCliSessionId"], &fields["sdkSessionId"]];
    let mut claude: Vec<SessionId> = named.into_iter().filter_map(id).collect();
    claude.sort();
    claude.dedup();
    let titles = ["label", "displayName", "subject"].iter().filter_map(|name| fields[*name].as_str());
    let mut titles = titles.map(str::trim).filter(|title| !title.is_empty());
    Some(StoredConversation {
        key: Some(key.to_lowercase()),
        session: id(&fields["sessionId"])?,
        claude,
        title: titles.next().map(str::to_owned),
        updated_at: fields["updatedAt"].as_i64(),
    })
}

/// The conversation in a transcript's side file.
fn from_side_file(session: &SessionId, content: &[u8]) -> Option<StoredConversation> {
    let fields: Value = serde_json::from_slice(content).ok()?;
    let claude = fields["resumeSessionId"].as_str()?.parse().ok()?;
    Some(StoredConversation {
        key: None,
        session: session.clone(),
        claude: vec![claude],
        title: None,
        updated_at: None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(store: &str, expected: &[(&str, &str, &str)], problems: usize) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sessions.json");
        fs::write(&path, store).unwrap();
        let (found, wrong) = read(&path, &[]);
        let listed: Vec<_> = found
            .iter()
            .map(|one| {
                let claude: Vec<_> = one.claude.iter().map(SessionId::as_str).collect();
                (one.key.clone().unwrap_or_default(), one.session.to_string(), claude.join(" "))
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
        assert_eq!((listed, wrong.len()), (expected, problems), "{store}");
    }

    #[test]
    fn every_form_of_a_claude_session_reference() {
        check(
            r#"{"agent:Main:main": {"sessionId": "s1", "cliSessionIds": {"claude-cli": "c1", "codex": "x"},
                                    "claudeCliSessionId": "c1"},
                "b": {"sessionId": "s2", "claudeCliSessionId": "c2", "sdkSessionId": "c3"},
                "c": {"sessionId": "s3"}}"#,
            &[("agent:main:main", "s1", "c1"), ("b", "s2", "c2 c3"), ("c", "s3", "")],
            0,
        );
    }

    #[test]
    fn a_bad_entry_costs_the_entry_and_a_bad_store_is_a_problem() {
        check(
            r#"{"a": 7, "b": {"sessionId": "../x"}, "c": {"sessionId": "s", "cliSessionIds": []}}"#,
            &[("c", "s", "")],
            0,
        );
        check("[]", &[], 1);
        check("{", &[], 1);
    }

    #[test]
    fn each_agent_has_its_own_entries_in_a_shared_store() {
        let scratch = tempfile::tempdir().unwrap();
        let state = scratch.path();
        let write = |name: &str, text: &str| {
            let path = state.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("openclaw.json", &format!("{{session: {{store: '{}/all/sessions.json'}}}}", state.display()));
        let all = r#"{"agent:main:main": {"sessionId": "s1", "claudeCliSessionId": "c1"},
                      "agent:ops:main": {"sessionId": "s2", "sdkSessionId": "c2"}}"#;
        write("all/sessions.json", all);
        write("all/s2.jsonl.claude-sdk.json", r#"{"resumeSessionId": "c3"}"#);
        let config = OpenClawConfig::find(state);
        let check = |name: &str, expected: &[&str]| {
            let agent = Agent { id: name.parse().unwrap(), folder: state.join("agents").join(name) };
            let (found, problems) = agent_conversations(&agent, &config, Path::new("/h"));
            assert_eq!(problems, []);
            let claude: Vec<_> = found.iter().flat_map(|one| &one.claude).map(SessionId::as_str).collect();
            assert_eq!(claude, expected, "{name}");
        };
        check("main", &["c1"]);
        check("ops", &["c2", "c3"]);
    }

    #[test]
    fn the_claude_session_is_read_from_the_database() {
        let scratch = tempfile::tempdir().unwrap();
        let agent = Agent { id: AgentId::main(), folder: scratch.path().join("agents/main") };
        fs::create_dir_all(agent.folder.join("agent")).unwrap();
        let path = agent.folder.join("agent/openclaw-agent.sqlite");
        let connection = database::rusqlite::Connection::open(path).unwrap();
        let tables = r#"
            CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, updated_at INTEGER);
            INSERT INTO session_nodes VALUES
                ('agent:main:main', '{"sessionId": "s1", "cliSessionIds": {"claude-cli": "c1"}}', 5);"#;
        connection.execute_batch(tables).unwrap();
        let (found, problems) = agent_conversations(&agent, &OpenClawConfig::default(), Path::new("/h"));
        let claude: Vec<_> = found.iter().flat_map(|one| &one.claude).map(SessionId::as_str).collect();
        assert_eq!((claude, problems.len()), (vec!["c1"], 0), "{problems:?}");
    }

    #[test]
    fn the_claude_session_is_read_from_a_side_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s1.jsonl.claude-sdk.json");
        fs::write(&path, r#"{"resumeSessionId": "c9", "updatedAt": "2026-01-01T00:00:00Z"}"#).unwrap();
        let (found, problems) = read(&scratch.path().join("absent"), &[("s1".parse().unwrap(), path)]);
        assert!(problems.is_empty());
        assert_eq!(
            found,
            [StoredConversation {
                key: None,
                session: "s1".parse().unwrap(),
                claude: vec!["c9".parse().unwrap()],
                title: None,
                updated_at: None,
            }]
        );
    }
}
