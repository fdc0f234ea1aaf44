//! The postings of a question's words and pairs of words over the whole index.

use system::in_parallel;
use tantivy::schema::Field;
use tantivy::{DocId, SegmentReader};

use crate::beginning::Beginning;
use crate::columns::ChunkFilter;
use crate::index::Index;
use crate::postings::{any_word, pair, word};
use crate::query::Query;
use crate::rank::Feature;

/// The postings of each word and word pair of a query, for all sessions, whichever may be found. The next question may have
/// some of them, too: whoever types adds a letter to the last word.
#[derive(Default)]
pub(crate) struct Features(pub(crate) Vec<FeaturePostings>);

/// One feature of the question over the whole index.
pub(crate) struct FeaturePostings {
    pub(crate) query: FeatureQuery,
    /// The chunks that pass the filter and contain the feature, with its frequency; by segment.
    pub(crate) chunks: Vec<Vec<(DocId, u32)>>,
    /// The number of chunks that contain the feature, whether they pass the filter or not.
    pub(crate) having: u64,
    /// How often each session contains the feature.
    pub(crate) said: Vec<u32>,
}

/// A word or word pair to look up.
#[derive(PartialEq, Eq)]
pub(crate) enum FeatureQuery {
    Word(String),
    Pair(String, String),
    /// Any of the words that a word may become that is being typed.
    Beginning {
        words: Vec<String>,
        ranks: bool,
    },
}

impl FeatureQuery {
    fn all_of(query: &Query) -> impl Iterator<Item = Self> {
        let words = query.terms.iter().cloned().map(Self::Word);
        let pairs = query.pairs.iter().cloned().map(|(left, right)| Self::Pair(left, right));
        let beginning = query.beginning.iter().filter_map(|Beginning { words, ranks, .. }| {
            Some(Self::Beginning { words: words.clone()?, ranks: *ranks })
        });
        words.chain(pairs).chain(beginning)
    }

    pub(crate) fn feature(&self) -> Feature {
        match self {
            Self::Word(_) | Self::Beginning { ranks: true, .. } => Feature::Word,
            Self::Pair(..) => Feature::Pair,
            Self::Beginning { ranks: false, .. } => Feature::Mark,
        }
    }

    pub(crate) fn is_word(&self) -> bool {
        self.feature() == Feature::Word
    }

    fn walk(
        &self,
        segment: &SegmentReader,
        text: Field,
        each: impl FnMut(DocId, u32),
    ) -> tantivy::Result<()> {
        match self {
            Self::Word(term) => word(segment, text, term, each),
            Self::Pair(left, right) => pair(segment, text, (left, right), each),
            Self::Beginning { words, .. } => any_word(segment, text, words, each),
        }
    }
}

/// The postings of a feature in one segment.
struct SegmentPostings {
    chunks: Vec<(DocId, u32)>,
    having: u64,
    said: Vec<u32>,
}

impl SegmentPostings {
    fn load(
        index: &Index<'_>,
        admit: &(dyn ChunkFilter + Sync),
        query: &FeatureQuery,
        at: usize,
    ) -> tantivy::Result<Self> {
        let (segment, columns) = (&index.text.segment_readers()[at], &index.columns[at]);
        let mut loaded = Self { chunks: Vec::new(), having: 0, said: vec![0; index.sessions.len()] };
        query.walk(segment, index.fields.text, |document, frequency| {
            let Some(kind) = columns.kind(document) else { return };
            let by_words = kind.is_found_by_words();
            loaded.having += u64::from(by_words);
            if !admit.chunk(kind, &|| columns.time(document)) {
                return;
            }
            if by_words {
                loaded.chunks.push((document, frequency));
            }
            if kind.speaks_for_session() {
                let record = || columns.record(document);
                index.sessions.all_holders(columns.file(document), record, |session| {
                    loaded.said[session] = loaded.said[session].saturating_add(frequency);
                });
            }
        })?;
        Ok(loaded)
    }
}

impl FeaturePostings {
    /// Those of all segments, in order.
    fn of_segments(query: FeatureQuery, sessions: usize, parts: Vec<SegmentPostings>) -> Self {
        let mut all =
            Self { query, chunks: Vec::with_capacity(parts.len()), having: 0, said: vec![0; sessions] };
        for SegmentPostings { chunks, having, said } in parts {
            all.chunks.push(chunks);
            all.having += having;
            for (known, more) in all.said.iter_mut().zip(said) {
                *known = known.saturating_add(more);
            }
        }
        all
    }
}

/// Loads the postings of the words and word pairs of `query` on `threads` threads, but for those that are `known`.
pub(crate) fn load_postings(
    index: &Index<'_>,
    query: &Query,
    admit: &(dyn ChunkFilter + Sync),
    Features(mut known): Features,
    threads: usize,
) -> tantivy::Result<Features> {
    let asked = FeatureQuery::all_of(query).map(|asked| {
        let at = known.iter().position(|column| column.query == asked);
        at.map(|at| known.swap_remove(at)).ok_or(asked)
    });
    let asked: Vec<Result<FeaturePostings, FeatureQuery>> = asked.collect();
    let segments = index.columns.len();
    // A segment of a feature at a time: features are few, and most texts have the commonest.
    let unknown = asked.iter().filter_map(|asked| asked.as_ref().err());
    let jobs: Vec<_> = unknown.flat_map(|query| (0..segments).map(move |at| (query, at))).collect();
    let parts = in_parallel(threads, jobs, |(query, at)| SegmentPostings::load(index, admit, query, at));
    let mut parts = parts.into_iter();
    let whole = |asked: Result<FeaturePostings, FeatureQuery>| {
        asked.or_else(|query| {
            let parts: tantivy::Result<_> = parts.by_ref().take(segments).collect();
            Ok(FeaturePostings::of_segments(query, index.sessions.len(), parts?))
        })
    };
    asked.into_iter().map(whole).collect::<tantivy::Result<_>>().map(Features)
}
