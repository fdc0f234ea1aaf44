//! Where the chunks of each file are in the text index, in which no list leads from a file to them.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use system::in_parallel;
use tantivy::{Searcher as Text, SegmentReader};

use crate::columns::{ChunkAt, Columns, RecordKey};
use crate::segment_runs::{self, Run};

/// The chunks of each file by segment: few runs, because a file's chunks are added one after the other.
#[derive(Debug)]
pub(crate) struct FileRuns(Vec<Vec<Run>>);

impl FileRuns {
    /// Finds them in one pass over all chunks; those of large segments are kept in `folder`.
    pub(crate) fn find(columns: &[Columns], text: &Text, folder: &Path, threads: usize) -> Self {
        let of_segment = |(columns, segment): (&Columns, &SegmentReader)| {
            segment_runs::of_segment(folder, columns, segment)
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
