//! Rolling backups of files that nothing else can restore, and the way back from one.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::connection::safety;
use crate::files::{failed, private_file, with_suffix};
use crate::{Error, WriterLock, connection};

/// How many backups there are, the newest first.
const NAMES: [&str; 2] = [".backup-1", ".backup-2"];

/// What a regular backup did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backup {
    /// There is nothing to back up, or the last backup is not old enough.
    NotDue,
    /// A backup was made.
    Made,
    /// The file was damaged: it was set aside, and its newest backup took its place.
    Restored,
}

/// Backs up the database at `path` where the last backup is older than `every`. All of its pages are checked first: a
/// damaged file takes no backup's place.
pub fn back_up_regularly(path: &Path, now: SystemTime, every: Duration) -> Result<Backup, Error> {
    let [newest, older] = NAMES.map(|name| with_suffix(path, name));
    let age = |path: &Path| now.duration_since(fs::metadata(path).ok()?.modified().ok()?).ok();
    // One from the future says nothing: the clock was set back.
    let is_recent = age(&newest).is_some_and(|age| age < every);
    if !path.exists() || is_recent {
        return Ok(Backup::NotDue);
    }
    let _turn = WriterLock::wait(&WriterLock::path(path))?;
    let opened = connection::writable(path, safety::DURABLE).and_then(|connection| {
        check(&connection, path)?;
        Ok(connection)
    });
    let connection = match opened {
        Ok(connection) => connection,
        Err(error) if error.is_damage() => {
            return if restore(path)? { Ok(Backup::Restored) } else { Err(error) };
        }
        Err(error) => return Err(error),
    };
    let partial = with_suffix(path, ".backup");
    write(&connection, path, &partial)?;
    let rename =
        |from: &Path, to: &Path| fs::rename(from, to).map_err(|source| failed("name the backup", to, source));
    // A damaged one does not take the place of a whole one.
    if is_whole(&newest) {
        rename(&newest, &older)?;
    }
    rename(&partial, &newest)?;
    let file = fs::File::options().write(true).open(&newest).and_then(|file| file.set_modified(now));
    file.map_err(|source| failed("set the time of", &newest, source))?;
    Ok(Backup::Made)
}

/// Removes all backups of a database, those from before migrations included: what is forgotten must be in none.
pub fn remove_backups(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_backup = |other: &str| {
        other.strip_prefix(&name).is_some_and(|end| {
            [".backup", ".before-", ".set-aside", ".restored"].iter().any(|word| end.starts_with(word))
        })
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_backup) {
            fs::remove_file(entry.path()).map_err(|source| failed("remove", &entry.path(), source))?;
        }
    }
    Ok(())
}

/// Replaces a damaged file by the newest complete backup and sets the file aside; returns whether there was a backup.
pub(crate) fn restore(path: &Path) -> Result<bool, Error> {
    let Some(backup) = NAMES.map(|name| with_suffix(path, name)).into_iter().find(|backup| is_whole(backup))
    else {
        return Ok(false);
    };
    let restored = with_suffix(path, ".restored");
    drop(private_file(&restored)?);
    fs::copy(&backup, &restored).map_err(|source| failed("copy the backup to", &restored, source))?;
    let aside = with_suffix(path, ".set-aside");
    // Its log belongs to it: on top of another file it would damage that one too.
    for end in ["", "-wal", "-shm"] {
        match fs::rename(with_suffix(path, end), with_suffix(&aside, end)) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(failed("set aside", path, source));
            }
            _ => {}
        }
    }
    fs::rename(&restored, path).map_err(|source| failed("restore", path, source))?;
    Ok(true)
}

/// Reads every page of a database, and fails where one is damaged.
pub fn verify(path: &Path) -> Result<(), Error> {
    check(&connection::readable(path, true)?, path)
}

/// Whether a backup exists and every page of it can be read.
fn is_whole(backup: &Path) -> bool {
    connection::readable(backup, true).is_ok_and(|connection| check(&connection, backup).is_ok())
}

/// Reads every page.
fn check(connection: &Connection, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let found: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if found == "ok" { Ok(()) } else { Err(Error::Damaged { path: path.to_owned(), what: found }) }
}

/// Copies the whole database to a file of its own, which appears under its name only when it is complete.
pub(crate) fn write(connection: &Connection, path: &Path, to: &Path) -> Result<(), Error> {
    let partial = with_suffix(to, ".partial");
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
        .map_err(|source| Error::Backup { path: path.to_owned(), to: to.to_owned(), source })?;
    file.sync_all().map_err(|source| failed("write", &partial, source))?;
    fs::rename(&partial, to).map_err(|source| failed("name the backup", to, source))
}
