//! The places in a session's text that are worth citing, collected for the best sessions alone.

use rustc_hash::FxHashMap;

use crate::columns::{ChunkAt, Passages};
use crate::gather::{ChunkShares, Index};
use crate::rank;

/// How many chunks of a session are looked at for what is cited.
const CITABLE: usize = 8;

/// The places in the text of one session, best first, each with what made it so.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Those that are most worth citing.
    pub(crate) citable: Vec<(f32, ChunkAt)>,
    /// As many as were asked for besides the cited one.
    pub(crate) passages: Vec<(f32, ChunkAt)>,
}

/// The places in these sessions that answer by words.
pub(crate) fn places(
    index: &Index<'_>,
    shares: &ChunkShares,
    sessions: impl Iterator<Item = usize>,
    wanted: Passages,
) -> FxHashMap<usize, Places> {
    let mut all: FxHashMap<usize, Places> = sessions.map(|session| (session, Places::default())).collect();
    // Of chunks that are worth the same the one that was said first, in whichever order they are met.
    let order = |chunk: ChunkAt| index.columns[chunk.segment].order(chunk.document);
    for (chunk, share) in shares.answering() {
        let columns = &index.columns[chunk.segment];
        let record = || columns.record(chunk.document);
        index.sessions.holders(columns.file(chunk.document), record, |session| {
            let Some(places) = all.get_mut(&session) else { return };
            let worth = share * columns.kind(chunk.document).map_or(1.0, rank::worth_citing);
            let is_better = |known: &(f32, ChunkAt)| {
                worth > known.0 || (worth >= known.0 && order(chunk) < order(known.1))
            };
            keep_best(&mut places.citable, CITABLE, (worth, chunk), is_better);
            if wanted.most > 0 && share >= wanted.least_share {
                keep_best(&mut places.passages, wanted.most, (worth, chunk), is_better);
            }
        });
    }
    all
}

/// Puts a chunk among the best ones, which are at most so many.
fn keep_best(
    best: &mut Vec<(f32, ChunkAt)>,
    most: usize,
    new: (f32, ChunkAt),
    is_better: impl Fn(&(f32, ChunkAt)) -> bool,
) {
    let at = best.partition_point(|known| !is_better(known));
    if at < most {
        best.truncate(most - 1);
        best.insert(at, new);
    }
}
