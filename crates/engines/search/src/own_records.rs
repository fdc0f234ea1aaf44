//! Tells the summaries of a transcript's own records from those of other sessions: old versions of Claude Code wrote all
//! that were due into whichever transcript was opened next.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use transcript::Reader;
use transcript::record::link;
use xxhash_rust::xxh3::xxh3_64;

/// The records of a transcript, which is read for them when they are first asked for.
pub(crate) struct OwnRecords {
    path: PathBuf,
    ids: Option<FxHashSet<u64>>,
}

impl OwnRecords {
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), ids: None }
    }

    /// Whether a record with this id is in the transcript.
    pub(crate) fn contain(&mut self, uuid: &str) -> bool {
        self.ids.get_or_insert_with(|| ids(&self.path)).contains(&xxh3_64(uuid.as_bytes()))
    }
}

/// Hashes of the ids of a transcript's records, as far as it can be read.
fn ids(path: &Path) -> FxHashSet<u64> {
    let mut ids = FxHashSet::default();
    let Ok(mut reader) = Reader::open(path) else { return ids };
    while let Ok(Some(line)) = reader.next_line() {
        ids.extend(link(line.bytes).map(|(uuid, _)| xxh3_64(uuid.as_bytes())));
    }
    ids
}
