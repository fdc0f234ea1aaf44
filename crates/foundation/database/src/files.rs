//! Files only their owner can read, in folders only their owner can enter.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Error;

/// Makes sure that a database file exists and that it and its companions are readable by their owner only.
///
/// SQLite gives `-wal` and `-shm` the mode of the file itself, so this is done before SQLite sees it. No file that
/// is there is opened: closing it would drop the locks of every other connection this process has to it
/// (<https://www.sqlite.org/howtocorrupt.html>, section 2.2).
pub(crate) fn prepare(path: &Path) -> Result<(), Error> {
    if !path.exists() {
        create_closed(path)?;
    }
    for companion in [path.to_owned(), with_suffix(path, "-wal"), with_suffix(path, "-shm")] {
        make_private(&companion)?;
    }
    Ok(())
}

/// Whether a database has nothing in it yet.
pub(crate) fn is_new(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.len() == 0)
}

/// Creates an empty private file, unless another process has just created it. The file gets its name only after it is
/// closed.
fn create_closed(path: &Path) -> Result<(), Error> {
    let folder = private_folder(path)?;
    // The library's words name the temporary file, which nobody knows.
    let unnamed = NamedTempFile::new_in(folder)
        .map_err(|source| failed("create a file in", folder, io::Error::from(source.kind())))?;
    match unnamed.into_temp_path().persist_noclobber(path) {
        Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => {
            Err(failed("create", path, refused.error))
        }
        _ => Ok(()),
    }
}

/// Opens a file for writing, creating it with mode 0600 and its missing folders with 0700.
pub(crate) fn private_file(path: &Path) -> Result<File, Error> {
    private_folder(path)?;
    system::private_file()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(|source| failed("open the file", path, source))
}

/// The folder a file is to be in, made with its parents where it is missing.
fn private_folder(path: &Path) -> Result<&Path, Error> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(Path::new("."));
    };
    system::create_private_folder(folder).map_err(|source| failed("create the folder", folder, source))?;
    Ok(folder)
}

/// `state.sqlite` and `-wal` give `state.sqlite-wal`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// An `Error::File` for `path`.
pub(crate) fn failed(attempt: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File { attempt, path: path.to_owned(), source }
}

fn make_private(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o077 != 0 => {
            fs::set_permissions(path, Permissions::from_mode(0o600))
                .map_err(|source| failed("make private", path, source))
        }
        Ok(_) => Ok(()),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(failed("look at", path, source)),
    }
}
