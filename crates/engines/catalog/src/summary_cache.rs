//! A cache of the facts of files, in a database that can be rebuilt: an unchanged file is never read again.
//!
//! A database that fails never stops anything: the files are read without it, and the catalog says why.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use database::rusqlite::{self, Connection, Row, params};
use database::{Condition, DerivedDatabase};
use model::SessionId;
use system::{FileStamp, error_chain};
use xxhash_rust::xxh3::xxh3_64;

use crate::facts::FileFacts;
use crate::pack::{FORMAT, Packed, unpack, unpack_messages};
use crate::types::{ByPath, Detail};

/// How long a write waits for another process; what is not written now is written the next time.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

const STEPS: [&str; 5] = [
    "
    CREATE TABLE file (
        path BLOB NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        facts BLOB NOT NULL,
        messages BLOB NOT NULL
    ) STRICT;
    ",
    // What a choice among sessions asked for stood in columns of its own.
    "
    DROP TABLE file;
    CREATE TABLE file (
        path BLOB NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        cwd TEXT, worktree_origin TEXT, branch TEXT, origin_marker TEXT, last_at INTEGER,
        facts BLOB NOT NULL,
        messages BLOB NOT NULL
    ) STRICT;
    ",
    // It is now in a file next to this one, for all sessions at once.
    "
    DROP TABLE file;
    CREATE TABLE file (
        path BLOB NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        facts BLOB NOT NULL,
        messages BLOB NOT NULL
    ) STRICT;
    ",
    // One more message replaced all of a long session's. Without row ids SQLite would read a whole block to pass it.
    "
    DROP TABLE file;
    CREATE TABLE file (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        facts BLOB NOT NULL
    ) STRICT;
    CREATE TABLE messages (
        file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
        block INTEGER NOT NULL,
        hash INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (file, block)
    ) STRICT;
    ",
    // The facts of transcripts that are gone: there is no other place to read them again.
    "
    CREATE TABLE gone (
        path BLOB NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        facts BLOB NOT NULL
    ) STRICT;
    ",
];

const WRITE_FILE: &str = "
    INSERT INTO file (path, format, dev, ino, size, mtime, facts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (path) DO UPDATE SET format = excluded.format, dev = excluded.dev, ino = excluded.ino,
        size = excluded.size, mtime = excluded.mtime, facts = excluded.facts
    RETURNING id";
/// A block that is kept already is not written again, nor read: its hash is enough.
const WRITE_BLOCK: &str = "
    INSERT INTO messages (file, block, hash, bytes) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (file, block) DO UPDATE SET hash = excluded.hash, bytes = excluded.bytes
        WHERE hash <> excluded.hash";
const KEEP_GONE: &str = "
    INSERT OR REPLACE INTO gone (path, format, dev, ino, size, mtime, facts)
    SELECT path, format, dev, ino, size, mtime, facts FROM file WHERE path = ?1";
const FORGET_BLOCKS: &str = "DELETE FROM messages WHERE file = ?1 AND block >= ?2";
const READ_BLOCKS: &str = "SELECT bytes FROM messages WHERE file = ?1 ORDER BY block";

/// The kept facts of files.
#[derive(Debug, Default)]
pub(crate) struct SummaryCache {
    connection: Option<Connection>,
    trouble: Option<String>,
}

impl SummaryCache {
    /// Opens the database at `path`; without a path nothing is kept.
    pub(crate) fn open(path: Option<&Path>) -> Self {
        let Some(path) = path else { return Self::default() };
        let opened = database::open_derived(path, &STEPS).map_err(|error| error_chain(&error));
        let (connection, trouble) = match opened {
            Ok(DerivedDatabase { connection, condition: Condition::Ready | Condition::Recreated { .. } }) => {
                (Some(connection), None)
            }
            Ok(DerivedDatabase { connection, condition: Condition::ReadOnly { because } }) => {
                (Some(connection), Some(error_chain(&because)))
            }
            Ok(DerivedDatabase { condition: Condition::InMemory { because }, .. }) => {
                (None, Some(error_chain(&because)))
            }
            Err(trouble) => (None, Some(trouble)),
        };
        if let Some(connection) = &connection {
            // If this fails, the default timeout stays.
            let _ = connection.busy_timeout(BUSY_TIMEOUT);
        }
        Self { connection, trouble }
    }

    /// Why facts cannot be cached, if so.
    pub(crate) fn into_error(self) -> Option<String> {
        self.trouble
    }

    /// Loads all cached facts; without the API messages where `detail` does not ask for them.
    pub(crate) fn load(&mut self, detail: Detail) -> ByPath<FileFacts> {
        let Some(connection) = &self.connection else { return ByPath::default() };
        load(connection, detail).unwrap_or_else(|error| self.give_up(&error))
    }

    /// Loads the cached facts of some files.
    pub(crate) fn load_some<'a>(
        &mut self,
        detail: Detail,
        paths: impl Iterator<Item = &'a Path>,
    ) -> ByPath<FileFacts> {
        let Some(connection) = &self.connection else { return ByPath::default() };
        load_some(connection, detail, paths).unwrap_or_else(|error| self.give_up(&error))
    }

    /// Keeps facts, all of them or none; returns how many files were written.
    pub(crate) fn save(&mut self, files: &[(PathBuf, Packed)]) -> u64 {
        self.write(|connection| {
            files.iter().try_fold(0, |written, (path, packed)| {
                write_file(connection, path, packed)?;
                Ok(written + 1)
            })
        })
    }

    /// Forgets files that are gone, but for what was last known of transcripts; returns how many.
    pub(crate) fn forget(&mut self, paths: &[PathBuf]) -> u64 {
        self.write(|connection| {
            let mut keep = connection.prepare_cached(KEEP_GONE)?;
            let mut delete = connection.prepare_cached("DELETE FROM file WHERE path = ?1")?;
            paths.iter().try_fold(0, |gone, path| {
                let bytes = path.as_os_str().as_bytes();
                if session_of(path).is_some() {
                    keep.execute([bytes])?;
                }
                Ok(gone + delete.execute([bytes])? as u64)
            })
        })
    }

    /// What was last known of the transcripts of sessions that are wanted, whether or not it was noticed that they are gone.
    pub(crate) fn load_gone(
        &mut self,
        is_wanted: impl Fn(&SessionId) -> bool,
    ) -> Vec<(SessionId, PathBuf, FileFacts)> {
        let Some(connection) = &self.connection else { return Vec::new() };
        load_gone(connection, is_wanted).unwrap_or_else(|error| self.give_up(&error))
    }

    fn write(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<u64>) -> u64 {
        let Some(connection) = self.connection.as_mut().filter(|_| self.trouble.is_none()) else { return 0 };
        let done =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).and_then(|turn| {
                let rows = work(&turn)?;
                turn.commit()?;
                Ok(rows)
            });
        done.unwrap_or_else(|error| self.give_up(&error))
    }

    fn give_up<T: Default>(&mut self, error: &rusqlite::Error) -> T {
        let damaged = database::is_corruption(error);
        let path = self.connection.take().and_then(|connection| connection.path().map(PathBuf::from));
        if let Some(path) = path.filter(|_| damaged) {
            // A damaged cache is removed: the next process creates a new one.
            let _ = database::set_aside(&path);
        }
        self.trouble = Some(error.to_string());
        T::default()
    }
}

