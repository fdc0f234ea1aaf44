//! Databases that can be rebuilt from their sources: opening them always succeeds in some form, and reports how.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::connection::safety;
use crate::files::{failed, is_new, prepare, with_suffix};
use crate::{Error, WriterLock, connection, migrate, open_read_only};

/// An open derived database.
#[derive(Debug)]
pub struct DerivedDatabase {
    /// The connection, with every migration applied.
    pub connection: Connection,
    /// What was necessary to open the database.
    pub condition: Condition,
}

/// How a derived database was opened; anything but `Ready` should be reported to the person.
#[derive(Debug)]
pub enum Condition {
    /// As it should be.
    Ready,
    /// The file was unusable: it was moved aside and replaced by an empty one.
    Recreated {
        /// Why the old file could not be used.
        because: Error,
        /// The new path of the unusable file, which replaces any file moved aside earlier.
        set_aside: PathBuf,
    },
    /// The file is up to date and can be read, but nothing can be written.
    ReadOnly {
        /// Why it cannot be written.
        because: Error,
    },
    /// Nothing can be kept: the database is empty and lasts as long as the process.
    InMemory {
        /// Why the file cannot be used.
        because: Error,
    },
}

/// Opens or creates a database that can be rebuilt.
///
/// `steps` are the SQL of all migrations, oldest first. A damaged, newer or unusable file is moved aside and created
/// again; on a disk that cannot be written, the file is only read, or replaced by a database in memory. Fails only if
/// another process keeps the file locked for longer than the busy timeout, or if the steps themselves are wrong.
pub fn open_derived(path: &Path, steps: &[&str]) -> Result<DerivedDatabase, Error> {
    match open_under_lock(path, steps) {
        Ok(connection) => Ok(DerivedDatabase { connection, condition: Condition::Ready }),
        Err(error) if error.is_busy() => Err(error),
        Err(error) => recover(path, steps, error),
    }
}

/// Moves a derived file to `<path>.set-aside`, replacing an earlier one, and returns the new path.
///
/// Open connections continue to use the moved file, so close them first.
pub fn set_aside(path: &Path) -> Result<PathBuf, Error> {
    let _turn = WriterLock::wait(&WriterLock::path(path))?;
    move_aside(path)
}

fn open_under_lock(path: &Path, steps: &[&str]) -> Result<Connection, Error> {
    let turn = WriterLock::wait_to_open(path);
    match turn {
        Err(error) if error.is_busy() => Err(error),
        // Where there can be no lock, nothing can be put away either.
        _ => open_migrated(path, steps),
    }
}

fn move_aside(path: &Path) -> Result<PathBuf, Error> {
    let aside = with_suffix(path, ".set-aside");
    // A folder cannot be renamed over a file, nor over a folder that holds something.
    if aside.is_dir() {
        fs::remove_dir_all(&aside).map_err(|source| failed("remove", &aside, source))?;
    }
    if path.is_dir() && aside.exists() {
        fs::remove_file(&aside).map_err(|source| failed("remove", &aside, source))?;
    }
    // The log goes first: a log without its database is ignored, one next to a new database would not be.
    for suffix in ["-wal", "-shm"] {
        rename_if_there(&with_suffix(path, suffix), &with_suffix(&aside, suffix))?;
    }
    rename_if_there(path, &aside)?;
    Ok(aside)
}

fn open_migrated(path: &Path, steps: &[&str]) -> Result<Connection, Error> {
    prepare(path)?;
    // There is nothing to lose in a file that is just being made.
    let mut connection =
        connection::writable(path, if is_new(path) { safety::VOLATILE } else { safety::DURABLE })?;
    migrate::migrate(&mut connection, path, steps)?;
    connection::set_safety(&connection, path, safety::DURABLE)?;
    Ok(connection)
}

/// Opens a file that failed to open before, under the writer's lock: another process may have recreated it by now.
fn recover(path: &Path, steps: &[&str], because: Error) -> Result<DerivedDatabase, Error> {
    let _turn = match WriterLock::wait(&WriterLock::path(path)) {
        Ok(turn) => turn,
        Err(error) if error.is_busy() => return Err(error),
        Err(_) => return open_without_writing(path, steps, because),
    };
    match open_migrated(path, steps) {
        Ok(connection) => Ok(DerivedDatabase { connection, condition: Condition::Ready }),
        Err(error) if error.is_busy() => Err(error),
        Err(error) if error.is_content() || is_not_a_file(path) => recreate(path, steps, error),
        Err(error) => open_without_writing(path, steps, error),
    }
}

fn recreate(path: &Path, steps: &[&str], because: Error) -> Result<DerivedDatabase, Error> {
    let Ok(set_aside) = move_aside(path) else {
        return open_without_writing(path, steps, because);
    };
    let connection = open_migrated(path, steps)?;
    Ok(DerivedDatabase { connection, condition: Condition::Recreated { because, set_aside } })
}

fn open_without_writing(path: &Path, steps: &[&str], because: Error) -> Result<DerivedDatabase, Error> {
    if let Ok(connection) = open_read_only(path, steps) {
        return Ok(DerivedDatabase { connection, condition: Condition::ReadOnly { because } });
    }
    let mut connection = connection::in_memory(path)?;
    migrate::migrate(&mut connection, path, steps)?;
    Ok(DerivedDatabase { connection, condition: Condition::InMemory { because } })
}

fn is_not_a_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), Error> {
    match fs::rename(from, to) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed("set aside", from, source)),
        _ => Ok(()),
    }
}
