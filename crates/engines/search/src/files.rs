//! The list of indexed files: how far each was read, and the session it belongs to.
//!
//! It is the commit point: chunks of the text index that the list does not know are deleted before anything is added
//! (see `writer`).

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use database::{Condition, open_derived, open_read_only};
use model::SessionId;
use rusqlite::{Connection, params};
use system::{FileStamp, fingerprint};
use transcript::Checkpoint;

use crate::error::{Error, files_failed};
use crate::source::SourceKind;

const STEPS: [&str; 3] = [
    "
    CREATE TABLE file (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        session TEXT,
        subagent INTEGER NOT NULL,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
        position INTEGER NOT NULL, lines INTEGER NOT NULL, witness INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        spoken INTEGER NOT NULL,
        gone INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE shared (
        record INTEGER NOT NULL,
        owner INTEGER NOT NULL,
        file INTEGER NOT NULL,
        PRIMARY KEY (record, file)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX shared_by_owner ON shared (owner);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    ",
    "ALTER TABLE file ADD COLUMN text INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE file ADD COLUMN source INTEGER NOT NULL DEFAULT 0;",
];

/// The columns that [`file_row`] reads.
const COLUMNS: &str = "id, path, session, subagent, dev, ino, size, mtime, position, lines, witness, chunks, spoken, gone, text, source";

/// Where the list of files is in the folder of an index.
pub(crate) fn list_file(folder: &Path) -> PathBuf {
    folder.join("files.sqlite")
}

/// The totals of an indexed file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileTotals<'a> {
    pub(crate) file: u64,
    pub(crate) source: SourceKind,
    pub(crate) session: Option<&'a str>,
    pub(crate) chunks: u64,
    pub(crate) spoken: u64,
    pub(crate) text: u64,
}

/// A row of the list of indexed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// Its number in the index.
    pub(crate) id: u64,
    pub(crate) path: PathBuf,
    pub(crate) source: SourceKind,
    /// The session it belongs to; unknown until a record of a flat sub-agent's file has named it.
    pub(crate) session: Option<SessionId>,
    pub(crate) subagent: bool,
    pub(crate) stamp: FileStamp,
    pub(crate) mark: Checkpoint,
    /// Chunks that are found by their words.
    pub(crate) chunks: u64,
    /// The length of the text that counts for the session as a whole, in bytes.
    pub(crate) spoken: u64,
    /// The file has vanished; what was indexed of it stays.
    pub(crate) gone: bool,
    /// The length of all its texts that are indexed, in bytes.
    pub(crate) text: u64,
}

/// A record that was indexed for one file and also occurs in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SharedRecord {
    pub(crate) record: u64,
    pub(crate) owner: u64,
    pub(crate) file: u64,
}

/// The current file of vectors: its number and how many of its rows are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct VectorFile {
    pub(crate) rows: u64,
    pub(crate) file: u64,
    /// The checksum of these rows; `None` where an earlier release wrote some of them.
    pub(crate) checksum: Option<u64>,
}

/// The list of indexed files, open.
#[derive(Debug)]
pub(crate) struct FileList {
    connection: Connection,
}

