//! A cache of the facts of files, in a database that can be rebuilt: an unchanged file is never read again.
//!
//! A database that fails never stops anything: the files are read without it, and the catalog says why.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use database::rusqlite::{self, Connection, Row, params};
use database::{Condition, Derived};
use system::{FileStamp, error_chain};

use crate::facts::FileFacts;
use crate::pack::{FORMAT, Packed, unpack};
use crate::types::{ByPath, Detail};

/// How long a write waits for another process; what is not written now is written the next time.
const PATIENCE: Duration = Duration::from_millis(500);

const STEPS: [&str; 3] = [
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
];

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
            Ok(Derived { connection, condition: Condition::Ready | Condition::Recreated { .. } }) => {
                (Some(connection), None)
            }
            Ok(Derived { connection, condition: Condition::ReadOnly { because } }) => {
                (Some(connection), Some(error_chain(&because)))
            }
            Ok(Derived { condition: Condition::InMemory { because }, .. }) => {
                (None, Some(error_chain(&because)))
            }
            Err(trouble) => (None, Some(trouble)),
        };
        if let Some(connection) = &connection {
            // The usual patience stays where this fails.
            let _ = connection.busy_timeout(PATIENCE);
        }
        Self { connection, trouble }
    }

    /// Why what is read cannot be kept, where it cannot.
    pub(crate) fn into_trouble(self) -> Option<String> {
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

    /// Keeps facts, all of them or none; returns how many rows were written.
    pub(crate) fn save(&mut self, rows: &[(PathBuf, Packed)]) -> u64 {
        self.write(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO file (path, format, dev, ino, size, mtime, facts, messages)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            let mut written = 0;
            for (path, packed) in rows {
                let FileStamp { dev, ino, size, mtime } = packed.stamp;
                let [dev, ino, size] = [dev, ino, size].map(u64::cast_signed);
                let path = path.as_os_str().as_bytes();
                insert.execute(params![
                    path,
                    FORMAT,
                    dev,
                    ino,
                    size,
                    mtime,
                    packed.facts,
                    packed.messages
                ])?;
                written += 1;
            }
            Ok(written)
        })
    }

    /// Forgets files; returns how many rows were taken away.
    pub(crate) fn forget(&mut self, paths: &[PathBuf]) -> u64 {
        self.write(|connection| {
            let mut delete = connection.prepare_cached("DELETE FROM file WHERE path = ?1")?;
            paths
                .iter()
                .try_fold(0, |gone, path| Ok(gone + delete.execute([path.as_os_str().as_bytes()])? as u64))
        })
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
            // A damaged file is ours to lose: the next program begins a new one.
            let _ = database::set_aside(&path);
        }
        self.trouble = Some(error.to_string());
        T::default()
    }
}

fn load(connection: &Connection, detail: Detail) -> rusqlite::Result<ByPath<FileFacts>> {
    let columns = columns(detail);
    let mut select = connection.prepare(&format!("SELECT {columns} FROM file WHERE format = ?1"))?;
    let mut rows = select.query([FORMAT])?;
    let mut kept = ByPath::default();
    while let Some(row) = rows.next()? {
        kept.extend(facts(row)?);
    }
    Ok(kept)
}

fn columns(detail: Detail) -> &'static str {
    match detail {
        Detail::Facts => "path, dev, ino, size, mtime, facts, x''",
        Detail::Spending => "path, dev, ino, size, mtime, facts, messages",
    }
}

fn load_some<'a>(
    connection: &Connection,
    detail: Detail,
    paths: impl Iterator<Item = &'a Path>,
) -> rusqlite::Result<ByPath<FileFacts>> {
    let columns = columns(detail);
    let mut select =
        connection.prepare(&format!("SELECT {columns} FROM file WHERE path = ?1 AND format = ?2"))?;
    let mut kept = ByPath::default();
    for path in paths {
        let mut rows = select.query(params![path.as_os_str().as_bytes(), FORMAT])?;
        while let Some(row) = rows.next()? {
            kept.extend(facts(row)?);
        }
    }
    Ok(kept)
}

fn facts(row: &Row<'_>) -> rusqlite::Result<Option<(OsString, FileFacts)>> {
    let (path, stamp) = place(row)?;
    let bytes = |column: usize| row.get_ref(column)?.as_blob().map_err(rusqlite::Error::from);
    Ok(unpack(stamp, bytes(5)?, bytes(6)?).map(|facts| (path, facts)))
}

/// The first five columns of a row.
fn place(row: &Row<'_>) -> rusqlite::Result<(OsString, FileStamp)> {
    let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let stamp = FileStamp { dev: number(1)?, ino: number(2)?, size: number(3)?, mtime: row.get(4)? };
    Ok((OsStr::from_bytes(row.get_ref(0)?.as_blob()?).to_owned(), stamp))
}