fn write_file(connection: &Connection, path: &Path, packed: &Packed) -> rusqlite::Result<()> {
    let FileStamp { dev, ino, size, mtime } = packed.stamp;
    let [dev, ino, size] = [dev, ino, size].map(u64::cast_signed);
    let path = path.as_os_str().as_bytes();
    let file: i64 = connection
        .prepare_cached(WRITE_FILE)?
        .query_row(params![path, FORMAT, dev, ino, size, mtime, packed.facts], |row| row.get(0))?;
    let mut write_block = connection.prepare_cached(WRITE_BLOCK)?;
    let mut blocks = 0_i64;
    for block in &packed.messages {
        write_block.execute(params![file, blocks, xxh3_64(block).cast_signed(), block])?;
        blocks += 1;
    }
    connection.prepare_cached(FORGET_BLOCKS)?.execute([file, blocks])?;
    Ok(())
}

fn load(connection: &Connection, detail: Detail) -> rusqlite::Result<ByPath<FileFacts>> {
    let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM file WHERE format = ?1"))?;
    let mut rows = select.query([FORMAT])?;
    let mut kept = ByPath::default();
    while let Some(row) = rows.next()? {
        kept.extend(facts(connection, detail, row)?);
    }
    Ok(kept)
}

fn load_some<'a>(
    connection: &Connection,
    detail: Detail,
    paths: impl Iterator<Item = &'a Path>,
) -> rusqlite::Result<ByPath<FileFacts>> {
    let mut select =
        connection.prepare(&format!("SELECT {COLUMNS} FROM file WHERE path = ?1 AND format = ?2"))?;
    let mut kept = ByPath::default();
    for path in paths {
        let mut rows = select.query(params![path.as_os_str().as_bytes(), FORMAT])?;
        while let Some(row) = rows.next()? {
            kept.extend(facts(connection, detail, row)?);
        }
    }
    Ok(kept)
}

