//! Databases that cannot be rebuilt: never dropped, and copied before a migration.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::connection::safety;
use crate::files::{prepare, with_suffix};
use crate::{Error, WriterLock, backup, connection, migrate};

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
/// `steps` are the SQL of all migrations, oldest first; steps are only ever added. A newer file is an error and remains
/// unchanged, and so is a damaged one that has no backup ([`crate::back_up_regularly`]); with one it is set aside and
/// the backup takes its place. Before a migration, the file is copied to `<path>.before-<version>`.
pub fn open_precious(path: &Path, steps: &[&str]) -> Result<PreciousDatabase, Error> {
    let turn = WriterLock::wait_to_open(path)?;
    prepare(path)?;
    let mut connection = match connection::writable(path, safety::DURABLE) {
        // The old one is kept beside it; without a backup it stays where it is.
        Err(error) if error.is_damage() && backup::restore(path)? => {
            connection::writable(path, safety::DURABLE)?
        }
        opened => opened?,
    };
    drop(turn);
    if migrate::version(&connection, path, steps.len())? == steps.len() {
        return Ok(PreciousDatabase { connection, backup: None });
    }
    let _turn = WriterLock::wait(&WriterLock::path(path))?;
    let backup = match migrate::version(&connection, path, steps.len())? {
        0 => None,
        version if version == steps.len() => None,
        version => {
            let to = with_suffix(path, &format!(".before-{version}"));
            backup::write(&connection, path, &to)?;
            Some(to)
        }
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
