//! Sessions that are still in the index although every file of theirs is gone: nobody can read them any more.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

use crate::error::{Error, files_failed};
use crate::files::{FileList, list_file};

/// A session of which the index has words, and no file holds them any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VanishedSession {
    /// The session.
    pub session: SessionId,
    /// Where its transcript was.
    pub transcript: PathBuf,
    /// When that was last written.
    pub modified: Option<Timestamp>,
}

/// The sessions of which the index in a folder has words, and no file holds them any more; none without an index.
pub fn vanished_sessions(folder: &Path) -> Result<Vec<VanishedSession>, Error> {
    FileList::open_read_only(&list_file(folder))?.map_or_else(|| Ok(Vec::new()), |list| list.vanished())
}

impl FileList {
    /// The sessions of Claude's of which every transcript is gone.
    pub(crate) fn vanished(&self) -> Result<Vec<VanishedSession>, Error> {
        let of_sessions = "session IS NOT NULL AND NOT subagent AND source = 0";
        let mut statement = self.prepare(&format!(
            "SELECT session, path, mtime FROM file WHERE gone AND {of_sessions}
             AND session NOT IN (SELECT session FROM file WHERE NOT gone AND {of_sessions})"
        ))?;
        let mut rows = statement.query([]).map_err(files_failed("read"))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(files_failed("read"))? {
            let read =
                || -> rusqlite::Result<(String, String, i64)> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
            let (session, path, mtime) = read().map_err(files_failed("read"))?;
            let Ok(session) = session.parse() else { continue };
            let modified = Timestamp::from_nanosecond(mtime.into()).ok();
            found.push(VanishedSession { session, transcript: path.into(), modified });
        }
        Ok(found)
    }
}
