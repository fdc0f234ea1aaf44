//! The numeric columns that the text index stores for every chunk, one set per segment.

use tantivy::columnar::Column;
use tantivy::{DocId, Searcher as Text, SegmentReader};

use crate::kind::ChunkKind;

/// A chunk by its place in the text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ChunkAt {
    pub(crate) segment: usize,
    pub(crate) document: DocId,
}

/// Decides which chunks may be found.
pub(crate) trait ChunkFilter {
    /// Whether a chunk of this kind and time counts; the time is only looked up when it matters.
    fn chunk(&self, kind: ChunkKind, time: &dyn Fn() -> u64) -> bool;

    /// Whether times matter.
    fn has_times(&self) -> bool;
}

/// How many of a session's chunks to keep, and which.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Passages {
    /// At most so many.
    pub(crate) most: usize,
    /// Only those with at least this share of what the question's words could give.
    pub(crate) least_share: f32,
}

/// A record: the file it was indexed for, and the hash of its id; 0 where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordKey {
    pub(crate) file: u64,
    pub(crate) record: u64,
}

/// How many chunks are read together.
const AT_ONCE: usize = 256;

/// A column to read for each chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NumberColumn {
    /// The number of its file.
    File,
    /// The number of its kind.
    Kind,
    /// Its record's; 0 where that has none.
    Record,
    /// In seconds since 1970; 0 where the record has no time.
    Time,
}

/// The columns of one segment that every question looks at.
pub(crate) struct Columns {
    file: Column<u64>,
    kind: Column<u64>,
    record: Column<u64>,
    time: Column<u64>,
    line: Column<u64>,
    piece: Column<u64>,
    offset: Column<u64>,
}

impl Columns {
    /// Opens the columns of all segments.
    pub(crate) fn open(text: &Text) -> tantivy::Result<Vec<Self>> {
        let of = |segment: &SegmentReader| {
            let fields = segment.fast_fields();
            Ok(Self {
                file: fields.u64("file")?,
                kind: fields.u64("kind")?,
                record: fields.u64("record")?,
                time: fields.u64("time")?,
                line: fields.u64("line")?,
                piece: fields.u64("piece")?,
                offset: fields.u64("offset")?,
            })
        };
        text.segment_readers().iter().map(of).collect()
    }

    pub(crate) fn file(&self, document: DocId) -> Option<u64> {
        self.file.first(document)
    }

    pub(crate) fn kind(&self, document: DocId) -> Option<ChunkKind> {
        self.kind.first(document).and_then(ChunkKind::from_number)
    }

    pub(crate) fn record(&self, document: DocId) -> Option<u64> {
        self.record.first(document)
    }

    /// The record of a chunk.
    pub(crate) fn key(&self, document: DocId) -> RecordKey {
        let number = |column: &Column<u64>| column.first(document).unwrap_or(0);
        RecordKey { file: number(&self.file), record: number(&self.record) }
    }

    /// In seconds since 1970; 0 where the record has no time.
    pub(crate) fn time(&self, document: DocId) -> u64 {
        self.time.first(document).unwrap_or(0)
    }

    /// Where the chunk's line begins in its file, in bytes; the line, from 1; and which piece of the record the chunk is.
    pub(crate) fn location(&self, document: DocId) -> [u64; 3] {
        [&self.offset, &self.line, &self.piece].map(|column| column.first(document).unwrap_or(0))
    }

    /// A sort key that orders the chunks of a session by time, independent of how the index was built.
    pub(crate) fn order(&self, document: DocId) -> [u64; 4] {
        let number = |column: &Column<u64>| column.first(document).unwrap_or(0);
        [&self.time, &self.line, &self.piece, &self.record].map(number)
    }

    /// Gives all chunks of the segment that are alive with some numbers of each; many at a time, which costs a
    /// tenth of asking for each.
    pub(crate) fn each<const N: usize>(
        &self,
        segment: &SegmentReader,
        of: [NumberColumn; N],
        mut each: impl FnMut(DocId, [u64; N]),
    ) {
        let columns = of.map(|of| match of {
            NumberColumn::File => &self.file,
            NumberColumn::Kind => &self.kind,
            NumberColumn::Record => &self.record,
            NumberColumn::Time => &self.time,
        });
        let mut numbers = [[None; AT_ONCE]; N];
        let mut documents = Vec::with_capacity(AT_ONCE);
        let mut alive = segment.doc_ids_alive();
        loop {
            documents.clear();
            documents.extend(alive.by_ref().take(AT_ONCE));
            if documents.is_empty() {
                return;
            }
            for (column, numbers) in columns.iter().zip(&mut numbers) {
                let numbers = &mut numbers[..documents.len()];
                numbers.fill(None);
                column.first_vals(&documents, numbers);
            }
            for (at, document) in documents.iter().enumerate() {
                // Every chunk has a number in every column.
                each(*document, std::array::from_fn(|column| numbers[column][at].unwrap_or_default()));
            }
        }
    }

    /// The kind and record of a chunk that can be found by meaning.
    pub(crate) fn meaning(&self, document: DocId) -> Option<(ChunkKind, RecordKey)> {
        let kind = self.kind(document).filter(|kind| kind.has_meaning())?;
        Some((kind, RecordKey { file: self.file(document)?, record: self.record(document)? }))
    }
}
