//! Files only their owner can read, in folders only their owner can enter.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::Error;

/// Makes sure that a database file exists and that it and its companions are readable by their owner only.
///
/// SQLite gives `-wal` and `-shm` the mode of the file itself, so this is done before SQLite sees it.
pub(crate) fn prepare(path: &Path) -> Result<(), Error> {
    private_file(path)?;
    for companion in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        make_private(&companion)?;
    }
    Ok(())
}

/// Opens a file for writing, creating it with mode 0600 and its missing folders with 0700.
pub(crate) fn private_file(path: &Path) -> Result<File, Error> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| failed("create the folder", folder, source))?;
    }
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| failed("open the file", path, source))
}

/// `state.sqlite` and `-wal` give `state.sqlite-wal`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
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
