//! Finds copies of a record in forks, which are cited where the original file is gone.

use std::path::Path;

use transcript::Reader;
use transcript::record::parse;

use super::Searcher;
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
    /// A copy of a record in an existing file, preferably of `session`; `None` where there is none.
    pub(crate) fn copy_of(&self, record: u64, session: usize) -> Result<Option<RecordCopy>, Error> {
        let mut files = Vec::new();
        for id in self.sessions.files_with(record) {
            files.extend(
                self.list.file(id)?.filter(|row| !row.gone && row.source == SourceKind::ClaudeSessions),
            );
        }
        let wanted = self.sessions.id(session);
        files.sort_by_key(|row| (row.session.as_ref() != Some(wanted), row.id));
        let found = files.into_iter().find_map(|file| {
            let (offset, line) = place_in(&file.path, record)?;
            Some(RecordCopy { file, offset, line })
        });
        Ok(found)
    }
}

/// The offset and line number of a record in a transcript; `None` also where the file cannot be read.
fn place_in(path: &Path, record: u64) -> Option<(u64, u64)> {
    let mut reader = Reader::open(path).ok()?;
    while reader.offset() < LOOKED_THROUGH {
        let line = reader.next_line().ok()??;
        let is_it = parse(line.bytes).is_ok_and(|parsed| record_of(&parsed) == record);
        if is_it {
            return Some((line.offset, line.number));
        }
    }
    None
}
