//! Answers queries from the index; never writes, and never waits for a writer.

mod by_excerpts;
mod citation;
mod copies;
mod favored;
mod hit_context;
mod hits;
mod holders;
mod known_words;
mod newest;
mod rescore;

use std::collections::HashSet;
use std::fmt;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use embedding::{SentenceModel, Vectors};
use model::SessionId;
use system::join;
use tantivy::{Index as TextIndex, ReloadPolicy, Searcher as Text};

use self::by_excerpts::ByExcerpts;
use self::holders::Holders;
use self::rescore::Rescoring;
use crate::admitted::Admitted;
use crate::columns::Columns;
use crate::confidence::{self, LIKELY, Match};
use crate::error::{Error, index_failed};
use crate::excerpts;
use crate::features::{Features, load_postings};
use crate::file_runs::FileRuns;
use crate::files::{FileList, FileRow, list_file};
use crate::gather::{Gathered, PhraseChunks, SessionMatch, gather};
use crate::index::Index;
use crate::kept_sessions;
use crate::language::is_english;
use crate::meaning::{self, Nearness, Similarities};
use crate::model_vectors::models_folder;
use crate::outcome::{IndexSize, MeaningStatus, Mode, SearchResults, SearchScope, SourceCount};
use crate::query::Query;
use crate::query_encoder::{self, EncodedQuery, QueryEncoder};
use crate::rank::{self, CosineScale};
use crate::ranked::Ranked;
use crate::read_only_directory::ReadOnlyDirectory;
use crate::schema::{Fields, register};
use crate::segment_runs;
use crate::sessions::Sessions;
use crate::source::SourceKind;
use crate::vectors;
use crate::writer::text_folder;

/// The score up to which a session merely shares a stray word with the query.
const NOISE: f32 = 0.005;

/// The similarity up to which a session is unrelated in meaning.
const FAINT: f32 = 0.1;

/// The index, open for reading.
pub struct Searcher {
    pub(crate) folder: PathBuf,
    runs_folder: PathBuf,
    pub(crate) text: Text,
    pub(crate) fields: Fields,
    pub(crate) columns: Vec<Columns>,
    pub(crate) list: FileList,
    pub(crate) vectors: Option<Vectors>,
    pub(crate) sessions: Sessions,
    encoder: Option<QueryEncoder>,
    /// The model that embeds excerpts.
    excerpt_model: Option<SentenceModel>,
    /// The list of files that vectors of models are of.
    list_identity: u64,
    /// Those of the last question that could be answered by any piece of text.
    features: Features,
    /// Found when they are first needed.
    runs: OnceLock<FileRuns>,
    /// The version of the list of files when the index was opened.
    version: i64,
    /// The sessions of which every transcript is gone.
    vanished: HashSet<SessionId>,
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A query, and how it is answered.
struct Asked<'a> {
    query: &'a Query,
    scope: &'a SearchScope,
    mode: Mode,
    threads: usize,
    /// Whether whoever says what texts mean knows the question's language. Where it does not, what has the question's words
    /// comes first.
    is_understood: bool,
}

impl Asked<'_> {
    /// Whether a file is asked for, rather than words.
    fn asks_for_file(&self) -> bool {
        self.query.path.is_some() || (self.scope.file.is_some() && self.query.terms.is_empty())
    }
}

