//! Builds hits: which place in a session is cited, and what is read again there.

use std::collections::HashSet;

use embedding::Vector;
use jiff::Timestamp;
use model::SessionId;

use super::Searcher;
use super::citation::Citation;
use super::hit_context::HitContext;
use crate::columns::{ChunkAt, RecordKey};
use crate::error::Error;
use crate::kind::ChunkKind;
use crate::outcome::{HitTexts, RankedHit, ScoreBreakdown, SearchScope};
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
        // The records that better hits cite.
        let mut records = HashSet::new();
        for ranked in ranked {
            let further = self.passages(ranked, asked)?;
            match self.hit(ranked, asked, &mut records)? {
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

    fn hit(
        &self,
        ranked: &Ranked<'_>,
        asked: &HitContext<'_>,
        records: &mut HashSet<u64>,
    ) -> Result<Option<RankedHit>, Error> {
        let Some(chunk) = self.cited(ranked, asked)? else { return Ok(None) };
        let chunk = self.own_of_fork(ranked, chunk, asked, records);
        let Some(hit) = self.hit_at(ranked, chunk, ranked.score, asked)? else { return Ok(None) };
        for chunk in self.later(asked.places_of(ranked.session), chunk, asked) {
            let further = self.hit_at(ranked, chunk, ranked.score, asked)?;
            if let Some(further) = further.filter(|further| !says_the_same(&hit, further)) {
                return Ok(Some(RankedHit { later: Some(Box::new(further)), ..hit }));
            }
        }
        Ok(Some(hit))
    }

    /// The texts of a session that are as good as the cited one and were said after it, the last first: what was found first
    /// may have been refuted there.
    fn later(&self, places: Option<&Places>, cited: ChunkAt, asked: &HitContext<'_>) -> Vec<ChunkAt> {
        let citable = places.filter(|_| asked.names_later()).map_or(&[][..], |places| &places.citable);
        let best = citable.first().map_or(0.0, |place| place.worth);
        // Other pieces of the same record are at the same time, on the same line.
        let place = |chunk: ChunkAt| {
            let [time, line, ..] = self.columns[chunk.segment].order(chunk.document);
            (time, line)
        };
        let as_good = citable.iter().filter(|place| place.worth >= rank::AS_GOOD * best);
        let mut later: Vec<ChunkAt> = as_good.map(|place| place.chunk).collect();
        later.retain(|chunk| place(*chunk) > place(cited));
        later.sort_by_key(|chunk| std::cmp::Reverse(place(*chunk)));
        later
    }

    /// What is cited of a fork whose best text is the original's, which is cited already: the best text that is in no
    /// other session, where that is about as good.
    fn own_of_fork(
        &self,
        ranked: &Ranked<'_>,
        cited: ChunkAt,
        asked: &HitContext<'_>,
        records: &mut HashSet<u64>,
    ) -> ChunkAt {
        let key = |chunk: ChunkAt| self.columns[chunk.segment].key(chunk.document);
        let RecordKey { record, .. } = key(cited);
        // Whoever asks for passages wants the best ones, whosever they are.
        if record == 0 || !asked.is_one_hit || records.insert(record) {
            return cited;
        }
        let citable = asked.places_of(ranked.session).map_or(&[][..], |places| &places.citable);
        let best = citable.first().map_or(0.0, |place| place.worth);
        for place in citable.iter().filter(|place| place.worth >= rank::AS_GOOD * best) {
            let RecordKey { file, record: own } = key(place.chunk);
            // What the fork shares with others would cite the same conversation twice.
            if own != 0 && self.sessions.also_in(ranked.session, file, own).is_empty() && records.insert(own)
            {
                return place.chunk;
            }
        }
        cited
    }

    /// Further hits in a session's text that contain the query's words; each is scored in proportion to the best one.
    fn passages(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Vec<RankedHit>, Error> {
        let passages = asked.places_of(ranked.session).map_or(&[][..], |places| &places.passages);
        let Some(best) = passages.first() else { return Ok(Vec::new()) };
        let cited = self.cited(ranked, asked)?;
        let mut hits = Vec::new();
        let further = passages.iter().filter(|place| Some(place.chunk) != cited);
        for place in further.take(asked.further) {
            let score = ranked.score * place.worth / best.worth;
            hits.extend(self.hit_at(ranked, place.chunk, score, asked)?);
        }
        Ok(hits)
    }

    /// The chunk that is cited for a session.
    fn cited(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Option<ChunkAt>, Error> {
        let fact = ranked.found.fact.map(|(_, chunk)| chunk);
        if fact.is_some() && ranked.found.facts.is_touched() {
            return Ok(fact);
        }
        match asked.places_of(ranked.session).and_then(|places| places.citable.first()) {
            Some(place) if place.has_words => Ok(Some(place.chunk)),
            Some(place) => self.nearest_piece(place.chunk, asked).map(Some),
            None => Ok(fact),
        }
    }

    fn hit_at(
        &self,
        ranked: &Ranked<'_>,
        chunk: ChunkAt,
        score: f32,
        asked: &HitContext<'_>,
    ) -> Result<Option<RankedHit>, Error> {
        let Ranked { session, found, nearness, by_excerpts, .. } = *ranked;
        let columns = &self.columns[chunk.segment];
        let RecordKey { file: owner, record } = columns.key(chunk.document);
        let Some(Citation { file, offset, line, cited }) = self.citation(chunk, session, asked)? else {
            return Ok(None);
        };
        let time = i64::try_from(columns.time(chunk.document)).unwrap_or(0);
        Ok(Some(RankedHit {
            session: self.sessions.id(session).clone(),
            score,
            confidence: ranked.confidence,
            why: ScoreBreakdown {
                best_chunk: found.best.unwrap_or(0.0),
                whole_session: found.whole,
                nearest: nearness.map(|nearness| nearness.nearest),
                all_said: nearness.map(|nearness| nearness.mean()),
                excerpts: by_excerpts,
                changed_file: found.facts.changes > 0 || found.facts.backed_up,
            },
            file: file.path.clone(),
            line,
            offset,
            uuid: cited.uuid,
            kind: columns.kind(chunk.document).unwrap_or(ChunkKind::Answer),
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

    /// Of the pieces of the record that a chunk without words of the query is of, the one nearest in meaning.
    fn nearest_piece(&self, chunk: ChunkAt, asked: &HitContext<'_>) -> Result<ChunkAt, Error> {
        let Some((_, record)) = self.columns[chunk.segment].meaning(chunk.document) else {
            return Ok(chunk);
        };
        // All pieces of a record are on its line.
        let pieces = asked.chunks.get(&record).filter(|_| asked.texts == HitTexts::Read);
        let Some(pieces) = pieces else { return Ok(chunk) };
        Ok(self.nearest_chunk(record, pieces, asked.meaning)?.unwrap_or(chunk))
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
        let places: Vec<PassageLocation<'_>> =
            chunks.iter().map(|chunk| PassageLocation::of(&self.columns, *chunk, &file, false)).collect();
        let mut nearest: Option<(f32, ChunkAt)> = None;
        for (&chunk, text) in chunks.iter().zip(texts_at(&places)) {
            let vector = text.and_then(|text| vectors::embedder().embed(&text));
            let cosine = vector.map_or(-1.0, |vector| vector.cosine(question));
            if nearest.is_none_or(|(known, _)| cosine > known) {
                nearest = Some((cosine, chunk));
            }
        }
        Ok(nearest.map(|(_, chunk)| chunk))
    }
}

/// Whether what is shown of one hit is part of the other's text, such as of a plan that is said again to be carried out.
/// One changed word is a correction.
fn says_the_same(one: &RankedHit, other: &RankedHit) -> bool {
    let shown = |hit: &RankedHit| hit.snippet.as_ref().map(|snippet| words_of(&snippet.text));
    let whole = |hit: &RankedHit| hit.passage.as_deref().map(words_of);
    let is_part = |part: Option<String>, whole: Option<String>| {
        part.zip(whole).is_some_and(|(part, whole)| whole.contains(part.as_str()))
    };
    is_part(shown(one), whole(other)) || is_part(shown(other), whole(one))
}

/// The words of a text in small letters, whatever is between them.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join(" ").to_lowercase();
    format!(" {joined} ")
}

/// Places in the order in which they were said.
fn in_order(mut places: Vec<RankedHit>) -> Vec<RankedHit> {
    places.sort_by(|one, other| (one.at, &one.file, one.line).cmp(&(other.at, &other.file, other.line)));
    places
}
