//! Detects whether an agent keeps its conversations in SQLite, as OpenClaw does since 2026.8, by the database's
//! header. `session_database` reads its content.

use std::path::{Path, PathBuf};

use crate::{Agents, file};

/// The database's path below an agent's folder.
const PLACE: &str = "agent/openclaw-agent.sqlite";
/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The header field with OpenClaw's schema version (`user_version`).
const SCHEMA: std::ops::Range<usize> = 60..64;
/// The layout of 2026.6, which had no conversations in it yet.
const WITHOUT_CONVERSATIONS: u32 = 1;

/// The database in which an agent's conversations are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDatabase {
    /// The path of the database.
    pub path: PathBuf,
    /// OpenClaw's schema version; `None` where the database has none.
    pub schema: Option<u32>,
}

impl AgentDatabase {
    /// That of an agent, in its folder.
    pub(crate) fn of_agent(folder: &Path) -> Option<Self> {
        let path = folder.join(PLACE);
        let header = file::beginning(&path, SCHEMA.end).ok()?;
        let schema = header.get(SCHEMA).filter(|_| header.starts_with(MAGIC))?;
        let schema = schema.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        (schema != WITHOUT_CONVERSATIONS).then(|| Self { path, schema: (schema != 0).then_some(schema) })
    }

    /// The databases of all agents in some state folders.
    pub fn find(states: &[PathBuf]) -> Vec<Self> {
        let agents = states.iter().flat_map(|state| Agents::find(state).agents);
        agents.filter_map(|agent| Self::of_agent(&agent.folder)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_database_with_conversations_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("agents/main");
        fs::create_dir_all(folder.join("agent")).unwrap();
        let path = folder.join(PLACE);
        let header = |schema: u32| {
            let mut header = MAGIC.to_vec();
            header.resize(SCHEMA.start, 0);
            header.extend(schema.to_be_bytes());
            header.resize(4096, 0);
            header
        };
        let check = |content: &[u8], expected: Option<Option<u32>>| {
            fs::write(&path, content).unwrap();
            let found = AgentDatabase::find(&[scratch.path().to_owned()]);
            assert_eq!(found.first().map(|database| database.schema), expected);
            assert!(found.iter().all(|database| database.path == path));
        };
        assert_eq!(AgentDatabase::of_agent(&folder), None);
        check(&header(23), Some(Some(23)));
        check(&header(0), Some(None));
        check(&header(1), None);
        check(b"", None);
        check(&header(23)[..40], None);
        check(&[0; 4096], None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(AgentDatabase::of_agent(&folder), None);
    }
}