fn load_gone(
    connection: &Connection,
    is_wanted: impl Fn(&SessionId) -> bool,
) -> rusqlite::Result<Vec<(SessionId, PathBuf, FileFacts)>> {
    let mut found = Vec::new();
    // What was noticed last comes first.
    for table in ["file", "gone"] {
        let columns = "path, dev, ino, size, mtime, facts";
        let mut select = connection.prepare(&format!("SELECT {columns} FROM {table} WHERE format = ?1"))?;
        let mut rows = select.query([FORMAT])?;
        while let Some(row) = rows.next()? {
            let path = PathBuf::from(OsStr::from_bytes(row.get_ref(0)?.as_blob()?));
            let Some(id) = session_of(&path).filter(&is_wanted) else { continue };
            let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
            let stamp = FileStamp { dev: number(1)?, ino: number(2)?, size: number(3)?, mtime: row.get(4)? };
            found.extend(unpack(stamp, row.get_ref(5)?.as_blob()?).map(|facts| (id, path, facts)));
        }
    }
    Ok(found)
}

/// The session of a transcript, by its name.
fn session_of(path: &Path) -> Option<SessionId> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    name.parse().ok().filter(|_| !name.starts_with("agent-"))
}

/// The columns that [`facts`] reads.
const COLUMNS: &str = "id, path, dev, ino, size, mtime, facts";

/// The facts in a row, with the API messages where `detail` asks for them; `None` where the bytes are damaged.
fn facts(
    connection: &Connection,
    detail: Detail,
    row: &Row<'_>,
) -> rusqlite::Result<Option<(OsString, FileFacts)>> {
    let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let path = OsStr::from_bytes(row.get_ref(1)?.as_blob()?).to_owned();
    let stamp = FileStamp { dev: number(2)?, ino: number(3)?, size: number(4)?, mtime: row.get(5)? };
    let Some(mut facts) = unpack(stamp, row.get_ref(6)?.as_blob()?) else { return Ok(None) };
    if detail == Detail::Spending {
        let mut select = connection.prepare_cached(READ_BLOCKS)?;
        let mut blocks = select.query([row.get::<_, i64>(0)?])?;
        while let Some(block) = blocks.next()? {
            let Some(messages) = unpack_messages(block.get_ref(0)?.as_blob()?) else { return Ok(None) };
            facts.messages.extend(messages);
        }
    }
    Ok(Some((path, facts)))
}

#[cfg(test)]
mod tests {
    use std::iter;

    use jiff::Timestamp;
    use model::{MessageUsage, PricingTerms, Usage};
    use system::FileStamp;
    use transcript::{Checkpoint, Summary};

    use super::*;
    use crate::pack::pack;

    fn facts(messages: u64) -> FileFacts {
        let message = |key| MessageUsage {
            key,
            message: key,
            model: "claude-opus-5-5".to_owned(),
            at: Timestamp::from_second(1_790_000_000 + key.cast_signed() % 7).ok(),
            by_record: false,
            usage: Usage { output: key, ..Usage::default() },
            requests: Vec::new(),
            terms: PricingTerms::default(),
            copied: false,
            subagent: false,
        };
        let (stamp, mark) = (FileStamp { size: messages, ..FileStamp::default() }, Checkpoint::default());
        let summary = Box::new(Summary::default());
        FileFacts { stamp, mark, summary, messages: (0..messages).map(message).collect(), agent: None }
    }

    #[test]
    fn a_new_message_rewrites_one_block() {
        let scratch = tempfile::tempdir().unwrap();
        let mut cache = SummaryCache::open(Some(&scratch.path().join("catalog.sqlite")));
        let path = PathBuf::from("/p/s1.jsonl");
        let number = |cache: &SummaryCache, sql: &str| -> i64 {
            cache.connection.as_ref().unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let mut changed_rows = |messages| {
            let facts = facts(messages);
            let before = number(&cache, "SELECT total_changes()");
            cache.save(&[(path.clone(), pack(&facts).unwrap())]);
            let mut kept = cache.load_some(Detail::Spending, iter::once(path.as_path()));
            assert_eq!(kept.remove(path.as_os_str()), Some(facts), "{messages}");
            number(&cache, "SELECT total_changes()") - before
        };
        assert_eq!(changed_rows(500), 1 + 4);
        assert_eq!(changed_rows(501), 1 + 1, "the file and its last block");
        assert_eq!(changed_rows(501), 1);
        assert_eq!(changed_rows(100), 1 + 1 + 3, "the file, its first block, and those that are gone");
        assert_eq!(cache.forget(&[path]), 1);
        assert_eq!(number(&cache, "SELECT count(*) FROM messages"), 0);
        let known = cache.load_gone(|id| id.as_str() == "s1");
        let [(_, path, facts)] = known.as_slice() else { panic!("{known:?}") };
        assert_eq!((path.as_path(), facts.stamp.size), (Path::new("/p/s1.jsonl"), 100));
        assert_eq!(cache.load_gone(|_| false).len(), 0);
    }
}