/// What words and meaning say of every session.
struct Evidence {
    gathered: Gathered,
    /// Empty where meaning was not asked.
    near: Similarities,
    excerpts: Option<ByExcerpts>,
    scale: CosineScale,
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
        let list_identity = list.identity()?;
        let fields = Fields::new();
        // A writer may remove a segment between the reading of the list of segments and their opening.
        let index = opened(&text, || open_text(&text).or_else(|_| open_text(&text)))?;
        if index.schema() != &fields.schema {
            return Ok(None);
        }
        let columns = opened(&text, || Columns::open(&index))?;
        let sessions = kept_sessions::sessions(folder, &list)?;
        // A writer may leave out the vectors of gone files between the two.
        let vectors = match vectors::open(folder, list.vectors()?) {
            Some(vectors) => Some(vectors),
            None => vectors::open(folder, list.vectors()?),
        };
        let vanished = list.vanished()?.into_iter().map(|vanished| vanished.session).collect();
        Ok(Some(Self {
            folder: text,
            runs_folder: segment_runs::folder(folder),
            text: index,
            fields,
            columns,
            list,
            vectors,
            sessions,
            encoder: None,
            excerpt_model: None,
            list_identity,
            features: Features::default(),
            runs: OnceLock::new(),
            version,
            vanished,
        }))
    }

    /// Whether this index would answer like one that was just updated with files of this fingerprint.
    pub fn is_fresh(&self, fingerprint: u64) -> Result<bool, Error> {
        Ok(self.list.version()? == self.version
            && self.list.fresh_at()? == Some(fingerprint)
            && vectors::are_there(self.vectors.as_ref(), self.list.vectors()?))
    }

    /// Whether nobody has written the index since it was opened.
    pub fn is_unchanged(&self) -> bool {
        self.list.version().is_ok_and(|version| version == self.version)
    }

    /// Whether this is the index that another opened, which nobody has written since this one was opened.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_unchanged()
            && self.list.state().is_ok_and(|state| other.list.state().is_ok_and(|other| other == state))
    }

    /// Questions are read by a model that a person chose.
    pub fn set_query_encoder(&mut self, encoder: Option<QueryEncoder>) {
        self.encoder = encoder;
    }

    /// Excerpts of sessions are compared by this model, which embedded them.
    pub fn set_excerpt_model(&mut self, model: Option<SentenceModel>) {
        self.excerpt_model = model;
    }

    /// The number of committed vectors of the built-in table.
    pub(crate) fn rows(&self) -> u64 {
        self.vectors.as_ref().map_or(0, Vectors::rows)
    }

    /// The sessions that answer `query` best; meaning is computed on `threads` threads.
    pub fn search(
        &mut self,
        query: &Query,
        scope: &SearchScope,
        mode: Mode,
        threads: usize,
        limit: usize,
    ) -> Result<SearchResults, Error> {
        let folder = self.folder.clone();
        let asked = Asked { query, scope, mode, threads, is_understood: true };
        unless_damaged(folder, || self.answer(&asked, limit))
    }

    fn answer(&mut self, asked: &Asked<'_>, limit: usize) -> Result<SearchResults, Error> {
        if self.is_gibberish(asked.query)? {
            return Ok(SearchResults::default());
        }
        self.admit(asked.scope);
        if !self.sessions.admits_any() {
            return Ok(SearchResults::default());
        }
        let phrases = PhraseChunks::find(&self.index(), &asked.query.phrases);
        let phrases = phrases.map_err(index_failed("search", &self.folder))?;
        if phrases.as_ref().is_some_and(PhraseChunks::is_empty) {
            return Ok(SearchResults::default());
        }
        let mut read = self.meaning(asked.query, asked.mode)?;
        // Where meaning cannot be asked, words answer, and the answer says so.
        let mode = if read.is_ok() { asked.mode } else { Mode::Lexical };
        let is_understood = read.as_ref().is_ok_and(|read| read.is_understood);
        let asked = &Asked { mode, is_understood, ..*asked };
        let known = if asked.scope.chooses_chunks() { Features::default() } else { take(&mut self.features) };
        let (evidence, features) = self.evidence(asked, phrases.as_ref(), read.as_ref().ok(), known)?;
        let mut ranked = self.ranked(asked, &evidence);
        // While somebody types, what they look for is what holds all that is there.
        let holders =
            asked.query.beginning.as_ref().map(|beginning| self.holders_of_all(beginning, &features));
        let found = ranked.len();
        let total = holders.as_ref().filter(|_| found > 0).map_or(found, Holders::count) as u64;
        if let Ok(read) = &mut read {
            self.rescore(asked, read, &mut ranked, evidence.scale)?;
        }
        self.vanished_last(&mut ranked);
        self.judge(asked, &evidence.gathered.idfs, holders.as_ref(), &mut ranked);
        let likely = ranked.partition_point(|ranked| ranked.confidence >= LIKELY) as u64;
        ranked.truncate(limit);
        let question = read.as_ref().ok().and_then(|read| read.by_table.as_ref());
        let context = self.hit_context(asked, &evidence, &ranked, question);
        let context = context.map_err(index_failed("search", &self.folder))?;
        let hits = self.hits(&ranked, &context, asked.scope, limit)?;
        if !asked.scope.chooses_chunks() {
            self.features = features;
        }
        let (meaning, understood) = match read {
            Ok(read) if is_understood => (MeaningStatus::Ran, Some(read.understood)),
            Ok(_) => (MeaningStatus::OtherLanguage, None),
            Err(why) => (why, None),
        };
        Ok(SearchResults { hits, total, likely, meaning, understood })
    }

    /// What words and meaning say of every session, both looked up at once; and the postings of the words, of which some
    /// are `known`.
    fn evidence(
        &self,
        asked: &Asked<'_>,
        phrases: Option<&PhraseChunks>,
        read: Option<&EncodedQuery>,
        known: Features,
    ) -> Result<(Evidence, Features), Error> {
        let Asked { query, scope, threads, .. } = *asked;
        // The list of files is not shared between threads.
        let Self { text, columns, sessions, vectors, runs, runs_folder, .. } = self;
        let find_runs = || runs.get_or_init(|| FileRuns::find(columns, text, runs_folder, threads));
        let lookup = self.excerpt_lookup(asked);
        let near = |read: &EncodedQuery| {
            let vectors = read.kept.as_ref().or(vectors.as_ref())?;
            let admitted = scope.chooses_chunks().then(|| Admitted::new(columns, text, find_runs(), scope));
            let near = meaning::similarities(vectors, &read.vector, sessions, admitted.as_ref(), threads);
            let excerpts = || lookup.map(|lookup| lookup.look_up(asked, admitted.as_ref())).transpose();
            Some(near.and_then(|near| Ok((near, excerpts()?.flatten()))))
        };
        let index = self.index();
        let file = scope.file.as_deref().or(query.path.as_deref());
        let words = || {
            let features = load_postings(&index, query, scope, known, threads)?;
            let gathered = gather(&index, phrases, file, scope, &features)?;
            // What the hits need, while the other half is still being looked up.
            let _ = (!gathered.chunks.is_empty()).then(find_runs);
            Ok((gathered, features))
        };
        let (gathered, near) = join(words, || read.and_then(near));
        let (gathered, features) = gathered.map_err(index_failed("search", &self.folder))?;
        let (near, excerpts) = near.transpose()?.unwrap_or_default();
        let has_model = read.is_some_and(|read| read.kept.is_some());
        let scale = cosine_scale(has_model, &near.sessions, &gathered.found);
        Ok((Evidence { gathered, near, excerpts, scale }, features))
    }

    /// The sessions that answer, best first.
    fn ranked<'a>(&self, asked: &Asked<'_>, evidence: &'a Evidence) -> Vec<Ranked<'a>> {
        let weight = evidence.excerpt_weight(asked);
        let nearness = evidence.near.sessions.iter().copied().chain(std::iter::repeat(None));
        let all = || (0..).zip(&evidence.gathered.found).zip(nearness.clone());
        let of = |((session, found), nearness), plain_score| {
            let (score, by_excerpts) = evidence.with_excerpts(session, plain_score, weight);
            Ranked { score, plain_score, by_excerpts, confidence: 0.0, session, found, nearness }
        };
        let answering = all().map(|one| of(one, score(asked, one.0.1, one.1, evidence.scale)));
        let mut ranked: Vec<Ranked<'a>> = answering.filter(|ranked| ranked.score > NOISE).collect();
        if ranked.is_empty() && asked.mode == Mode::Hybrid && !asked.is_understood {
            // Whoever asks in another language than the table's is shown what it finds nearest, in doubt.
            let near = all().filter_map(|one| Some(of(one, NOISE * (1.0 + one.1?.nearest.max(0.0)))));
            ranked.extend(near);
        }
        if let Some(times) = asked.scope.favored {
            self.favor(times, &mut ranked);
        }
        self.best_first(&mut ranked);
        let best = ranked.first().map_or(0.0, |ranked| ranked.score);
        if asked.query.path.is_some() {
            ranked.retain(|ranked| rank::is_about_file(ranked.score, best));
        }
        ranked
    }

    /// Rescores the best sessions where a chosen model is to do that.
    fn rescore(
        &self,
        asked: &Asked<'_>,
        read: &mut EncodedQuery,
        ranked: &mut [Ranked<'_>],
        scale: CosineScale,
    ) -> Result<(), Error> {
        let Some(chosen) = &self.encoder else { return Ok(()) };
        let again = |found: &SessionMatch, near| score(asked, found, Some(near), scale);
        let admitted = (chosen.deep > 0 && asked.scope.chooses_chunks())
            .then(|| Admitted::new(&self.columns, &self.text, self.runs(asked.threads), asked.scope));
        let rescoring = Rescoring { read, chosen, admitted: admitted.as_ref(), threads: asked.threads };
        rescoring.rescore(self, ranked, &again)
    }

    /// Says how likely each of the best sessions answers. What is below an unlikely one is no likelier.
    fn judge(&self, asked: &Asked<'_>, idfs: &[f32], holders: Option<&Holders>, ranked: &mut [Ranked<'_>]) {
        let rare_words = confidence::rare_words(idfs.iter().copied(), self.sessions.chunks());
        for one in ranked.iter_mut() {
            let SessionMatch { coverage, facts, .. } = one.found;
            let is_file_known = facts.is_touched() || facts.mentioned >= 1.0;
            let found = Match { score: one.plain_score, coverage: *coverage, rare_words };
            let confidence = match asked.mode {
                _ if asked.asks_for_file() => f32::from(u8::from(is_file_known)),
                Mode::Semantic => found.by_meaning_alone(),
                Mode::Hybrid | Mode::Lexical => found.confidence(),
            };
            let holds_all = holders.is_some_and(|holders| holders.has(one.session));
            one.confidence = if holds_all { confidence.max(LIKELY) } else { confidence };
        }
        if holders.is_some() {
            ranked.sort_by_key(|one| (self.has_vanished(one.session), one.confidence < LIKELY));
        }
        let mut above: f32 = 1.0;
        for one in ranked {
            above = above.min(one.confidence);
            one.confidence = above;
        }
    }

    fn index(&self) -> Index<'_> {
        let Self { text, fields, columns, sessions, .. } = self;
        Index { text, fields, columns, sessions }
    }

    /// Puts those with the best scores first.
    pub(crate) fn best_first(&self, ranked: &mut [Ranked<'_>]) {
        ranked.sort_by(|one, other| {
            let id = |ranked: &Ranked<'_>| self.sessions.id(ranked.session);
            other.score.total_cmp(&one.score).then_with(|| id(one).cmp(id(other)))
        });
    }

    /// Puts the sessions that nobody can read any more behind the others.
    fn vanished_last(&self, ranked: &mut [Ranked<'_>]) {
        ranked.sort_by_key(|ranked| self.has_vanished(ranked.session));
    }

    /// Whether a session has words in the index, and no file that holds them.
    pub(crate) fn has_vanished(&self, session: usize) -> bool {
        self.sessions.source(session) == SourceKind::ClaudeSessions
            && self.vanished.contains(self.sessions.id(session))
    }

    /// Encodes the query, or says why meaning is not used.
    fn meaning(&self, query: &Query, mode: Mode) -> Result<Result<EncodedQuery, MeaningStatus>, Error> {
        if mode == Mode::Lexical {
            return Ok(Err(MeaningStatus::NotAsked));
        }
        if query.path.is_some() {
            return Ok(Err(MeaningStatus::Path));
        }
        if self.vectors.is_none() {
            return Ok(Err(MeaningStatus::Nothing));
        }
        let is_english = is_english(query.meant(), |word| self.is_known_word(word))?;
        let chosen = self.encoder.as_ref();
        let read =
            query_encoder::encode(query.meant(), is_english, chosen, &self.list, &self.folder, self.rows());
        Ok(read.ok_or(if is_english { MeaningStatus::Nothing } else { MeaningStatus::OtherLanguage }))
    }

    fn admit(&mut self, scope: &SearchScope) {
        let chosen = [&scope.sessions, &scope.conversations];
        let is_whole = scope.sources.is_none() && scope.owned.is_empty() && scope.left_out.is_empty();
        if is_whole && chosen.iter().all(|set| set.is_none()) {
            self.sessions.admit_all();
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
        let excerpts = inside(&excerpts::folder(index));
        let files = all.chain(excerpts).filter_map(|entry| entry.metadata().ok());
        IndexSize {
            chunks: self.sessions.chunks(),
            files: self.sessions.files(),
            sessions: self.sessions.len() as u64,
            text_bytes: self.sessions.text(),
            disk_bytes: files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum(),
        }
    }
}

/// How similarities become scores, by the model and by how many of the question's words one session holds.
fn cosine_scale(has_model: bool, nearness: &[Option<Nearness>], found: &[SessionMatch]) -> CosineScale {
    let scale =
        if has_model { CosineScale::from_mean(meaning::mean_of_all(nearness)) } else { CosineScale::TABLE };
    scale.weighted(found.iter().map(SessionMatch::by_words).fold(0.0, f32::max))
}

/// What is opened in the folder of the text index; to panic there is an error, too, as while it is searched.
fn opened<T>(folder: &Path, open: impl FnOnce() -> tantivy::Result<T>) -> Result<T, Error> {
    let opened = catch_unwind(AssertUnwindSafe(open));
    let opened = opened.map_err(|_| Error::Damaged { folder: folder.to_owned() })?;
    opened.map_err(index_failed("open", folder))
}

/// What is read of the index. It checks no checksum while it is read, and panics where it is damaged: that is an error,
/// too.
fn unless_damaged<T>(folder: PathBuf, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(Error::Damaged { folder }))
}

fn open_text(text: &Path) -> tantivy::Result<Text> {
    match reader_of(&TextIndex::open_in_dir(text)?) {
        Err(tantivy::TantivyError::LockFailure(..)) => {
            reader_of(&TextIndex::open(ReadOnlyDirectory::open(text)?)?)
        }
        other => other,
    }
}

fn reader_of(index: &TextIndex) -> tantivy::Result<Text> {
    register(index);
    let reader =
        index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0).try_into()?;
    let reader: tantivy::IndexReader = reader;
    Ok(reader.searcher())
}

