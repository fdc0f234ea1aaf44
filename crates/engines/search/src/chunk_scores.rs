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
    /// Calls `each` for every chunk that has any of the features, in order; its share is not yet divided by the most that
    /// it could reach.
    pub(crate) fn each(&self, each: impl FnMut(DocId, ChunkScore)) {
        self.each_by(BLOCK, each);
    }

    fn each_by(&self, length: u32, mut each: impl FnMut(DocId, ChunkScore)) {
        let mut block = vec![ChunkScore::default(); length as usize];
        let mut left: Vec<&[(DocId, u32)]> =
            self.features.iter().map(|column| column.chunks[self.segment].as_slice()).collect();
        // Blocks without any of the features are passed over.
        while let Some((next, _)) = left.iter().filter_map(|chunks| chunks.first()).min() {
            let first = next - next % length;
            self.add_block(first, &mut left, &mut block);
            let scores = (first..).zip(block.iter_mut().map(std::mem::take));
            scores.filter(|(_, score)| score.share > 0.0).for_each(|(document, score)| each(document, score));
        }
    }

    /// Adds the scores of the block that begins with `first`, and takes its chunks from those that are left.
    fn add_block(&self, first: DocId, left: &mut [&[(DocId, u32)]], block: &mut [ChunkScore]) {
        for ((column, idf), chunks) in self.features.iter().zip(self.idfs).zip(left) {
            let end = chunks.partition_point(|(document, _)| ((*document - first) as usize) < block.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureQuery;

    #[test]
    fn scores_are_the_same_in_blocks_of_any_length() {
        let column = |word: &str, chunks: &[(DocId, u32)]| FeaturePostings {
            query: FeatureQuery::Word(word.to_owned()),
            chunks: vec![chunks.to_vec()],
            having: 1,
            said: Vec::new(),
        };
        let features =
            [column("walrus", &[(0, 1), (3, 2), (17, 1)]), column("feed", &[(3, 1), (4, 1), (16, 9)])];
        let lengths = FieldNormReader::constant(20, 7);
        let scoring = SegmentScoring {
            features: &features,
            idfs: &[2.0, 0.5],
            all_words: 2.5,
            lengths,
            mean: 8.0,
            segment: 0,
        };
        let scores = |length: u32| {
            let mut scores = Vec::new();
            scoring.each_by(length, |document, score| scores.push((document, score.share, score.coverage)));
            scores
        };
        let whole = scores(BLOCK);
        assert_eq!(whole.iter().map(|(document, ..)| *document).collect::<Vec<_>>(), [0, 3, 4, 16, 17]);
        assert!((whole[1].2 - 1.0).abs() < 1e-6 && whole[1].1 > whole[0].1, "{whole:?}");
        for length in [1, 2, 4, 16] {
            assert_eq!(scores(length), whole, "{length}");
        }
    }
}