impl FileList {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let database::DerivedDatabase { connection, condition } = open_derived(path, &STEPS)?;
        match condition {
            // A recreated list is empty, and the writer then recreates the text index, too.
            Condition::Ready | Condition::Recreated { .. } => {
                let list = Self { connection };
                list.name("INSERT OR IGNORE INTO meta VALUES ('identity', ?1)")?;
                Ok(list)
            }
            Condition::ReadOnly { because } | Condition::InMemory { because } => Err(because.into()),
        }
    }

    /// Opens the list for reading; `None` when there is none yet, or one that is still being made.
    pub(crate) fn open_read_only(path: &Path) -> Result<Option<Self>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        match open_read_only(path, &STEPS) {
            Ok(connection) => Ok(Some(Self { connection })),
            Err(database::Error::Older { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A number that changes when another connection has written to the list.
    pub(crate) fn version(&self) -> Result<i64, Error> {
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        version.map_err(files_failed("read"))
    }

    pub(crate) fn generation(&self) -> Result<u64, Error> {
        Ok(self.number("generation")?.unwrap_or(0))
    }

    /// The identity and generation of the list: another list has another identity, each commit another generation.
    pub(crate) fn state(&self) -> Result<(u64, u64), Error> {
        Ok((self.identity()?, self.generation()?))
    }

    /// The number of the file that came last; 0 where there is none.
    pub(crate) fn last_file(&self) -> Result<u64, Error> {
        let mut statement = self.prepare("SELECT coalesce(max(id), 0) FROM file")?;
        statement.query_row([], |row| row.get(0).map(from_sql)).map_err(files_failed("read"))
    }

    /// The current file of vectors and how many of its rows are committed.
    pub(crate) fn vectors(&self) -> Result<VectorFile, Error> {
        let sum = |key: &str| format!("coalesce(sum(value) FILTER (WHERE key = '{key}'), 0)");
        let (rows, file) = (sum("vectors"), sum("vector file"));
        let checksum = "max(value) FILTER (WHERE key = 'vector checksum')";
        let mut statement = self.prepare(&format!("SELECT {rows}, {file}, {checksum} FROM meta"))?;
        let read = |row: &rusqlite::Row<'_>| {
            let (rows, file) = (from_sql(row.get(0)?), from_sql(row.get(1)?));
            Ok(VectorFile { rows, file, checksum: row.get::<_, Option<i64>>(2)?.map(from_sql) })
        };
        statement.query_row([], read).map_err(files_failed("read"))
    }

    /// From now on these rows of that file count.
    pub(crate) fn switch_vectors(&mut self, kept: VectorFile) -> Result<(), Error> {
        let failed = || files_failed("write");
        let transaction = self.connection.transaction().map_err(failed())?;
        write_vectors(&transaction, kept).map_err(failed())?;
        write_number(&transaction, "vector file", kept.file).map_err(failed())?;
        transaction.commit().map_err(failed())
    }

    /// A random number that identifies this list: file numbers of another list mean other files.
    pub(crate) fn identity(&self) -> Result<u64, Error> {
        Ok(self.number("identity")?.unwrap_or(0))
    }

    /// Gives the list a name that no other had.
    fn name(&self, sql: &str) -> Result<(), Error> {
        let random = RandomState::new().build_hasher().finish();
        self.connection.execute(sql, [to_sql(random)]).map(drop).map_err(files_failed("write"))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, Error> {
        let mut statement = self.prepare("SELECT value FROM meta WHERE key = ?1")?;
        let mut rows = statement.query_map([name], |row| row.get(0)).map_err(files_failed("read"))?;
        rows.next().transpose().map(|value| value.map(from_sql)).map_err(files_failed("read"))
    }

    /// The fingerprint of the files as they were when nothing was left to read; `None` when something was.
    pub(crate) fn fresh_at(&self) -> Result<Option<u64>, Error> {
        self.number("fresh at")
    }

    /// Records that every file is indexed as the list describes it.
    pub(crate) fn note_fresh(&self) -> Result<(), Error> {
        let mut statement = self.prepare("SELECT path, dev, ino, size, mtime FROM file WHERE NOT gone")?;
        let mut rows = statement.query([]).map_err(files_failed("read"))?;
        let mut now = 0;
        while let Some(row) = rows.next().map_err(files_failed("read"))? {
            now = fingerprint_of(row).map_err(files_failed("read"))?.wrapping_add(now);
        }
        self.connection
            .execute("INSERT OR REPLACE INTO meta VALUES ('fresh at', ?1)", [to_sql(now)])
            .map(drop)
            .map_err(files_failed("write"))
    }

    /// Calls `each` with the totals of every file, by number.
    pub(crate) fn shares(&self, mut each: impl FnMut(FileTotals<'_>)) -> Result<(), Error> {
        let mut statement =
            self.prepare("SELECT id, session, chunks, spoken, text, source FROM file ORDER BY id")?;
        let mut rows = statement.query([]).map_err(files_failed("read"))?;
        let share = |row: &rusqlite::Row<'_>, each: &mut dyn FnMut(FileTotals<'_>)| {
            let session = row.get_ref(1)?.as_str_or_null().map_err(rusqlite::Error::from)?;
            let number = |at| row.get(at).map(from_sql);
            let source = SourceKind::from_number(row.get(5)?);
            each(FileTotals {
                file: number(0)?,
                source,
                session,
                chunks: number(2)?,
                spoken: number(3)?,
                text: number(4)?,
            });
            Ok(())
        };
        while let Some(row) = rows.next().map_err(files_failed("read"))? {
            share(row, &mut each).map_err(files_failed("read"))?;
        }
        Ok(())
    }

    /// The row of a file.
    pub(crate) fn file(&self, id: u64) -> Result<Option<FileRow>, Error> {
        let mut statement = self.prepare(&format!("SELECT {COLUMNS} FROM file WHERE id = ?1"))?;
        let mut rows = statement.query_map([to_sql(id)], file_row).map_err(files_failed("read"))?;
        rows.next().transpose().map_err(files_failed("read"))
    }

    /// The rows of all files, by number.
    pub(crate) fn all(&self) -> Result<Vec<FileRow>, Error> {
        let mut statement = self.prepare(&format!("SELECT {COLUMNS} FROM file ORDER BY id"))?;
        let rows = statement.query_map([], file_row).map_err(files_failed("read"))?;
        rows.collect::<Result<_, _>>().map_err(files_failed("read"))
    }

    /// The records that several files hold.
    pub(crate) fn shared(&self) -> Result<Vec<SharedRecord>, Error> {
        let mut statement = self.prepare("SELECT record, owner, file FROM shared")?;
        let number = |row: &rusqlite::Row<'_>, at| row.get(at).map(from_sql);
        let shared = |row: &rusqlite::Row<'_>| {
            Ok(SharedRecord { record: number(row, 0)?, owner: number(row, 1)?, file: number(row, 2)? })
        };
        let rows = statement.query_map([], shared).map_err(files_failed("read"))?;
        rows.collect::<Result<_, _>>().map_err(files_failed("read"))
    }

    /// The files that lean on records indexed for `owner`.
    pub(crate) fn dependents_of(&self, owner: u64) -> Result<Vec<u64>, Error> {
        let mut statement = self.prepare("SELECT DISTINCT file FROM shared WHERE owner = ?1")?;
        let rows = statement
            .query_map([to_sql(owner)], |row| Ok(from_sql(row.get(0)?)))
            .map_err(files_failed("read"))?;
        rows.collect::<Result<_, _>>().map_err(files_failed("read"))
    }

    /// Writes what a commit of the text index has made true, in one step.
    pub(crate) fn commit(&mut self, changes: &Changes, generation: u64) -> Result<u64, Error> {
        let failed = || files_failed("write");
        let transaction = self.connection.transaction().map_err(failed())?;
        for file in &changes.forgotten {
            transaction
                .execute("DELETE FROM shared WHERE file = ?1 OR owner = ?1", [to_sql(*file)])
                .map_err(failed())?;
        }
        for file in &changes.removed {
            transaction.execute("DELETE FROM file WHERE id = ?1", [to_sql(*file)]).map_err(failed())?;
        }
        for row in &changes.files {
            write_file(&transaction, row).map_err(failed())?;
        }
        for shared in &changes.shared {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO shared VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| {
                    insert.execute([to_sql(shared.record), to_sql(shared.owner), to_sql(shared.file)])
                })
                .map_err(failed())?;
        }
        transaction.execute("DELETE FROM meta WHERE key = 'fresh at'", []).map_err(failed())?;
        write_number(&transaction, "generation", generation).map_err(failed())?;
        write_vectors(&transaction, changes.vectors).map_err(failed())?;
        transaction.commit().map_err(failed())?;
        Ok((changes.files.len() + changes.shared.len() + changes.removed.len() + 1) as u64)
    }

    /// Deletes all rows and gives the list a new identity.
    pub(crate) fn forget_all(&mut self) -> Result<(), Error> {
        self.connection
            .execute_batch("DELETE FROM file; DELETE FROM shared;")
            .map_err(files_failed("write"))?;
        self.name("INSERT OR REPLACE INTO meta VALUES ('identity', ?1)")
    }

    /// Empties the log, in which rows of before are.
    pub(crate) fn truncate_log(&self) -> Result<(), Error> {
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);").map_err(files_failed("write"))
    }

    pub(crate) fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>, Error> {
        self.connection.prepare_cached(sql).map_err(files_failed("read"))
    }
}

