//! The places in a session's text that are worth citing, collected for the best sessions alone.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;

use crate::chunk_scores::{ChunkScore, ChunkScores};
use crate::columns::{ChunkAt, Passages, RecordKey};
use crate::file_runs::FileRuns;
use crate::index::Index;
use crate::kind::ChunkKind;
use crate::postings::containing;
use crate::rank;

/// How many chunks of a session are looked at for what is cited.
const CITABLE: usize = 12;

/// Words of answers that say why, or what was changed, rather than what is about to be looked at; as they are indexed.
const CONCLUSIONS: [&str; 4] = ["becaus", "caus", "fix", "instead"];

/// A chunk that may be cited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) worth: f32,
    pub(crate) chunk: ChunkAt,
    /// Whether it contains a word of the query; otherwise it is near in meaning.
    pub(crate) has_words: bool,
}

/// The places in the text of one session, best first.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Those that are most worth citing.
    pub(crate) citable: Vec<Place>,
    /// As many as were asked for, by how well their words match.
    pub(crate) passages: Vec<Place>,
}

/// What is known of the texts of the best sessions.
pub(crate) struct TextEvidence<'a> {
    /// What their words say.
    pub(crate) chunks: &'a ChunkScores,
    /// How related in meaning their records are, from 0 to 1.
    pub(crate) related: &'a FxHashMap<RecordKey, f32>,
    /// The chunks of the records that are nearest in meaning.
    pub(crate) nearest: &'a FxHashMap<RecordKey, Vec<ChunkAt>>,
}

impl TextEvidence<'_> {
    /// The chunks of these files that contain a word of the query, and those that are nearest in meaning without one.
    fn candidates<'a>(
        &'a self,
        runs: &'a FileRuns,
        files: impl Iterator<Item = u64> + 'a,
    ) -> impl Iterator<Item = (ChunkAt, ChunkScore)> + 'a {
        let files = files.filter(|_| !self.chunks.is_empty());
        let in_files = files.flat_map(|file| runs.chunks(file)).map(|chunk| (chunk, self.chunks.of(chunk)));
        let wordless = self.nearest.values().flatten().filter(|chunk| self.chunks.of(**chunk).share <= 0.0);
        let wordless = wordless.map(|chunk| (*chunk, ChunkScore::default()));
        in_files.filter(|(_, score)| score.share > 0.0).chain(wordless)
    }
}

/// The places in these sessions that answer.
pub(crate) fn places(
    index: &Index<'_>,
    runs: &FileRuns,
    texts: &TextEvidence<'_>,
    sessions: impl Iterator<Item = usize>,
    wanted: Passages,
) -> tantivy::Result<FxHashMap<usize, Places>> {
    let mut all: FxHashMap<usize, Places> = sessions.map(|session| (session, Places::default())).collect();
    let lengths = index.text.segment_readers().iter();
    let lengths = lengths.map(|segment| segment.get_fieldnorms_reader(index.fields.text));
    let lengths: Vec<FieldNormReader> = lengths.collect::<tantivy::Result<_>>()?;
    // Of chunks that are worth the same the one that was said first, in whichever order they are met.
    let order = |chunk: ChunkAt| index.columns[chunk.segment].order(chunk.document);
    let best_first = |one: &Place, other: &Place| {
        let earlier = || order(one.chunk).cmp(&order(other.chunk));
        other.worth.total_cmp(&one.worth).then_with(earlier)
    };
    let mut is_wanted = vec![false; index.sessions.len()];
    for session in all.keys() {
        is_wanted[*session] = true;
    }
    for (chunk, score) in texts.candidates(runs, index.sessions.files_of(&is_wanted)) {
        let columns = &index.columns[chunk.segment];
        let record = || columns.record(chunk.document);
        index.sessions.holders(columns.file(chunk.document), record, |session| {
            let Some(places) = all.get_mut(&session) else { return };
            let kind = columns.kind(chunk.document);
            let related = columns.meaning(chunk.document).and_then(|(_, record)| texts.related.get(&record));
            let words = lengths[chunk.segment].fieldnorm(chunk.document);
            let worth = rank::worth_citing(kind, score.coverage, related.copied().unwrap_or_default(), words);
            let has_words = score.share > 0.0;
            keep_best(&mut places.citable, CITABLE, Place { worth, chunk, has_words }, best_first);
            let is_passage = has_words && score.share >= wanted.least_share;
            if wanted.most > 0 && is_passage && kind.is_none_or(ChunkKind::is_place) {
                let worth = score.share * kind.map_or(1.0, rank::worth_of_kind);
                keep_best(&mut places.passages, wanted.most, Place { worth, chunk, has_words }, best_first);
            }
        });
    }
    prefer_conclusions(index, &mut all, best_first)?;
    Ok(all)
}

/// Raises the worth of answers that contain a conclusion, among the texts that may be cited.
fn prefer_conclusions(
    index: &Index<'_>,
    sessions: &mut FxHashMap<usize, Places>,
    best_first: impl Fn(&Place, &Place) -> Ordering + Copy,
) -> tantivy::Result<()> {
    let is_answer =
        |chunk: ChunkAt| index.columns[chunk.segment].kind(chunk.document) == Some(ChunkKind::Answer);
    let mut concluding: FxHashSet<ChunkAt> = FxHashSet::default();
    for (at, segment) in index.text.segment_readers().iter().enumerate() {
        let citable = sessions.values().flat_map(|places| &places.citable).map(|place| place.chunk);
        let answers = citable.filter(|chunk| chunk.segment == at && is_answer(*chunk));
        let mut answers: Vec<DocId> = answers.map(|chunk| chunk.document).collect();
        answers.sort_unstable();
        for word in CONCLUSIONS {
            containing(segment, index.fields.text, word, &answers, |document| {
                concluding.insert(ChunkAt { segment: at, document });
            })?;
        }
    }
    for places in sessions.values_mut() {
        for place in places.citable.iter_mut().filter(|place| concluding.contains(&place.chunk)) {
            place.worth += rank::CONCLUSION;
        }
        places.citable.sort_by(best_first);
    }
    Ok(())
}

/// Puts a chunk among the best ones, which are at most so many.
fn keep_best(
    best: &mut Vec<Place>,
    most: usize,
    new: Place,
    best_first: impl Fn(&Place, &Place) -> Ordering,
) {
    let at = best.partition_point(|known| best_first(&new, known).is_ge());
    if at < most {
        best.truncate(most - 1);
        best.insert(at, new);
    }
}
