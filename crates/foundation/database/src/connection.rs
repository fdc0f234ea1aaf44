//! One connection, set up the way every Backstory database is used.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::Error;

/// How long a statement waits for a writer in another process.
const BUSY: Duration = Duration::from_secs(5);

/// The values of SQLite's pragma `synchronous` that Backstory uses: how much a power failure can lose.
pub(crate) mod safety {
    /// With a write-ahead log at most the last commits, never the file.
    pub(crate) const DURABLE: &str = "NORMAL";
    /// The file, if it comes in that moment. Not waiting for the disk is fast.
    pub(crate) const VOLATILE: &str = "OFF";
}

/// Opens an existing file and sets it up; a write-ahead log, so that readers never wait for the writer.
pub(crate) fn writable(path: &Path, safety: &str) -> Result<Connection, Error> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "synchronous", safety)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // What is deleted is overwritten, in the log as in the file: a file holds nothing that its rows do not.
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "journal_size_limit", 0)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // Reads the first page: a damaged file is found here rather than at the first query.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    open().map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// Sets what a power cut may cost from now on.
pub(crate) fn set_safety(connection: &Connection, path: &Path, safety: &str) -> Result<(), Error> {
    connection
        .pragma_update(None, "synchronous", safety)
        .map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// Opens a file for reading only. With `immutable`, SQLite assumes that nobody writes to the file, which it needs in
/// folders where it cannot create its shared-memory file.
pub(crate) fn readable(path: &Path, immutable: bool) -> Result<Connection, Error> {
    let open = || {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri(path, immutable), flags)?;
        connection.busy_timeout(BUSY)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    open().map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// A database that lasts as long as the connection.
pub(crate) fn in_memory(path: &Path) -> Result<Connection, Error> {
    let open = || {
        let connection = Connection::open_in_memory()?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(connection)
    };
    open().map_err(|source| Error::Open { path: path.to_owned(), source })
}

/// A `file:` URI of any path, whatever bytes it has.
fn uri(path: &Path, immutable: bool) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;

    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-') {
            uri.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str(if immutable { "?mode=ro&immutable=1" } else { "?mode=ro" });
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let check = |path: &str, expected: &str| assert_eq!(uri(Path::new(path), false), expected);
        check("/a/b.sqlite", "file:/a/b.sqlite?mode=ro");
        check("/a b/ü?#%.db", "file:/a%20b/%C3%BC%3F%23%25.db?mode=ro");
        assert_eq!(uri(Path::new("x"), true), "file:x?mode=ro&immutable=1");
    }
}
