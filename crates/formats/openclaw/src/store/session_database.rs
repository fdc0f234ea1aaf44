//! Reads the sessions that OpenClaw keeps in SQLite since 2026.8. Never writes: OpenClaw may be writing at the same
//! time.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

use database::rusqlite::types::ValueRef;
use database::rusqlite::{Connection, Error as SqlError, OptionalExtension as _};
use model::SessionId;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::session_key::SessionKey;
use super::session_store::only_spelling;
use super::store_error::StoreError;
use crate::Problem;
use crate::sqlite::AgentDatabase;

/// The versions of the tables that were read in tests or described by OpenClaw.
const KNOWN: std::ops::RangeInclusive<u32> = 14..=24;
/// The longest line of a transcript, which is the longest that OpenClaw compresses.
const LONGEST: u64 = 64 << 20;
/// The first bytes of compressed data.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An open database of sessions.
#[derive(Debug)]
pub struct SessionDatabase {
    connection: Connection,
    place: AgentDatabase,
    has_compressed: bool,
}

/// A session of the database.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseSession {
    /// Its key.
    pub key: String,
    /// The text of its entry.
    pub text: String,
    /// Its entry.
    pub entry: Entry,
}

/// The state of a conversation: another one means another text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConversationState {
    pub(crate) lines: i64,
    pub(crate) last: i64,
    pub(crate) updated_at: i64,
}

/// A conversation of the database: a session has a new one after each reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseConversation {
    /// Its id.
    pub session: SessionId,
    /// The key of its session.
    pub key: String,
    /// When it was changed last, in milliseconds.
    pub updated_at: i64,
}

impl AgentDatabase {
    /// Opens the database for reading.
    pub fn open(&self) -> Result<SessionDatabase, Problem> {
        let connection = database::open_foreign(&self.path).map_err(|error| {
            Problem::new(&self.path, system::error_chain(&error), "Run `openclaw doctor`.")
        })?;
        let columns = "SELECT count(*) FROM pragma_table_info('transcript_events') WHERE name = 'event_zstd'";
        let has_compressed =
            connection.query_row(columns, [], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0);
        Ok(SessionDatabase { connection, place: self.clone(), has_compressed })
    }

    /// Whether sessions may be in it: only where it can be read and has none, there are none.
    pub(crate) fn may_hold_sessions(&self) -> bool {
        self.open().and_then(|database| database.holds_sessions()).unwrap_or(true)
    }
}

impl SessionDatabase {
    /// What there is to know of a version that is not known here.
    pub fn warning(&self) -> Option<Problem> {
        let schema = self.place.schema.filter(|schema| !KNOWN.contains(schema))?;
        let what = format!(
            "has version {schema} of OpenClaw's tables, and {} to {} are known; what they have in common is read",
            KNOWN.start(),
            KNOWN.end()
        );
        Some(Problem::new(&self.place.path, what, "Update Backstory."))
    }

    fn holds_sessions(&self) -> Result<bool, Problem> {
        if !self.has_table("session_nodes")? {
            return Ok(false);
        }
        let any = "SELECT EXISTS (SELECT 1 FROM session_nodes)";
        self.connection.query_row(any, [], |row| row.get(0)).map_err(|error| self.problem(&error))
    }

