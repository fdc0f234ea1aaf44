//! Collects what the index holds about a query: for each session its best chunk, how often it uses each word, and
//! what it did to the requested file.

use tantivy::DocId;

use crate::chunk_scores::{ChunkScore, ChunkScores, SegmentScoring};
use crate::columns::{ChunkAt, ChunkFilter};
use crate::features::{FeaturePostings, Features};
use crate::index::Index;
use crate::kind::ChunkKind;
use crate::paths::query_terms;
use crate::postings::{phrase, word};
use crate::rank::{self, FileFacts, STRONG};

/// What was found in one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionMatch {
    /// The best chunk's share of the most it could reach.
    pub(crate) best: Option<f32>,
    /// The largest share of the query's words that one of its chunks contains, by their rarity.
    pub(crate) coverage: f32,
    /// How many of its chunks hold most of the question's words.
    pub(crate) strong: u32,
    /// The session's own share of the most it could reach.
    pub(crate) whole: f32,
    pub(crate) facts: FileFacts,
    /// The chunk to cite for the file: the newest of the strongest facts.
    pub(crate) fact: Option<((u8, u64), ChunkAt)>,
}

impl SessionMatch {
    /// The session's score by words.
    pub(crate) fn by_words(&self) -> f32 {
        rank::by_words(self.best.unwrap_or(0.0), self.whole)
    }
}

/// What the index holds about a query.
pub(crate) struct Gathered {
    /// By session number.
    pub(crate) found: Vec<SessionMatch>,
    pub(crate) chunks: ChunkScores,
    /// The inverse document frequency of each word of the query, in the query's order.
    pub(crate) idfs: Vec<f32>,
}

/// The chunks that contain all phrases of a question, by segment and in order.
pub(crate) struct PhraseChunks(Vec<Vec<DocId>>);

impl PhraseChunks {
    /// Looks them up; `None` where the question has no phrase.
    pub(crate) fn find(index: &Index<'_>, phrases: &[Vec<String>]) -> tantivy::Result<Option<Self>> {
        if phrases.is_empty() {
            return Ok(None);
        }
        let mut all = Vec::new();
        for segment in index.text.segment_readers() {
            let mut holding: Option<Vec<DocId>> = None;
            for words in phrases {
                let mut these = Vec::new();
                phrase(segment, index.fields.text, words, |document| these.push(document))?;
                if let Some(before) = &holding {
                    these.retain(|document| before.binary_search(document).is_ok());
                }
                holding = Some(these);
            }
            all.push(holding.unwrap_or_default());
        }
        Ok(Some(Self(all)))
    }

    /// Whether no chunk contains them.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    fn contains(&self, ChunkAt { segment, document }: ChunkAt) -> bool {
        self.0[segment].binary_search(&document).is_ok()
    }
}

/// Collects what the index holds about a query, whose postings are `features`, and whose phrases are in `phrases`.
pub(crate) fn gather(
    index: &Index<'_>,
    phrases: Option<&PhraseChunks>,
    file: Option<&str>,
    admit: &(dyn ChunkFilter + Sync),
    features: &Features,
) -> tantivy::Result<Gathered> {
    let found = vec![SessionMatch::default(); index.sessions.len()];
    let mut gathering = Gathering { index, admit, found };
    let chunks = gathering.words(phrases, &features.0)?;
    if let Some(path) = file {
        gathering.file(path)?;
    }
    let words = features.0.iter().filter(|column| column.query.is_word());
    let idfs = words.map(|column| rank::idf(index.sessions.chunks(), column.having)).collect();
    Ok(Gathered { found: gathering.found, chunks, idfs })
}

struct Gathering<'a> {
    index: &'a Index<'a>,
    admit: &'a (dyn ChunkFilter + Sync),
    found: Vec<SessionMatch>,
}