/// A session's score, between 0 and 1.
fn score(asked: &Asked<'_>, found: &SessionMatch, nearness: Option<Nearness>, scale: CosineScale) -> f32 {
    let Asked { query, scope, mode, .. } = *asked;
    if scope.file.is_some() && !found.facts.is_touched() {
        return 0.0;
    }
    if !query.phrases.is_empty() && found.best.is_none() {
        return 0.0;
    }
    let by_words = found.by_words();
    if asked.asks_for_file() && !(found.facts.is_empty() && by_words == 0.0) {
        return rank::by_file(&found.facts, by_words);
    }
    let by_meaning = nearness.map(|nearness| rank::by_meaning(&nearness, scale));
    match (mode, by_meaning) {
        (Mode::Semantic, by_meaning) => by_meaning.filter(|near| *near > FAINT).unwrap_or(0.0),
        (Mode::Hybrid, Some(near)) if by_words <= NOISE && near <= FAINT => 0.0,
        // The nearest stand behind what has any of the words.
        (Mode::Hybrid, Some(near)) if !asked.is_understood => by_words.max(NOISE * (1.0 + near / 10.0)),
        (Mode::Hybrid, Some(near)) => rank::fused(by_words, near, scale),
        (Mode::Hybrid, None) | (Mode::Lexical, _) => by_words,
    }
}
