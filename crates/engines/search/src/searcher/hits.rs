//! Builds hits: which place in a session is cited, and what is read again there.

use embedding::Vector;
use jiff::Timestamp;
use model::SessionId;

use super::Searcher;
use super::citation::Citation;
use super::hit_context::HitContext;
use crate::columns::{ChunkAt, RecordKey};
use crate::error::{Error, index_failed};
use crate::files::FileRow;
use crate::kind::ChunkKind;
use crate::meaning::Nearness;
use crate::outcome::{RankedHit, ScoreBreakdown, SearchScope};
use crate::places::Places;
use crate::rank;
use crate::ranked::Ranked;
use crate::snippet::{PassageLocation, texts_at};
use crate::vectors;

impl Searcher {
    /// The hits of the best sessions, with as many places in each as were asked for.
    pub(super) fn hits(
        &self,
        ranked: &[Ranked<'_>],
        asked: &HitContext<'_>,
        scope: &SearchScope,
        limit: usize,
    ) -> Result<Vec<RankedHit>, Error> {
        let mut hits = Vec::new();
        for ranked in ranked {
            let further = self.passages(ranked, asked)?;
            match self.hit(ranked, asked)? {
                Some(hit) if scope.places > 0 => hits.push(RankedHit { places: in_order(further), ..hit }),
                hit => hits.extend(hit.into_iter().chain(further)),
            }
        }
        if scope.passages > 0 {
            hits.sort_by(|one, other| other.score.total_cmp(&one.score));
            hits.truncate(limit);
        }
        Ok(hits)
    }

    fn hit(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Option<RankedHit>, Error> {
        let Some(chunk) = self.cited(ranked, asked)? else { return Ok(None) };
        let Some(hit) = self.hit_at(ranked, chunk, ranked.score, asked)? else { return Ok(None) };
        let later = later(asked.places_of(ranked.session), chunk, asked)
            .map(|chunk| self.hit_at(ranked, chunk, ranked.score, asked));
        let later = later.transpose()?.flatten().map(Box::new);
        Ok(Some(RankedHit { later, ..hit }))
    }

    /// Further hits in a session's text that contain the query's words; each is scored in proportion to the best one.
    fn passages(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Vec<RankedHit>, Error> {
        let passages = asked.places_of(ranked.session).map_or(&[][..], |places| &places.passages);
        let Some((best, _)) = passages.first() else { return Ok(Vec::new()) };
        let cited = self.cited(ranked, asked)?;
        let mut hits = Vec::new();
        for (worth, chunk) in passages.iter().filter(|(_, chunk)| Some(*chunk) != cited) {
            hits.extend(self.hit_at(ranked, *chunk, ranked.score * worth / best, asked)?);
        }
        Ok(hits)
    }

    /// The chunk that is cited for a session.
    fn cited(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Option<ChunkAt>, Error> {
        let Ranked { session, found, nearness, .. } = *ranked;
        let asked_for_file = found.fact.filter(|_| found.facts.is_touched()).map(|(_, chunk)| chunk);
        let by_words = asked.places_of(session).and_then(|places| places.citable.first());
        let cited = match asked_for_file {
            Some(chunk) => Some(chunk),
            None => self.cited_for_meaning(nearness, asked)?.or(by_words.map(|(_, chunk)| *chunk)),
        };
        Ok(cited.or(found.fact.map(|(_, chunk)| chunk)))
    }

    fn hit_at(
        &self,
        ranked: &Ranked<'_>,
        chunk: ChunkAt,
        score: f32,
        asked: &HitContext<'_>,
    ) -> Result<Option<RankedHit>, Error> {
        let Ranked { session, found, nearness, .. } = *ranked;
        let number = |name: &str| self.number(chunk, name);
        let (owner, record) = (number("file")?, number("record")?);
        let Some(Citation { file, offset, line, cited }) = self.citation(chunk, session, asked)? else {
            return Ok(None);
        };
        let time = i64::try_from(number("time")?).unwrap_or(0);
        Ok(Some(RankedHit {
            session: self.sessions.id(session).clone(),
            score,
            why: ScoreBreakdown {
                best_chunk: found.best.unwrap_or(0.0),
                whole_session: found.whole,
                nearest: nearness.map(|nearness| nearness.nearest),
                all_said: nearness.map(|nearness| nearness.mean()),
                changed_file: found.facts.changes > 0 || found.facts.backed_up,
            },
            file: file.path.clone(),
            line,
            offset,
            uuid: cited.uuid,
            kind: ChunkKind::from_number(number("kind")?).unwrap_or(ChunkKind::Answer),
            at: (time > 0).then(|| Timestamp::from_second(time).ok()).flatten(),
            subagent: file.subagent,
            source: self.sessions.source(session),
            gone: file.gone,
            snippet: cited.snippet,
            passage: cited.passage,
            lines: cited.lines,
            also_in: if record == 0 { Vec::new() } else { self.also_in(session, owner, record, asked) },
            more: found.strong.saturating_sub(1),
            later: None,
            places: Vec::new(),
        }))
    }

    /// The other sessions with the same record that may be named.
    fn also_in(&self, session: usize, file: u64, record: u64, asked: &HitContext<'_>) -> Vec<SessionId> {
        let mut others = self.sessions.also_in(session, file, record);
        others.retain(|id| asked.may_name(id));
        others
    }

    /// The chunk nearest in meaning, where it explains the hit better than words do.
    fn cited_for_meaning(
        &self,
        nearness: Option<Nearness>,
        asked: &HitContext<'_>,
    ) -> Result<Option<ChunkAt>, Error> {
        let Some(place) = nearness.map(|nearness| nearness.place) else { return Ok(None) };
        let Some(chunks) = asked.chunks.get(&place) else { return Ok(None) };
        self.nearest_chunk(place, chunks, asked.meaning)
    }

    /// The chunk of a record that the built-in table finds nearest to the query.
    pub(crate) fn nearest_chunk(
        &self,
        place: RecordKey,
        chunks: &[ChunkAt],
        question: Option<&Vector>,
    ) -> Result<Option<ChunkAt>, Error> {
        let (Some(question), [_, _, ..]) = (question, chunks) else { return Ok(chunks.first().copied()) };
        let Some(file) = self.list.file(place.file)? else { return Ok(None) };
        // Where the file is gone there is nothing to compare, and the first is as good as any.
        if file.gone {
            return Ok(chunks.first().copied());
        }
        let places: Result<Vec<PassageLocation<'_>>, Error> =
            chunks.iter().map(|chunk| self.place(*chunk, &file, false)).collect();
        let mut nearest: Option<(f32, ChunkAt)> = None;
        for (&chunk, text) in chunks.iter().zip(texts_at(&places?)) {
            let vector = text.and_then(|text| vectors::embedder().embed(&text));
            let cosine = vector.map_or(-1.0, |vector| vector.cosine(question));
            if nearest.is_none_or(|(known, _)| cosine > known) {
                nearest = Some((cosine, chunk));
            }
        }
        Ok(nearest.map(|(_, chunk)| chunk))
    }

    /// The location of a chunk of that file.
    pub(crate) fn place<'a>(
        &self,
        chunk: ChunkAt,
        file: &'a FileRow,
        shows_secrets: bool,
    ) -> Result<PassageLocation<'a>, Error> {
        Ok(PassageLocation {
            path: &file.path,
            offset: self.number(chunk, "offset")?,
            line: self.number(chunk, "line")?,
            record: self.number(chunk, "record")?,
            piece: self.number(chunk, "piece")?,
            subagent: file.subagent,
            source: file.source,
            shows_secrets,
        })
    }

    /// The value of a column for a chunk.
    pub(super) fn number(&self, chunk: ChunkAt, column: &str) -> Result<u64, Error> {
        let segment = self.text.segment_reader(u32::try_from(chunk.segment).unwrap_or(0));
        let column = segment.fast_fields().u64(column).map_err(index_failed("search", &self.folder))?;
        Ok(column.first(chunk.document).unwrap_or(0))
    }
}

/// The last text of a session that is as good as the cited one and was said after it: what was found first may have been
/// refuted there.
fn later(places: Option<&Places>, cited: ChunkAt, asked: &HitContext<'_>) -> Option<ChunkAt> {
    let citable = &places.filter(|_| asked.names_later)?.citable;
    let (best, _) = citable.first()?;
    // Other pieces of the same record are at the same time, on the same line.
    let place = |chunk: ChunkAt| {
        let [time, line, ..] = asked.columns[chunk.segment].order(chunk.document);
        (time, line)
    };
    let as_good = citable.iter().filter(|(worth, _)| *worth >= rank::AS_GOOD * best);
    let last = as_good.map(|(_, chunk)| *chunk).max_by_key(|chunk| place(*chunk))?;
    (place(last) > place(cited)).then_some(last)
}

/// Places in the order in which they were said.
fn in_order(mut places: Vec<RankedHit>) -> Vec<RankedHit> {
    places.sort_by(|one, other| (one.at, &one.file, one.line).cmp(&(other.at, &other.file, other.line)));
    places
}
