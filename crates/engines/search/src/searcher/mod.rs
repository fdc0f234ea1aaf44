//! Answers queries from the index; never writes, and never waits for a writer.

mod citation;
mod copies;
mod rescore;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use embedding::{Vector, Vectors};
use jiff::Timestamp;
use model::SessionId;
use rustc_hash::FxHashMap;
use system::join;
use tantivy::{Index, ReloadPolicy, Searcher as Text};

use self::citation::Citation;
use self::rescore::Rescoring;

use crate::columns::{ChunkAt, Columns, RecordKey};
use crate::error::{Error, index_failed};
use crate::files::{FileList, FileRow};
use crate::gather::{self, SessionMatch, gather};
use crate::kept_sessions;
use crate::kind::ChunkKind;
use crate::meaning::{self, Admitted, Nearness};
use crate::misspelling::nearest;
use crate::model_vectors::models_folder;
use crate::outcome::{
    IndexSize, MeaningStatus, Mode, RankedHit, ScoreBreakdown, SearchResults, SearchScope, SourceCount,
};
use crate::query::Query;
use crate::query_encoder::{self, EncodedQuery, QueryEncoder};
use crate::rank::{self, CosineScale};
use crate::ranked::Ranked;
use crate::read_only_directory::ReadOnlyDirectory;
use crate::schema::{Fields, register};
use crate::sessions::Sessions;
use crate::snippet::{PassageLocation, texts_at};
use crate::source::SourceKind;
use crate::vectors;
use crate::writer::{list_file, text_folder};

/// The score up to which a session merely shares a stray word with the query.
const NOISE: f32 = 0.005;

/// The similarity up to which a session is unrelated in meaning.
const FAINT: f32 = 0.1;

/// The index, open for reading.
pub struct Searcher {
    pub(crate) folder: PathBuf,
    pub(crate) text: Text,
    pub(crate) fields: Fields,
    pub(crate) list: FileList,
    pub(crate) vectors: Option<Vectors>,
    pub(crate) sessions: Sessions,
    encoder: Option<QueryEncoder>,
    /// The version of the list of files when the index was opened.
    version: i64,
}

/// The context in which the hits of one query are built.
struct HitContext<'a> {
    /// The chunks of the records that are cited for what they mean.
    chunks: FxHashMap<RecordKey, Vec<ChunkAt>>,
    terms: HashSet<&'a str>,
    /// The question as the table embeds it.
    meaning: Option<&'a Vector>,
    shows_secrets: bool,
    /// Whether a later place is named beside the cited one.
    names_later: bool,
    columns: &'a [Columns],
    /// The sessions of Claude that may be cited and named; `None` for all.
    citable: Option<&'a HashSet<SessionId>>,
}

impl HitContext<'_> {
    fn may_cite(&self, file: &FileRow) -> bool {
        file.source != SourceKind::ClaudeSessions
            || self.citable.is_none()
            || file.session.as_ref().is_some_and(|session| self.may_name(session))
    }

    fn may_name(&self, session: &SessionId) -> bool {
        self.citable.is_none_or(|citable| citable.contains(session))
    }
}

impl Searcher {
    /// Opens the index; `None` when there is none yet.
    pub fn open(folder: &Path) -> Result<Option<Self>, Error> {
        let text = text_folder(folder);
        if !text.join("meta.json").exists() {
            return Ok(None);
        }
        let Some(list) = FileList::open_read_only(&list_file(folder))? else { return Ok(None) };
        let version = list.version()?;
        let fields = Fields::new();
        // A writer may remove a segment between the reading of the list of segments and their opening.
        let opened = catch_unwind(|| open_text(&text).or_else(|_| open_text(&text)));
        let opened = opened.map_err(|_| Error::Damaged { folder: text.clone() })?;
        let opened = opened.map_err(index_failed("open", &text))?;
        if opened.schema() != &fields.schema {
            return Ok(None);
        }
        let sessions = kept_sessions::sessions(folder, &list)?;
        // A writer may leave out the vectors of gone files between the two.
        let vectors = match vectors::open(folder, list.vectors()?) {
            Some(vectors) => Some(vectors),
            None => vectors::open(folder, list.vectors()?),
        };
        let encoder = None;
        Ok(Some(Self { folder: text, text: opened, fields, list, vectors, sessions, encoder, version }))
    }

