//! Finds copies of a record in forks, which are cited where the original file is gone or another's.

use std::path::Path;

use memchr::memmem::Finder;
use transcript::Reader;

use super::Searcher;
use super::hit_context::HitContext;
use crate::error::Error;
use crate::files::FileRow;
use crate::snippet::record_of;
use crate::source::SourceKind;

/// How much of a copy is searched for one record, in bytes: copied records are at the beginning.
const LOOKED_THROUGH: u64 = 64 << 20;

/// A record in a file that is there.
#[derive(Debug)]
pub(crate) struct RecordCopy {
    pub(crate) file: FileRow,
    /// Where its line begins, in bytes.
    pub(crate) offset: u64,
    /// The line, from 1.
    pub(crate) line: u64,
}

impl Searcher {
    /// A copy of a record in an existing file that may be cited, preferably of `session`; `None` where there is none.
    pub(super) fn copy_of(
        &self,
        record: u64,
        session: usize,
        asked: &HitContext<'_>,
    ) -> Result<Option<RecordCopy>, Error> {
        let is_usable =
            |row: &FileRow| !row.gone && row.source == SourceKind::ClaudeSessions && asked.may_cite(row);
        let mut files = Vec::new();
        for id in self.sessions.files_with(record) {
            files.extend(self.list.file(id)?.filter(is_usable));
        }
        let wanted = self.sessions.id(session);
        files.sort_by_key(|row| (row.session.as_ref() != Some(wanted), row.id));
        // Who may not see the other files has no other place to be led to.
        let most = if asked.citable.is_some() { u64::MAX } else { LOOKED_THROUGH };
        let found = files.into_iter().find_map(|file| {
            let (offset, line) = place_in(&file.path, record, None, most)?;
            Some(RecordCopy { file, offset, line })
        });
        Ok(found)
    }

    /// The copy of a record in the session's own file, so that a hit of a fork leads to the fork itself.
    pub(super) fn own_copy(
        &self,
        record: u64,
        uuid: &str,
        session: usize,
        asked: &HitContext<'_>,
    ) -> Result<Option<RecordCopy>, Error> {
        let wanted = self.sessions.id(session);
        for id in self.sessions.files_with(record) {
            let Some(file) = self.list.file(id)? else { continue };
            if file.gone || file.session.as_ref() != Some(wanted) || !asked.may_cite(&file) {
                continue;
            }
            if let Some((offset, line)) = place_in(&file.path, record, Some(uuid), LOOKED_THROUGH) {
                return Ok(Some(RecordCopy { file, offset, line }));
            }
        }
        Ok(None)
    }
}

/// The offset and line number of a record in the first `most` bytes of a transcript; `None` also where the file cannot
/// be read. Only lines with the record's id are parsed, where it is known.
fn place_in(path: &Path, record: u64, uuid: Option<&str>, most: u64) -> Option<(u64, u64)> {
    let uuid = uuid.map(Finder::new);
    let mut reader = Reader::open(path).ok()?;
    while reader.offset() < most {
        let line = reader.next_line().ok()??;
        if uuid.as_ref().is_some_and(|uuid| uuid.find(line.bytes).is_none()) {
            continue;
        }
        let is_it = line.record().is_ok_and(|parsed| record_of(&parsed) == record);
        if is_it {
            return Some((line.offset, line.number));
        }
    }
    None
}
