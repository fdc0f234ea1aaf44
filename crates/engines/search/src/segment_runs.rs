//! Where the chunks of each file are in a segment. Those of a large one are kept in a file of its own: a segment never
//! changes, and to look at the file of every chunk takes a search as long as its words do.
//!
//! What is kept is derived: what is lost is found again.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use system::{Snapshot, create_private_folder};
use tantivy::{DocId, SegmentReader};

use crate::columns::{Columns, NumberColumn};

/// Which fields the bytes were made of.
const FORMAT: u32 = 1;
/// From so many chunks on, looking at all of them takes longer than reading a file.
const LARGE: u32 = 16_384;

/// Chunks of one file, and deleted ones among them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) file: u64,
    pub(crate) documents: Range<DocId>,
}

/// The runs of a segment, by file: those that are kept in the folder, or else those that are found, which are kept from now on.
pub(crate) fn of_segment(folder: &Path, columns: &Columns, segment: &SegmentReader) -> Vec<Run> {
    // Chunks that were deleted belong to no run.
    if segment.max_doc() < LARGE || segment.num_deleted_docs() > 0 {
        return runs(columns, segment);
    }
    kept(folder, columns, segment)
}

fn kept(folder: &Path, columns: &Columns, segment: &SegmentReader) -> Vec<Run> {
    let (file, chunks) = (folder.join(segment.segment_id().uuid_string()), u128::from(segment.max_doc()));
    if let Some(kept) = load(&file, chunks) {
        return kept;
    }
    let runs = runs(columns, segment);
    if let Ok(bytes) = postcard::to_stdvec(&runs) {
        // Nothing is lost but time.
        let _ = create_private_folder(folder);
        let _ = Snapshot::write(&file, FORMAT, chunks, &[bytes]);
    }
    runs
}

fn runs(columns: &Columns, segment: &SegmentReader) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    columns.each(segment, [NumberColumn::File], |document, [file]| {
        match runs.last_mut().filter(|run| run.file == file) {
            Some(run) => run.documents.end = document + 1,
            None => runs.push(Run { file, documents: document..document + 1 }),
        }
    });
    runs.sort_by_key(|run| run.file);
    runs
}

fn load(file: &Path, chunks: u128) -> Option<Vec<Run>> {
    let snapshot = Snapshot::open(file, FORMAT, chunks)?;
    let mut bytes = Vec::new();
    snapshot.read_section(0, &mut bytes)?;
    postcard::from_bytes(&bytes).ok()
}

/// Removes those of other segments.
pub(crate) fn retain(folder: &Path, segments: &HashSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(|name| segments.contains(name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder of an index in which they are kept.
pub(crate) fn folder(index: &Path) -> PathBuf {
    index.join("runs")
}

#[cfg(test)]
mod tests {
    use model::SessionId;
    use testkit::transcript::Transcript;

    use super::*;
    use crate::{Searcher, SourceFile, SourceKind, sync};

    fn index(folder: &Path) -> Searcher {
        let source = |id: &str| {
            let path = Transcript::new(id).prompt("Feed the walrus").answer("Done.").write_in(folder);
            let stamp = system::FileStamp::from_metadata(&path.metadata().unwrap());
            let session = id.parse::<SessionId>().ok();
            SourceFile { path, stamp, kind: SourceKind::ClaudeSessions, session, subagent: false }
        };
        let sources: Vec<_> = ["s1", "s2", "s3"].map(source).into();
        sync(&folder.join("index"), &sources, &mut |_| true).unwrap();
        Searcher::open(&folder.join("index")).unwrap().unwrap()
    }

    #[test]
    fn runs_are_kept_until_their_segment_is_gone_and_found_again_where_they_are_damaged() {
        let scratch = tempfile::tempdir().unwrap();
        let searcher = index(scratch.path());
        let (columns, segment) = (&searcher.columns[0], &searcher.text.segment_readers()[0]);
        let found = runs(columns, segment);
        let files: HashSet<u64> = found.iter().map(|run| run.file).collect();
        assert_eq!(files.len(), 3);
        let folder = scratch.path().join("runs");
        let id = segment.segment_id().uuid_string();
        for _ in 0..2 {
            assert_eq!(kept(&folder, columns, segment), found);
        }
        assert_eq!(
            load(&folder.join(&id), u128::from(segment.max_doc())),
            Some(kept(&folder, columns, segment))
        );
        fs::write(folder.join(&id), "damaged").unwrap();
        assert_eq!(kept(&folder, columns, segment), found);
        retain(&folder, &HashSet::from([id.clone()]));
        assert!(folder.join(&id).exists());
        retain(&folder, &HashSet::new());
        assert!(!folder.join(&id).exists());
    }

    #[test]
    fn the_format_is_unchanged() {
        let runs = vec![Run { file: 300, documents: 0..20_000 }, Run { file: 7, documents: 20_000..20_001 }];
        let bytes = postcard::to_stdvec(&runs).unwrap();
        assert_eq!(postcard::from_bytes::<Vec<Run>>(&bytes).unwrap(), runs);
        assert_eq!(
            (FORMAT, bytes.as_slice()),
            (1, &[2, 172, 2, 0, 160, 156, 1, 7, 160, 156, 1, 161, 156, 1][..]),
            "a field has changed: raise FORMAT, then put the new bytes here"
        );
    }
}