    /// Whether this index would answer like one that was just updated with files of this fingerprint.
    pub fn is_fresh(&self, fingerprint: u64) -> Result<bool, Error> {
        Ok(self.list.version()? == self.version
            && self.list.fresh_at()? == Some(fingerprint)
            && vectors::are_there(self.vectors.as_ref(), self.list.vectors()?))
    }

    /// Questions are read by a model that a person chose.
    pub fn set_query_encoder(&mut self, encoder: Option<QueryEncoder>) {
        self.encoder = encoder;
    }

    /// The number of committed vectors of the built-in table.
    pub(crate) fn rows(&self) -> u64 {
        self.vectors.as_ref().map_or(0, Vectors::rows)
    }

    /// The sessions that answer `query` best; meaning is computed on `threads` threads.
    ///
    /// The text index checks no checksum while it is read, and panics where it is damaged: that is an error, too.
    pub fn search(
        &mut self,
        query: &Query,
        scope: &SearchScope,
        mode: Mode,
        threads: usize,
        limit: usize,
    ) -> Result<SearchResults, Error> {
        let folder = self.folder.clone();
        let answer = AssertUnwindSafe(|| self.answer(query, scope, mode, threads, limit));
        catch_unwind(answer).unwrap_or(Err(Error::Damaged { folder }))
    }

