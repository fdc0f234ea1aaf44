//! Which records a question's role and times admit.

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::{Searcher as Text, SegmentReader};

use crate::columns::{ChunkFilter, Columns, NumberColumn, RecordKey};
use crate::file_runs::FileRuns;
use crate::kind::ChunkKind;
use crate::segment_runs::Run;

/// The records with a chunk that passes a filter. One by time passes nearly all of a file or nearly nothing, so that few
/// records have to be listed.
#[derive(Debug, Default)]
pub(crate) struct Admitted {
    files: FxHashMap<u64, FileShare>,
    /// The records that are not as most of their file are.
    exceptions: FxHashSet<RecordKey>,
}

/// How many chunks of a file can be found by meaning, and how many of those pass the filter.
#[derive(Debug, Default, Clone, Copy)]
struct FileShare {
    chunks: usize,
    passing: usize,
}

impl FileShare {
    fn passes_mostly(self) -> bool {
        self.passing > self.chunks / 2
    }

    fn has_exceptions(self) -> bool {
        (1..self.chunks).contains(&self.passing)
    }
}

impl Admitted {
    /// The records of the index that `filter` admits.
    pub(crate) fn new(columns: &[Columns], text: &Text, runs: &FileRuns, filter: &dyn ChunkFilter) -> Self {
        let passing = columns.iter().zip(text.segment_readers());
        let passing: Vec<_> =
            passing.map(|(columns, segment)| passing_chunks(columns, segment, filter)).collect();
        let mut admitted = Self::default();
        for (run, passing, _) in each_run(columns, runs, &passing) {
            let file = admitted.files.entry(run.file).or_default();
            file.chunks += passing.iter().flatten().count();
            file.passing += passing.iter().filter(|passes| **passes == Some(true)).count();
        }
        let Self { files, exceptions } = &mut admitted;
        let mixed = |run: &Run| files.get(&run.file).copied().filter(|file| file.has_exceptions());
        for (run, passing, columns) in each_run(columns, runs, &passing) {
            if let Some(file) = mixed(run) {
                exceptions.extend(records(columns, run, passing, !file.passes_mostly()));
            }
        }
        // Of a record with several chunks one that passes is enough.
        for (run, passing, columns) in each_run(columns, runs, &passing) {
            if mixed(run).is_some_and(FileShare::passes_mostly) {
                for place in records(columns, run, passing, true) {
                    exceptions.remove(&place);
                }
            }
        }
        admitted
    }

    pub(crate) fn contains(&self, place: RecordKey) -> bool {
        let Some(file) = self.files.get(&place.file) else { return false };
        file.passes_mostly() != (file.has_exceptions() && self.exceptions.contains(&place))
    }
}

/// Whether each chunk of a segment passes the filter; `None` for those that cannot be found by meaning.
fn passing_chunks(columns: &Columns, segment: &SegmentReader, filter: &dyn ChunkFilter) -> Vec<Option<bool>> {
    let mut passing = vec![None; segment.max_doc() as usize];
    let mut decide = |document: u32, kind, time| {
        let kind = ChunkKind::from_number(kind).filter(|kind| kind.has_meaning());
        passing[document as usize] = kind.map(|kind| filter.chunk(kind, &|| time));
    };
    if filter.has_times() {
        let of = [NumberColumn::Kind, NumberColumn::Time];
        columns.each(segment, of, |document, [kind, time]| decide(document, kind, time));
    } else {
        columns.each(segment, [NumberColumn::Kind], |document, [kind]| decide(document, kind, 0));
    }
    passing
}

/// The runs of all files, with what is known of their chunks and where their numbers are.
fn each_run<'a>(
    columns: &'a [Columns],
    runs: &'a FileRuns,
    passing: &'a [Vec<Option<bool>>],
) -> impl Iterator<Item = (&'a Run, &'a [Option<bool>], &'a Columns)> {
    let segments = runs.segments().zip(passing).zip(columns);
    segments.flat_map(|((runs, passing), columns)| {
        let of_run = move |run: &Run| &passing[run.documents.start as usize..run.documents.end as usize];
        runs.iter().map(move |run| (run, of_run(run), columns))
    })
}

/// The records of the chunks of a run that pass, or of those that do not.
fn records<'a>(
    columns: &'a Columns,
    run: &'a Run,
    passing: &'a [Option<bool>],
    passes: bool,
) -> impl Iterator<Item = RecordKey> + 'a {
    let chunks = run.documents.clone().zip(passing).filter(move |(_, chunk)| **chunk == Some(passes));
    chunks.map(|(document, _)| columns.key(document))
}
