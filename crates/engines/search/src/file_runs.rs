//! Where the chunks of each file are in the text index, in which no list leads from a file to them.

use std::ops::Range;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use system::in_parallel;
use tantivy::{DocId, Searcher as Text, SegmentReader};

use crate::columns::{ChunkAt, Columns, NumberColumn, RecordKey};
use crate::kept_runs;

/// The chunks of each file by segment: few runs, because a file's chunks are added one after the other.
#[derive(Debug)]
pub(crate) struct FileRuns(Vec<Vec<Run>>);

/// Chunks of one file, and deleted ones among them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) file: u64,
    pub(crate) documents: Range<DocId>,
}

impl FileRuns {
    /// Finds them in one pass over all chunks; those of large segments are kept in `folder`.
    pub(crate) fn find(columns: &[Columns], text: &Text, folder: &Path, threads: usize) -> Self {
        let of_segment = |(columns, segment): (&Columns, &SegmentReader)| {
            kept_runs::of_segment(folder, segment, || runs(columns, segment))
        };
        Self(in_parallel(threads, columns.iter().zip(text.segment_readers()), of_segment))
    }

    /// The runs of each segment.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &[Run]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// The chunks of some records.
    pub(crate) fn chunks_of(
        &self,
        columns: &[Columns],
        text: &Text,
        records: &FxHashSet<RecordKey>,
    ) -> FxHashMap<RecordKey, Vec<ChunkAt>> {
        let mut found: FxHashMap<RecordKey, Vec<ChunkAt>> = FxHashMap::default();
        let files: FxHashSet<u64> = records.iter().map(|place| place.file).collect();
        for chunk in files.into_iter().flat_map(|file| self.chunks(file)) {
            let ChunkAt { segment, document } = chunk;
            if let Some((_, place)) = columns[segment].meaning(document)
                && records.contains(&place)
                && !text.segment_readers()[segment].is_deleted(document)
            {
                found.entry(place).or_default().push(chunk);
            }
        }
        found
    }

    /// The chunks of a file, and deleted ones among them.
    pub(crate) fn chunks(&self, file: u64) -> impl Iterator<Item = ChunkAt> {
        self.0.iter().enumerate().flat_map(move |(segment, runs)| {
            let first = runs.partition_point(|run| run.file < file);
            let of_file = runs[first..].iter().take_while(move |run| run.file == file);
            of_file.flat_map(|run| run.documents.clone()).map(move |document| ChunkAt { segment, document })
        })
    }
}

/// The runs of a segment, by file.
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
