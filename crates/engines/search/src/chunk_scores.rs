//! What the words of a query say of chunks.

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;

use crate::columns::ChunkAt;
use crate::features::FeaturePostings;
use crate::rank;

/// How many chunks are scored at a time: so many scores stay in the processor's cache.
const BLOCK: u32 = 4096;

/// What the words of a query say of a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChunkScore {
    /// The share of the most it could reach; 0 for no answer.
    pub(crate) share: f32,
    /// The share of the query's words that it contains, by their rarity.
    pub(crate) coverage: f32,
}

/// What the words of a query say of the chunks that have any, by segment and in order.
pub(crate) struct ChunkScores(Vec<Vec<(DocId, ChunkScore)>>);

impl ChunkScores {
    pub(crate) fn new(by_segment: Vec<Vec<(DocId, ChunkScore)>>) -> Self {
        Self(by_segment)
    }

    /// What the words say of this chunk.
    pub(crate) fn of(&self, chunk: ChunkAt) -> ChunkScore {
        let Some(scores) = self.0.get(chunk.segment) else { return ChunkScore::default() };
        let place = scores.binary_search_by_key(&chunk.document, |(document, _)| *document);
        place.map_or_else(|_| ChunkScore::default(), |place| scores[place].1)
    }

    /// Whether the query has no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What the chunks of one segment are scored with.
pub(crate) struct SegmentScoring<'a> {
    pub(crate) features: &'a [FeaturePostings],
    /// The inverse document frequency of each feature.
    pub(crate) idfs: &'a [f32],
    /// The sum of those of words.
    pub(crate) all_words: f32,
    pub(crate) lengths: FieldNormReader,
    /// The mean length of a chunk.
    pub(crate) mean: f32,
    pub(crate) segment: usize,
}

impl SegmentScoring<'_> {
    /// Calls `each` for every chunk that has any of the features, in order, with a share that is no share of anything yet.
    pub(crate) fn each(&self, mut each: impl FnMut(DocId, ChunkScore)) {
        let mut block = vec![ChunkScore::default(); BLOCK as usize];
        let mut left: Vec<&[(DocId, u32)]> =
            self.features.iter().map(|column| column.chunks[self.segment].as_slice()).collect();
        // Blocks without any of the features are passed over.
        while let Some((next, _)) = left.iter().filter_map(|chunks| chunks.first()).min() {
            let first = next - next % BLOCK;
            self.add_block(first, &mut left, &mut block);
            let scores = (first..).zip(block.iter_mut().map(std::mem::take));
            scores.filter(|(_, score)| score.share > 0.0).for_each(|(document, score)| each(document, score));
        }
    }

    /// Adds the scores of the block that begins with `first`, and takes its chunks from those that are left.
    fn add_block(&self, first: DocId, left: &mut [&[(DocId, u32)]], block: &mut [ChunkScore]) {
        for ((column, idf), chunks) in self.features.iter().zip(self.idfs).zip(left) {
            let end = chunks.partition_point(|(document, _)| *document - first < BLOCK);
            let (these, rest) = chunks.split_at(end);
            *chunks = rest;
            for (document, frequency) in these {
                let length = self.lengths.fieldnorm(*document) as f32 / self.mean;
                let score = &mut block[(document - first) as usize];
                score.share += rank::of_chunk(column.query.feature(), *idf, *frequency as f32, length);
                if column.query.is_word() {
                    score.coverage += idf / self.all_words;
                }
            }
        }
    }
}