impl Gathering<'_> {
    fn words(
        &mut self,
        phrases: Option<&PhraseChunks>,
        features: &[FeaturePostings],
    ) -> tantivy::Result<ChunkScores> {
        let chunks = self.score_chunks(features, phrases)?;
        self.score_sessions(features);
        if phrases.is_some() {
            // A quoted phrase is a demand: what does not hold it is no answer.
            for found in self.found.iter_mut().filter(|found| found.best.is_none()) {
                *found = SessionMatch::default();
            }
        }
        Ok(chunks)
    }

    fn score_chunks(
        &mut self,
        features: &[FeaturePostings],
        phrases: Option<&PhraseChunks>,
    ) -> tantivy::Result<ChunkScores> {
        if features.is_empty() {
            return Ok(ChunkScores::new(Vec::new()));
        }
        let chunks = self.index.sessions.chunks();
        let idfs: Vec<f32> = features.iter().map(|column| rank::idf(chunks, column.having)).collect();
        let words = || features.iter().zip(&idfs).filter(|(column, _)| column.query.is_word());
        let most = rank::most_for_chunk(words().map(|(_, idf)| *idf)).max(f32::MIN_POSITIVE);
        let all_words = words().map(|(_, idf)| *idf).sum::<f32>().max(f32::MIN_POSITIVE);
        let mean = self.mean_length()?;
        let mut all = Vec::with_capacity(self.index.columns.len());
        for at in 0..self.index.columns.len() {
            let segment = &self.index.text.segment_readers()[at];
            let lengths = segment.get_fieldnorms_reader(self.index.fields.text)?;
            let scoring = SegmentScoring { features, idfs: &idfs, all_words, lengths, mean, segment: at };
            let mut scores = Vec::new();
            scoring.each(|document, ChunkScore { share, coverage }| {
                let chunk = ChunkAt { segment: at, document };
                if phrases.is_none_or(|phrases| phrases.contains(chunk)) {
                    let score = ChunkScore { share: share / most, coverage };
                    self.offer(chunk, score);
                    scores.push((document, score));
                }
            });
            all.push(scores);
        }
        Ok(ChunkScores::new(all))
    }

    fn offer(&mut self, chunk: ChunkAt, score: ChunkScore) {
        let ChunkScore { share, coverage } = score;
        let columns = &self.index.columns[chunk.segment];
        let record = || columns.record(chunk.document);
        let is_place = columns.kind(chunk.document).is_none_or(ChunkKind::is_place);
        let found = &mut self.found;
        self.index.sessions.holders(columns.file(chunk.document), record, |session| {
            let found = &mut found[session];
            found.best = Some(found.best.map_or(share, |known| known.max(share)));
            found.coverage = found.coverage.max(coverage);
            found.strong += u32::from(share >= STRONG && is_place);
        });
    }

    fn score_sessions(&mut self, features: &[FeaturePostings]) {
        let all = self.index.sessions.speaking();
        let said = |column: &FeaturePostings, session: usize| {
            if self.index.sessions.is_admitted(session) { column.said[session] } else { 0 }
        };
        let having = |column: &FeaturePostings| {
            (0..column.said.len()).filter(|at| said(column, *at) > 0).count() as u64
        };
        let idfs: Vec<f32> = features.iter().map(|column| rank::idf(all, having(column))).collect();
        let words = features.iter().zip(&idfs).filter(|(column, _)| column.query.is_word());
        let most = rank::most_for_session(words.map(|(_, idf)| *idf)).max(f32::MIN_POSITIVE);
        for (session, found) in self.found.iter_mut().enumerate() {
            let length = self.index.sessions.relative_length(session);
            for (column, idf) in features.iter().zip(&idfs) {
                let said = said(column, session);
                if said > 0 {
                    found.whole += rank::of_session(column.query.feature(), *idf, said as f32, length) / most;
                }
            }
        }
    }

    fn mean_length(&self) -> tantivy::Result<f32> {
        let mut words = 0;
        for segment in self.index.text.segment_readers() {
            words += segment.inverted_index(self.index.fields.text)?.total_num_tokens();
        }
        Ok((words as f32 / self.index.sessions.chunks().max(1) as f32).max(1.0))
    }

    fn file(&mut self, path: &str) -> tantivy::Result<()> {
        let Some((ending, shorter)) = query_terms(path) else { return Ok(()) };
        for at in 0..self.index.columns.len() {
            let mut facts = Vec::new();
            word(&self.index.text.segment_readers()[at], self.index.fields.path, &ending, |document, _| {
                facts.push(document);
            })?;
            for document in facts {
                self.fact(ChunkAt { segment: at, document });
            }
            for (term, share) in
                std::iter::once((&ending, 1.0)).chain(shorter.iter().map(|(term, share)| (term, *share)))
            {
                let mut mentions = Vec::new();
                word(
                    &self.index.text.segment_readers()[at],
                    self.index.fields.mention,
                    term,
                    |document, _| {
                        mentions.push(document);
                    },
                )?;
                for document in mentions {
                    self.mention(ChunkAt { segment: at, document }, share);
                }
            }
        }
        Ok(())
    }

    fn fact(&mut self, chunk: ChunkAt) {
        let columns = &self.index.columns[chunk.segment];
        let Some(kind) = columns.kind(chunk.document) else { return };
        let time = columns.time(chunk.document);
        if !self.admit.chunk(kind, &|| time) {
            return;
        }
        let file = columns.file(chunk.document);
        let record = || columns.record(chunk.document);
        let found = &mut self.found;
        let order = |chunk: ChunkAt| self.index.columns[chunk.segment].order(chunk.document);
        self.index.sessions.holders(file, record, |session| {
            let found = &mut found[session];
            let strength = match kind {
                ChunkKind::Edit | ChunkKind::Write => {
                    found.facts.changes += 1;
                    4
                }
                ChunkKind::Backup => {
                    found.facts.backed_up = true;
                    3
                }
                ChunkKind::GitChange => {
                    found.facts.named_by_git = true;
                    2
                }
                _ => {
                    found.facts.read = true;
                    1
                }
            };
            let is_newer = |(known, at): ((u8, u64), ChunkAt)| {
                (strength, time) > known || ((strength, time) == known && order(chunk) > order(at))
            };
            if found.fact.is_none_or(is_newer) {
                found.fact = Some(((strength, time), chunk));
            }
        });
    }

    fn mention(&mut self, chunk: ChunkAt, share: f32) {
        let columns = &self.index.columns[chunk.segment];
        let file = columns.file(chunk.document);
        let record = || columns.record(chunk.document);
        let time = columns.time(chunk.document);
        let found = &mut self.found;
        let order = |chunk: ChunkAt| self.index.columns[chunk.segment].order(chunk.document);
        self.index.sessions.holders(file, record, |session| {
            let found = &mut found[session];
            found.facts.mentioned = found.facts.mentioned.max(share);
            let is_newer = |(known, at): ((u8, u64), ChunkAt)| {
                (0, time) > known || ((0, time) == known && order(chunk) > order(at))
            };
            if found.fact.is_none_or(is_newer) {
                found.fact = Some(((0, time), chunk));
            }
        });
    }
}