    /// The sessions, the one that changed last first. An entry that is no JSON object is left out.
    pub fn sessions(&self) -> Result<Vec<DatabaseSession>, Problem> {
        if !self.has_table("session_nodes")? {
            return Ok(Vec::new());
        }
        let read = || {
            let sql =
                "SELECT session_key, entry_json FROM session_nodes ORDER BY updated_at DESC, session_key";
            let mut statement = self.connection.prepare(sql)?;
            let rows =
                statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        let rows = read().map_err(|error| self.problem(&error))?;
        let session = |(key, text): (String, String)| {
            let entry = Entry::parse(&text)?;
            Some(DatabaseSession { key, text, entry })
        };
        Ok(rows.into_iter().filter_map(session).collect())
    }

    /// One session: that of the key as it was given, else the only one whose key differs in case.
    pub fn session(&self, key: &SessionKey) -> Result<Option<DatabaseSession>, StoreError> {
        let mut sessions = self.sessions()?;
        let exact = sessions.iter().position(|session| session.key == key.given());
        let at = match exact {
            Some(at) => Some(at),
            None => only_spelling(key, sessions.iter().map(|session| session.key.as_str()))?
                .and_then(|name| sessions.iter().position(|session| session.key == name)),
        };
        Ok(at.map(|at| sessions.swap_remove(at)))
    }

    /// The conversations, the one that changed last first.
    pub fn conversations(&self) -> Result<Vec<DatabaseConversation>, Problem> {
        if !self.has_table("session_windows")? {
            return Ok(Vec::new());
        }
        let read = || {
            let sql = "SELECT session_id, session_key, updated_at FROM session_windows ORDER BY updated_at DESC, session_id";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        let rows = read().map_err(|error| self.problem(&error))?;
        let conversation = |(id, key, updated_at): (String, String, i64)| {
            Some(DatabaseConversation { session: id.parse().ok()?, key, updated_at })
        };
        Ok(rows.into_iter().filter_map(conversation).collect())
    }

    /// The state of each conversation that has a transcript.
    pub(crate) fn states(&self) -> Result<Vec<(SessionId, ConversationState)>, Problem> {
        if !self.has_table("transcript_events")? {
            return Ok(Vec::new());
        }
        let read = || {
            let sql = "SELECT session_id, count(*), max(seq) FROM transcript_events GROUP BY session_id";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        let rows = read().map_err(|error| self.problem(&error))?;
        let updated: HashMap<SessionId, i64> = self
            .conversations()?
            .into_iter()
            .map(|conversation| (conversation.session, conversation.updated_at))
            .collect();
        let state = |(id, lines, last): (String, i64, i64)| {
            let session: SessionId = id.parse().ok()?;
            let updated_at = *updated.get(&session)?;
            Some((session, ConversationState { lines, last, updated_at }))
        };
        Ok(rows.into_iter().filter_map(state).collect())
    }

    /// Hands over the lines of a conversation's transcript in order, each as it stood in a file before, until `take`
    /// returns false. Returns how many could not be read.
    pub fn lines(&self, session: &SessionId, take: &mut dyn FnMut(&str) -> bool) -> Result<usize, Problem> {
        if !self.has_table("transcript_events")? {
            return Ok(0);
        }
        let body = if self.has_compressed { "coalesce(event_json, event_zstd)" } else { "event_json" };
        let sql = format!("SELECT {body} FROM transcript_events WHERE session_id = ?1 ORDER BY seq");
        let mut unread = 0;
        let mut read = || {
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query([session.as_str()])?;
            while let Some(row) = rows.next()? {
                match line(row.get_ref(0)?) {
                    Some(text) if !take(&text) => return Ok(()),
                    Some(_) => {}
                    None => unread += 1,
                }
            }
            Ok(())
        };
        read().map_err(|error: SqlError| self.problem(&error))?;
        Ok(unread)
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    fn has_table(&self, name: &str) -> Result<bool, Problem> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = self.connection.query_row(sql, [name], |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(|error| self.problem(&error))
    }

    fn problem(&self, error: &SqlError) -> Problem {
        Problem::new(&self.place.path, format!("cannot be read: {error}"), "Run `openclaw doctor`.")
    }
}

/// The text of a line, which may be compressed.
fn line(value: ValueRef<'_>) -> Option<String> {
    let bytes = match value {
        ValueRef::Text(text) => return Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => bytes,
        _ => return None,
    };
    if !bytes.starts_with(&ZSTD) {
        return String::from_utf8(bytes.to_vec()).ok();
    }
    let mut text = Vec::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).ok()?;
    decoder.take(LONGEST + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LONGEST).then(|| String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn database(path: PathBuf, schema: u32, tables: &str) -> AgentDatabase {
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(tables).unwrap();
        connection.pragma_update(None, "user_version", schema).unwrap();
        AgentDatabase { path, schema: Some(schema) }
    }

    const TABLES: &str = "
        CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, updated_at INTEGER);
        CREATE TABLE session_windows (session_id TEXT, session_key TEXT, updated_at INTEGER);
        CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
        INSERT INTO session_nodes VALUES ('agent:main:main', '{\"sessionId\": \"s1\", \"updatedAt\": 5}', 5),
            ('agent:main:new', '{\"sessionId\": \"s2\"}', 9), ('bad', '[]', 7);
        INSERT INTO session_windows VALUES ('s1', 'agent:main:main', 5), ('../x', 'agent:main:main', 6);
        INSERT INTO transcript_events VALUES ('s1', 2, '{\"b\":1}', NULL), ('s1', 1, '{\"a\":1}', NULL),
            ('s1', 3, NULL, x'00ff'), ('s1', 4, NULL, x'28b52ffd200a5100007b2263223a2268c3a97d'), ('s2', 1, '{}', NULL);";

    #[test]
    fn sessions_and_their_lines_are_read() {
        let scratch = tempfile::tempdir().unwrap();
        let place = database(scratch.path().join("a.sqlite"), 23, TABLES);
        assert!(place.may_hold_sessions());
        let open = place.open().unwrap();
        assert_eq!(open.warning(), None);
        let keys: Vec<_> = open.sessions().unwrap().into_iter().map(|session| session.key).collect();
        assert_eq!(keys, ["agent:main:new", "agent:main:main"]);
        let key = "AGENT:main:main".parse().unwrap();
        assert_eq!(open.session(&key).unwrap().unwrap().entry.updated_at, Some(5));
        assert_eq!(open.conversations().unwrap().len(), 1);
        let mut lines = Vec::new();
        let unread = open
            .lines(&"s1".parse().unwrap(), &mut |line| {
                lines.push(line.to_owned());
                true
            })
            .unwrap();
        assert_eq!(lines[..2], ["{\"a\":1}".to_owned(), "{\"b\":1}".to_owned()]);
        assert!(unread >= 1, "{lines:?}");
    }

    #[test]
    fn compressed_lines_are_read() {
        let text = format!("{{\"text\":\"{}\"}}", "walrus ".repeat(400));
        let packed =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        assert_eq!(line(ValueRef::Blob(&packed)), Some(text));
        assert_eq!(line(ValueRef::Blob(&packed[..packed.len() / 2])), None);
        assert_eq!(line(ValueRef::Null), None);
    }

    #[test]
    fn other_schema_versions_are_reported_and_empty_databases_have_no_sessions() {
        let scratch = tempfile::tempdir().unwrap();
        let newer = database(scratch.path().join("a.sqlite"), 99, TABLES);
        let warning = newer.open().unwrap().warning().unwrap();
        assert!(warning.what.contains("version 99"), "{}", warning.what);
        assert_eq!(newer.open().unwrap().sessions().unwrap().len(), 2);
        let empty = database(scratch.path().join("b.sqlite"), 23, "CREATE TABLE other (x);");
        assert!(!empty.may_hold_sessions());
        assert_eq!(empty.open().unwrap().sessions().unwrap(), []);
        std::fs::write(scratch.path().join("c.sqlite"), "no database").unwrap();
        let broken = AgentDatabase { path: scratch.path().join("c.sqlite"), schema: None };
        assert!(broken.may_hold_sessions() && broken.open().is_err());
    }
}