    fn answer(
        &mut self,
        query: &Query,
        scope: &SearchScope,
        mode: Mode,
        threads: usize,
        limit: usize,
    ) -> Result<SearchResults, Error> {
        self.admit(scope);
        let file = scope.file.as_deref().or(query.path.as_deref());
        let failed = || index_failed("search", &self.folder);
        let columns = Columns::open(&self.text).map_err(failed())?;
        let read = self.meaning(query, mode);
        // Where meaning cannot be asked, words answer, and the answer says so.
        let mode = if read.is_ok() { mode } else { Mode::Lexical };
        let Self { text, sessions, vectors, .. } = &*self;
        let near = |read: &EncodedQuery| {
            let vectors = read.kept.as_ref().or(vectors.as_ref())?;
            Some(nearness(vectors, text, sessions, &columns, &read.vector, scope, threads))
        };
        let index = gather::Index { text, fields: &self.fields, columns: &columns, sessions };
        let words = || {
            let features = gather::load_postings(&index, query, scope, threads)?;
            gather(&index, query, file, scope, &features)
        };
        let (found, nearness) = join(words, || read.as_ref().ok().and_then(near));
        let found = found.map_err(failed())?;
        let nearness = nearness.transpose()?.unwrap_or_default();
        let has_model = read.as_ref().is_ok_and(|read| read.kept.is_some());
        let sense = cosine_scale(has_model, &nearness, &found);
        let nearness = nearness.into_iter().chain(std::iter::repeat(None));
        let mut ranked: Vec<Ranked<'_>> = (0..)
            .zip(&found)
            .zip(nearness)
            .map(|((session, found), nearness)| Ranked {
                score: score(query, scope, mode, found, nearness, sense),
                session,
                found,
                nearness,
            })
            .filter(|ranked| ranked.score > NOISE)
            .collect();
        self.best_first(&mut ranked);
        let best = ranked.first().map_or(0.0, |ranked| ranked.score);
        if query.path.is_some() {
            ranked.retain(|ranked| rank::is_about_file(ranked.score, best));
        }
        let total = ranked.len() as u64;
        let mut read = read;
        if let (Ok(read), Some(chosen)) = (&mut read, &self.encoder) {
            let again = |found: &SessionMatch, near| score(query, scope, mode, found, Some(near), sense);
            let admitted = (chosen.deep > 0 && scope.chooses_chunks())
                .then(|| Admitted::new(&columns, &self.text, scope));
            let rescoring =
                Rescoring { read, chosen, columns: &columns, admitted: admitted.as_ref(), threads };
            rescoring.rescore(self, &mut ranked, &again)?;
        }
        ranked.truncate(limit);
        let cited_by_meaning = |ranked: &Ranked<'_>| {
            let nearness = ranked.nearness.filter(|near| rank::cites_meaning(ranked.found.best, near, sense));
            nearness.map(|nearness| nearness.place)
        };
        let places = ranked.iter().filter_map(cited_by_meaning).collect();
        let asked = HitContext {
            chunks: meaning::chunks_of(&columns, &self.text, &places),
            terms: query.terms.iter().map(String::as_str).collect(),
            meaning: read.as_ref().ok().and_then(|read| read.by_table.as_ref()),
            shows_secrets: scope.shows_secrets,
            names_later: scope.places == 0 && scope.passages == 0,
            columns: &columns,
            citable: scope.citable.as_ref(),
        };
        let hits = self.hits(&ranked, &asked, scope, limit)?;
        let (meaning, understood) = match read {
            Ok(read) => (MeaningStatus::Ran, Some(read.understood)),
            Err(why) => (why, None),
        };
        Ok(SearchResults { hits, total, meaning, understood })
    }

    /// The hits of the best sessions, with as many places in each as were asked for.
    fn hits(
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

    /// Puts those with the best scores first.
    pub(crate) fn best_first(&self, ranked: &mut [Ranked<'_>]) {
        ranked.sort_by(|one, other| {
            let id = |ranked: &Ranked<'_>| self.sessions.id(ranked.session);
            other.score.total_cmp(&one.score).then_with(|| id(one).cmp(id(other)))
        });
    }

    /// For each word of a query that is not indexed, the nearest word that is.
    pub fn nearest_words(&self, query: &Query) -> Result<Vec<String>, Error> {
        let near = |word: &String| nearest(&self.text, self.fields.text, word).transpose();
        let found: tantivy::Result<_> = query.terms.iter().filter_map(near).collect();
        found.map_err(index_failed("search", &self.folder))
    }

    /// Encodes the query, or says why meaning is not used.
    fn meaning(&self, query: &Query, mode: Mode) -> Result<EncodedQuery, MeaningStatus> {
        if mode == Mode::Lexical {
            return Err(MeaningStatus::NotAsked);
        }
        if query.path.is_some() {
            return Err(MeaningStatus::Path);
        }
        let chosen = self.encoder.as_ref();
        if chosen.is_none() && !meaning::is_understood(&query.text) {
            return Err(MeaningStatus::OtherLanguage);
        }
        if self.vectors.is_none() {
            return Err(MeaningStatus::Nothing);
        }
        let read = query_encoder::encode(&query.text, chosen, &self.list, &self.folder, self.rows());
        let is_known = meaning::is_understood(&query.text);
        read.ok_or(if is_known { MeaningStatus::Nothing } else { MeaningStatus::OtherLanguage })
    }

    fn admit(&mut self, scope: &SearchScope) {
        let chosen = [&scope.sessions, &scope.conversations];
        let is_whole = scope.sources.is_none() && scope.owned.is_empty() && scope.left_out.is_empty();
        if is_whole && chosen.iter().all(|set| set.is_none()) {
            return;
        }
        let hidden: HashSet<SessionId> = {
            let indexed: HashSet<&SessionId> = self.sessions.speaking_of(SourceKind::Sessions).collect();
            let owned = scope.owned.iter().filter(|(_, owner)| indexed.contains(owner));
            owned.map(|(session, _)| session.clone()).collect()
        };
        self.sessions.admit(|source, session| {
            let is_claude = source == SourceKind::ClaudeSessions;
            let wanted = if is_claude { &scope.sessions } else { &scope.conversations };
            scope.sources.as_ref().is_none_or(|sources| sources.contains(&source))
                && wanted.as_ref().is_none_or(|wanted| wanted.contains(session))
                && !(is_claude && (hidden.contains(session) || scope.left_out.contains(session)))
        });
    }

    /// The indexed amount by source of the sessions that `of` selects.
    pub fn counts(&self, of: impl Fn(SourceKind, &SessionId) -> bool) -> Result<Vec<SourceCount>, Error> {
        let rows = self.list.all()?;
        let picked = |row: &&FileRow| row.session.as_ref().is_some_and(|name| of(row.source, name));
        let picked: Vec<&FileRow> = rows.iter().filter(picked).collect();
        let count = |source: SourceKind| {
            let of_it = || picked.iter().filter(move |row| row.source == source);
            SourceCount {
                source,
                files: of_it().count() as u64,
                chunks: of_it().map(|row| row.chunks).sum(),
                text_bytes: of_it().map(|row| row.text).sum(),
            }
        };
        Ok(SourceKind::ALL.into_iter().map(count).collect())
    }

    /// Whether the indexed text can be found by meaning.
    pub fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// The size of the index.
    pub fn size(&self) -> IndexSize {
        let inside = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let index = self.folder.parent().unwrap_or(&self.folder);
        let models = inside(&models_folder(index)).flat_map(|model| inside(&model.path()));
        let all = inside(&self.folder).chain(inside(index)).chain(models);
        let files = all.filter_map(|entry| entry.metadata().ok());
        IndexSize {
            chunks: self.sessions.chunks(),
            files: self.sessions.files(),
            sessions: self.sessions.len() as u64,
            text_bytes: self.sessions.text(),
            disk_bytes: files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum(),
        }
    }

    fn hit(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Option<RankedHit>, Error> {
        let Some(chunk) = self.cited(ranked, asked)? else { return Ok(None) };
        let Some(hit) = self.hit_at(ranked, chunk, ranked.score, asked)? else { return Ok(None) };
        let later =
            later(ranked.found, chunk, asked).map(|chunk| self.hit_at(ranked, chunk, ranked.score, asked));
        let later = later.transpose()?.flatten().map(Box::new);
        Ok(Some(RankedHit { later, ..hit }))
    }

    /// Further hits in a session's text that contain the query's words; each is scored in proportion to the best one.
    fn passages(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Vec<RankedHit>, Error> {
        let Some((best, _)) = ranked.found.passages.first() else { return Ok(Vec::new()) };
        let cited = self.cited(ranked, asked)?;
        let mut hits = Vec::new();
        for (worth, chunk) in ranked.found.passages.iter().filter(|(_, chunk)| Some(*chunk) != cited) {
            hits.extend(self.hit_at(ranked, *chunk, ranked.score * worth / best, asked)?);
        }
        Ok(hits)
    }

    /// The chunk that is cited for a session.
    fn cited(&self, ranked: &Ranked<'_>, asked: &HitContext<'_>) -> Result<Option<ChunkAt>, Error> {
        let Ranked { found, nearness, .. } = *ranked;
        let asked_for_file = found.fact.filter(|_| found.facts.is_touched()).map(|(_, chunk)| chunk);
        let by_words = found.citable.first().map(|(_, chunk)| *chunk);
        let cited = match asked_for_file {
            Some(chunk) => Some(chunk),
            None => self.cited_for_meaning(nearness, asked)?.or(by_words),
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
    fn number(&self, chunk: ChunkAt, column: &str) -> Result<u64, Error> {
        let segment = self.text.segment_reader(u32::try_from(chunk.segment).unwrap_or(0));
        let column = segment.fast_fields().u64(column).map_err(index_failed("search", &self.folder))?;
        Ok(column.first(chunk.document).unwrap_or(0))
    }
}

/// The similarity of each session to the query.
fn nearness(
    vectors: &Vectors,
    text: &Text,
    sessions: &Sessions,
    columns: &[Columns],
    question: &Vector,
    scope: &SearchScope,
    threads: usize,
) -> Result<Vec<Option<Nearness>>, Error> {
    let admitted = scope.chooses_chunks().then(|| Admitted::new(columns, text, scope));
    meaning::nearness(vectors, question, sessions, admitted.as_ref(), threads)
}

/// How similarities become scores, by the model and by how many of the question's words one session holds.
fn cosine_scale(has_model: bool, nearness: &[Option<Nearness>], found: &[SessionMatch]) -> CosineScale {
    let scale =
        if has_model { CosineScale::from_mean(meaning::mean_of_all(nearness)) } else { CosineScale::TABLE };
    scale.weighted(found.iter().map(SessionMatch::by_words).fold(0.0, f32::max))
}

/// The last text of a session that is as good as the cited one and was said after it: what was found first may have been
/// refuted there.
fn later(found: &SessionMatch, cited: ChunkAt, asked: &HitContext<'_>) -> Option<ChunkAt> {
    let (best, _) = found.citable.first().filter(|_| asked.names_later)?;
    // Other pieces of the same record are at the same time, on the same line.
    let place = |chunk: ChunkAt| {
        let [time, line, ..] = asked.columns[chunk.segment].order(chunk.document);
        (time, line)
    };
    let as_good = found.citable.iter().filter(|(worth, _)| *worth >= rank::AS_GOOD * best);
    let last = as_good.map(|(_, chunk)| *chunk).max_by_key(|chunk| place(*chunk))?;
    (place(last) > place(cited)).then_some(last)
}

/// Places in the order in which they were said.
fn in_order(mut places: Vec<RankedHit>) -> Vec<RankedHit> {
    places.sort_by(|one, other| (one.at, &one.file, one.line).cmp(&(other.at, &other.file, other.line)));
    places
}

fn open_text(text: &Path) -> tantivy::Result<Text> {
    match reader_of(&Index::open_in_dir(text)?) {
        Err(tantivy::TantivyError::LockFailure(..)) => {
            reader_of(&Index::open(ReadOnlyDirectory::open(text)?)?)
        }
        other => other,
    }
}

fn reader_of(index: &Index) -> tantivy::Result<Text> {
    register(index);
    let reader =
        index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0).try_into()?;
    let reader: tantivy::IndexReader = reader;
    Ok(reader.searcher())
}

fn score(
    query: &Query,
    scope: &SearchScope,
    mode: Mode,
    found: &SessionMatch,
    nearness: Option<Nearness>,
    sense: CosineScale,
) -> f32 {
    if scope.file.is_some() && !found.facts.is_touched() {
        return 0.0;
    }
    if !query.phrases.is_empty() && found.best.is_none() {
        return 0.0;
    }
    let by_words = found.by_words();
    let for_file = query.path.is_some() || (scope.file.is_some() && query.terms.is_empty());
    if for_file && !(found.facts.is_empty() && by_words == 0.0) {
        return rank::by_file(&found.facts, by_words);
    }
    let by_meaning = nearness.map(|nearness| rank::by_meaning(&nearness, sense));
    match (mode, by_meaning) {
        (Mode::Semantic, by_meaning) => by_meaning.filter(|near| *near > FAINT).unwrap_or(0.0),
        (Mode::Hybrid, Some(near)) if by_words <= NOISE && near <= FAINT => 0.0,
        (Mode::Hybrid, Some(near)) => rank::fused(by_words, near, sense),
        (Mode::Hybrid, None) | (Mode::Lexical, _) => by_words,
    }
}
