//! Where the server keeps its own files: a folder of Backstory's state that only the person can enter.

use std::path::{Path, PathBuf};

use app::{Config, Error, Kind};

/// The server's folder, which is created if it is missing.
pub(crate) fn create(config: &Config) -> Result<PathBuf, Error> {
    let folder = path(config);
    let made = system::create_private_folder(&folder).and_then(|()| system::ensure_own_folder(&folder));
    made.map_err(|error| unusable(&folder, &error))?;
    Ok(folder)
}

/// The server's folder, whether or not it exists.
pub(crate) fn path(config: &Config) -> PathBuf {
    config.state.join("serve")
}

/// The error for a file of the server's that cannot be read or written.
pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::caused(Kind::Unavailable, format!("cannot use {}", path.display()), error)
}