/// The changes of one commit.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Files whose chunks were deleted.
    pub(crate) forgotten: Vec<u64>,
    /// Files that are not listed any more.
    pub(crate) removed: Vec<u64>,
    pub(crate) files: Vec<FileRow>,
    pub(crate) shared: Vec<SharedRecord>,
    /// The committed rows in the file of vectors, which stays the same one.
    pub(crate) vectors: VectorFile,
}

fn write_number(connection: &Connection, name: &str, number: u64) -> rusqlite::Result<usize> {
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![name, to_sql(number)])
}

/// Writes how many vectors count, and their checksum.
fn write_vectors(connection: &Connection, vectors: VectorFile) -> rusqlite::Result<usize> {
    write_number(connection, "vectors", vectors.rows)?;
    match vectors.checksum {
        Some(checksum) => write_number(connection, "vector checksum", checksum),
        None => connection.execute("DELETE FROM meta WHERE key = 'vector checksum'", []),
    }
}

fn write_file(connection: &Connection, row: &FileRow) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO file VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            to_sql(row.id),
            row.path.to_string_lossy(),
            row.session.as_ref().map(SessionId::as_str),
            row.subagent,
            to_sql(row.stamp.dev),
            to_sql(row.stamp.ino),
            to_sql(row.stamp.size),
            row.stamp.mtime,
            to_sql(row.mark.offset),
            to_sql(row.mark.lines),
            to_sql(row.mark.tail_hash),
            to_sql(row.chunks),
            to_sql(row.spoken),
            row.gone,
            to_sql(row.text),
            row.source.number(),
        ])
}

