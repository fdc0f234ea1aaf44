//! Reading a database without ever changing it: no migration, no new file.

use std::path::Path;

use rusqlite::Connection;

use crate::{Error, connection, migrate};

/// Opens a file that already has exactly these migrations; it is neither created nor changed.
///
/// A file in a folder where nothing can be written is read as it is on disk.
pub fn open_read_only(path: &Path, steps: &[&str]) -> Result<Connection, Error> {
    let connection = open_foreign(path)?;
    let found = migrate::version(&connection, path, steps.len())?;
    if found < steps.len() {
        return Err(Error::Older { path: path.to_owned(), found, known: steps.len() });
    }
    Ok(connection)
}

/// Opens another program's file, which may be writing to it; it is neither created nor changed.
///
/// A file in a folder where nothing can be written is read as it is on disk.
pub fn open_foreign(path: &Path) -> Result<Connection, Error> {
    connection::readable(path, false).or_else(|error| {
        // Without write access to the folder, SQLite cannot share memory with a writer; then there is none.
        if error.is_content() || error.is_busy() { Err(error) } else { connection::readable(path, true) }
    })
}
