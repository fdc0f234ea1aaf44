//! Rescores the best sessions: the texts nearest to the query are read again and embedded by the model that embedded
//! the query.

use rustc_hash::{FxHashMap, FxHashSet};
use system::error_chain;

use super::Searcher;
use crate::admitted::Admitted;
use crate::columns::{ChunkAt, RecordKey};
use crate::error::Error;
use crate::gather::SessionMatch;
use crate::meaning::{self, Nearness};
use crate::query_encoder::{EncodedQuery, QueryEncoder};
use crate::ranked::Ranked;
use crate::snippet::{PassageLocation, text_at};

/// How many records of a session are read again.
const RECORDS: usize = 3;

/// Rescores the best sessions of one query with the chosen model.
pub(crate) struct Rescoring<'a> {
    pub(crate) read: &'a mut EncodedQuery,
    pub(crate) chosen: &'a QueryEncoder,
    pub(crate) admitted: Option<&'a Admitted>,
    pub(crate) threads: usize,
}

impl Rescoring<'_> {
    /// Rescores the best sessions where that is requested; the others stay behind them.
    pub(crate) fn rescore(
        self,
        searcher: &Searcher,
        ranked: &mut [Ranked<'_>],
        score: &dyn Fn(&SessionMatch, Nearness) -> f32,
    ) -> Result<(), Error> {
        // With its vectors for all that was said, the model has looked at everything already.
        let is_done = self.read.kept.is_some();
        let Some((model, question)) = &self.read.model else { return Ok(()) };
        let many = self.chosen.deep.min(ranked.len());
        if is_done || many == 0 {
            return Ok(());
        }
        let (best, others) = ranked.split_at_mut(many);
        let texts = self.texts(searcher, best)?;
        let all: Vec<&str> = texts.iter().map(|(_, _, text)| text.as_str()).collect();
        let vectors = match model.embed(&all, self.threads, self.chosen.pause) {
            Ok(vectors) => vectors,
            Err(error) => {
                self.read.understood.fallback = Some(error_chain(&error));
                return Ok(());
            }
        };
        let mut nearest: FxHashMap<usize, (f32, RecordKey)> = FxHashMap::default();
        for ((session, place, _), vector) in texts.iter().zip(&vectors) {
            let cosine = vector.as_ref().map_or(0.0, |vector| vector.cosine(question));
            let known = nearest.entry(*session).or_insert((cosine, *place));
            if cosine > known.0 {
                *known = (cosine, *place);
            }
        }
        for one in best.iter_mut() {
            if let (Some(near), Some((cosine, place))) = (one.nearness, nearest.get(&one.session)) {
                let near = near.with_nearest(*cosine, *place);
                one.nearness = Some(near);
                one.score = score(one.found, near);
                one.plain_score = one.score;
            }
        }
        searcher.best_first(best);
        let least = best.last().map_or(1.0, |last| last.score);
        for other in others {
            other.score = other.score.min(least);
            other.plain_score = other.score;
        }
        self.read.understood.rescored = nearest.len();
        Ok(())
    }

    /// The texts nearest to the query so far, with their session and record.
    fn texts(
        &self,
        searcher: &Searcher,
        best: &[Ranked<'_>],
    ) -> Result<Vec<(usize, RecordKey, String)>, Error> {
        let Some(vectors) = &searcher.vectors else { return Ok(Vec::new()) };
        let wanted: FxHashSet<usize> = best.iter().map(|one| one.session).collect();
        let question = &self.read.vector;
        let (admitted, threads) = (self.admitted, self.threads);
        let near =
            meaning::nearest_of(vectors, question, &searcher.sessions, &wanted, admitted, RECORDS, threads)?;
        let places = near.values().flatten().copied().collect();
        let chunks = searcher.chunks_of(&places, threads);
        let mut texts = Vec::new();
        for (session, places) in near {
            for place in places {
                let Some(chunks) = chunks.get(&place) else { continue };
                let chunk = searcher.nearest_chunk(place, chunks, self.read.by_table.as_ref())?;
                if let Some(text) = chunk.map(|chunk| text_of(searcher, place, chunk)).transpose()?.flatten()
                {
                    texts.push((session, place, text));
                }
            }
        }
        Ok(texts)
    }
}

/// The text of a chunk of a record, where it can be read.
pub(super) fn text_of(
    searcher: &Searcher,
    place: RecordKey,
    chunk: ChunkAt,
) -> Result<Option<String>, Error> {
    let Some(file) = searcher.list.file(place.file)? else { return Ok(None) };
    Ok(text_at(&PassageLocation::of(&searcher.columns, chunk, &file, false)))
}