fn file_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRow> {
    let number = |at| row.get(at).map(from_sql);
    let session: Option<String> = row.get(2)?;
    let stamp = FileStamp { dev: number(4)?, ino: number(5)?, size: number(6)?, mtime: row.get(7)? };
    Ok(FileRow {
        id: number(0)?,
        path: PathBuf::from(row.get::<_, String>(1)?),
        source: SourceKind::from_number(row.get(15)?),
        session: session.and_then(|session| session.parse().ok()),
        subagent: row.get(3)?,
        stamp,
        mark: Checkpoint {
            dev: stamp.dev,
            ino: stamp.ino,
            offset: number(8)?,
            lines: number(9)?,
            tail_hash: number(10)?,
        },
        chunks: number(11)?,
        spoken: number(12)?,
        gone: row.get(13)?,
        text: number(14)?,
    })
}

fn fingerprint_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    let number = |at| row.get(at).map(from_sql);
    let stamp = FileStamp { dev: number(1)?, ino: number(2)?, size: number(3)?, mtime: row.get(4)? };
    let path = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(fingerprint(std::iter::once((Path::new(path), &stamp))))
}

/// SQLite's numbers are signed; the bits stay the same.
fn to_sql(number: u64) -> i64 {
    number.cast_signed()
}

fn from_sql(number: i64) -> u64 {
    number.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: u64, path: &str) -> FileRow {
        FileRow {
            id,
            path: path.into(),
            source: SourceKind::Sessions,
            session: Some("s1".parse().unwrap()),
            subagent: false,
            stamp: FileStamp { dev: 1, ino: 2, size: 3, mtime: 4 },
            mark: Checkpoint { dev: 1, ino: 2, offset: 3, lines: 1, tail_hash: u64::MAX },
            chunks: 5,
            spoken: 6,
            gone: false,
            text: 7,
        }
    }

    #[test]
    fn what_is_committed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files.sqlite");
        let mut list = FileList::open(&path).unwrap();
        assert_eq!(list.generation().unwrap(), 0);
        let shared = SharedRecord { record: u64::MAX, owner: 1, file: 2 };
        let changes =
            Changes { files: vec![row(1, "/a"), row(2, "/b")], shared: vec![shared], ..Changes::default() };
        list.commit(&changes, 7).unwrap();
        let list = FileList::open_read_only(&path).unwrap().unwrap();
        assert_eq!(list.generation().unwrap(), 7);
        assert_eq!(list.all().unwrap(), changes.files);
        assert_eq!(list.shared().unwrap(), [shared]);
        assert_eq!(list.dependents_of(1).unwrap(), [2]);
    }

    #[test]
    fn the_list_is_fresh_until_something_changes() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        let gone = FileRow { gone: true, ..row(2, "/b") };
        list.commit(&Changes { files: vec![row(1, "/a"), gone], ..Changes::default() }, 1).unwrap();
        assert_eq!(list.fresh_at().unwrap(), None);
        list.note_fresh().unwrap();
        let fresh = |path: &str, size| {
            let stamp = FileStamp { size, ..row(1, path).stamp };
            list.fresh_at().unwrap() == Some(fingerprint([(Path::new(path), &stamp)].into_iter()))
        };
        assert!(fresh("/a", 3));
        assert!(!fresh("/a", 4));
        assert!(!fresh("/b", 3));
        list.commit(&Changes::default(), 2).unwrap();
        assert_eq!(list.fresh_at().unwrap(), None);
    }

    #[test]
    fn a_recreated_list_has_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files.sqlite");
        let first = FileList::open(&path).unwrap().identity().unwrap();
        let mut list = FileList::open(&path).unwrap();
        assert_eq!(list.identity().unwrap(), first);
        let switched = VectorFile { rows: 7, file: 2, checksum: Some(u64::MAX) };
        list.switch_vectors(switched).unwrap();
        assert_eq!(list.vectors().unwrap(), switched);
        let vectors = VectorFile { rows: 9, file: 0, checksum: None };
        list.commit(&Changes { vectors, ..Changes::default() }, 1).unwrap();
        assert_eq!(list.vectors().unwrap(), VectorFile { file: 2, ..vectors });
        list.forget_all().unwrap();
        assert_ne!(list.identity().unwrap(), first);
    }

    #[test]
    fn a_list_that_was_only_begun_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files.sqlite");
        let begun = Connection::open(&path).unwrap();
        begun.execute_batch("CREATE TABLE begun (x)").unwrap();
        assert!(FileList::open_read_only(&path).unwrap().is_none());
    }

    #[test]
    fn a_forgotten_file_leans_on_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = FileList::open(&folder.path().join("files.sqlite")).unwrap();
        let shared = vec![SharedRecord { record: 1, owner: 1, file: 2 }];
        list.commit(&Changes { shared, ..Changes::default() }, 1).unwrap();
        list.commit(&Changes { forgotten: vec![1], ..Changes::default() }, 2).unwrap();
        assert!(list.shared().unwrap().is_empty());
    }
}
