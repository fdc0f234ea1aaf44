//! The file that nothing can restore: it is never dropped, and copied before its tables change.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::connection::safety;
use crate::files::{failed, prepare, private_file, with_suffix};
use crate::{Error, WriterLock, connection, migrate};

/// So long a write-ahead log, in bytes, is long.
const LONG_LOG: u64 = 1 << 18;

/// An open precious database.
#[derive(Debug)]
pub struct PreciousDatabase {
    /// The connection, up to date.
    pub connection: Connection,
    /// The copy that was made before its tables were changed, when they were.
    pub backup: Option<PathBuf>,
}

/// Opens or creates a database whose content cannot be rebuilt.
///
/// `steps` are the SQL of all migrations, oldest first; steps are only ever added. A damaged or newer file is an
/// error and remains unchanged. Before a migration, the file is copied to `<path>.before-<version>`.
pub fn open_precious(path: &Path, steps: &[&str]) -> Result<PreciousDatabase, Error> {
    let turn = WriterLock::wait_to_open(path)?;
    prepare(path)?;
    let mut connection = connection::writable(path, safety::KEPT)?;
    drop(turn);
    if migrate::version(&connection, path, steps.len())? == steps.len() {
        return Ok(PreciousDatabase { connection, backup: None });
    }
    let _turn = WriterLock::wait(&WriterLock::path(path))?;
    let backup = match migrate::version(&connection, path, steps.len())? {
        0 => None,
        version if version == steps.len() => None,
        version => Some(back_up(&connection, path, version)?),
    };
    migrate::migrate(&mut connection, path, steps)?;
    Ok(PreciousDatabase { connection, backup })
}

impl PreciousDatabase {
    /// Keeps the write-ahead log of the file at `path` when the connection closes, unless it is long. Merging it
    /// waits for the disk, while the next opening reads it anyway.
    pub fn leave_short_log(&self, path: &Path) -> Result<(), Error> {
        let is_short = fs::metadata(with_suffix(path, "-wal")).map_or(true, |log| log.len() < LONG_LOG);
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_short)
            .map(drop)
            .map_err(|source| Error::Open { path: path.to_owned(), source })
    }
}

/// Copies the whole database to a file of its own, which appears under its name only when it is complete.
fn back_up(connection: &Connection, path: &Path, version: usize) -> Result<PathBuf, Error> {
    let to = with_suffix(path, &format!(".before-{version}"));
    let partial = with_suffix(&to, ".partial");
    match fs::remove_file(&partial) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            return Err(failed("remove", &partial, source));
        }
        _ => {}
    }
    // SQLite writes into an existing file if it is empty; this one has the right mode from the start.
    let file = private_file(&partial)?;
    // As bytes, because a path need not be UTF-8.
    connection
        .execute("VACUUM INTO CAST(?1 AS TEXT)", [partial.as_os_str().as_bytes()])
        .map_err(|source| Error::Backup { path: path.to_owned(), to: to.clone(), source })?;
    file.sync_all().map_err(|source| failed("write", &partial, source))?;
    fs::rename(&partial, &to).map_err(|source| failed("name the backup", &to, source))?;
    Ok(to)
}
