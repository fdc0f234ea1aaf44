//! Answers questions from the index as it stands; never writes, never waits for a writer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use tantivy::{Index, ReloadPolicy, Searcher as Text};
use transcript::Role;

use crate::error::{Error, index_failed};
use crate::files::FileList;
use crate::gather::{Admit, ChunkAt, Found, gather};
use crate::kind::Kind;
use crate::query::Query;
use crate::rank;
use crate::schema::{Fields, register};
use crate::sessions::Sessions;
use crate::snippet::{At, Snippet, cite};
use crate::writer::{list_file, text_folder};

/// What reaches no more than this shares a stray word with the question.
const NOISE: f32 = 0.005;

/// Which sessions and chunks may be found.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Only these sessions.
    pub sessions: Option<HashSet<SessionId>>,
    /// Only what this role said or did.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only records from then on.
    pub since: Option<Timestamp>,
    /// Only records before then.
    pub until: Option<Timestamp>,
}

/// One session that answers a question, with the line that does so best.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: SessionId,
    /// Between 0 and 1; comparable within one answer.
    pub score: f32,
    /// What the score is made of.
    pub why: Why,
    /// The transcript that is cited.
    pub file: PathBuf,
    /// The cited line, from 1.
    pub line: u64,
    /// Where that line begins, in bytes.
    pub offset: u64,
    /// The cited record's id.
    pub uuid: Option<String>,
    /// What the cited text is.
    pub kind: Kind,
    /// When the cited record was made.
    pub at: Option<Timestamp>,
    /// Whether a sub-agent's transcript is cited.
    pub subagent: bool,
    /// The cited text around the match; absent when the transcript is gone.
    pub snippet: Option<Snippet>,
    /// Other sessions that hold the same record.
    pub also_in: Vec<SessionId>,
}

/// What a hit's score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Why {
    /// The best chunk's share of the most the question's words could give.
    pub best_chunk: f32,
    /// The same for all the session said.
    pub whole_session: f32,
    /// Whether it changed the file that was asked for.
    pub changed_file: bool,
}

/// All answers to a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Sessions that answer at all.
    pub total: u64,
}

/// The index, open for reading.
pub struct Searcher {
    folder: PathBuf,
    text: Text,
    fields: Fields,
    sessions: Sessions,
}

impl Searcher {
    /// Opens the index; `None` when there is none yet.
    pub fn open(folder: &Path) -> Result<Option<Self>, Error> {
        let text = text_folder(folder);
        if !text.join("meta.json").exists() {
            return Ok(None);
        }
        let Some(list) = FileList::open_read_only(&list_file(folder))? else { return Ok(None) };
        let fields = Fields::new();
        // A writer may remove a segment between the reading of the list of segments and their opening.
        let opened = open_text(&text).or_else(|_| open_text(&text)).map_err(index_failed("open", &text))?;
        if opened.schema() != &fields.schema {
            return Ok(None);
        }
        let sessions = Sessions::new(list.all()?, list.shared()?);
        Ok(Some(Self { folder: text, text: opened, fields, sessions }))
    }

    /// The sessions that answer `query` best.
    pub fn search(&mut self, query: &Query, scope: &Scope, limit: usize) -> Result<Outcome, Error> {
        if let Some(wanted) = &scope.sessions {
            self.sessions.admit(|session| wanted.contains(session));
        }
        let file = scope.file.as_deref().or(query.path.as_deref());
        let failed = || index_failed("search", &self.folder);
        let found = gather(&self.text, &self.fields, &self.sessions, query, file, scope).map_err(failed())?;
        let mut ranked: Vec<(f32, usize, &Found)> = Vec::new();
        for (session, found) in found.iter().enumerate() {
            let reached = score(query, scope, found);
            if reached > NOISE {
                ranked.push((reached, session, found));
            }
        }
        ranked.sort_by(|left, right| {
            right.0.total_cmp(&left.0).then_with(|| self.sessions.id(left.1).cmp(self.sessions.id(right.1)))
        });
        let total = ranked.len() as u64;
        let terms: HashSet<&str> = query.terms.iter().map(String::as_str).collect();
        let mut hits = Vec::new();
        for (score, session, found) in ranked.into_iter().take(limit) {
            hits.extend(self.hit(score, session, found, &terms).map_err(failed())?);
        }
        Ok(Outcome { hits, total })
    }

    /// How many chunks, files and sessions the index holds.
    pub fn size(&self) -> (u64, u64, u64) {
        (self.sessions.chunks(), self.sessions.files(), self.sessions.len() as u64)
    }

    fn hit(
        &self,
        score: f32,
        session: usize,
        found: &Found,
        terms: &HashSet<&str>,
    ) -> tantivy::Result<Option<Hit>> {
        let asked_for_file = found.fact.filter(|_| found.facts.is_touched()).map(|(_, chunk)| chunk);
        let cited =
            asked_for_file.or(found.cited.map(|(_, chunk)| chunk)).or(found.fact.map(|(_, chunk)| chunk));
        let Some(ChunkAt { segment, document }) = cited else { return Ok(None) };
        let columns = self.text.segment_reader(u32::try_from(segment).unwrap_or(0)).fast_fields();
        let number =
            |name: &str| Ok::<_, tantivy::TantivyError>(columns.u64(name)?.first(document).unwrap_or(0));
        let (owner, record) = (number("file")?, number("record")?);
        let Some(file) = self.sessions.file(owner) else { return Ok(None) };
        let at = At {
            path: &file.path,
            offset: number("offset")?,
            line: number("line")?,
            record,
            piece: number("piece")?,
            subagent: file.subagent,
        };
        let cited = cite(&at, terms);
        let time = i64::try_from(number("time")?).unwrap_or(0);
        Ok(Some(Hit {
            session: self.sessions.id(session).clone(),
            score,
            why: Why {
                best_chunk: found.best.unwrap_or(0.0),
                whole_session: found.whole,
                changed_file: found.facts.changes > 0 || found.facts.backed_up,
            },
            file: file.path.clone(),
            line: at.line,
            offset: at.offset,
            uuid: cited.uuid,
            kind: Kind::from_number(number("kind")?).unwrap_or(Kind::Answer),
            at: (time > 0).then(|| Timestamp::from_second(time).ok()).flatten(),
            subagent: file.subagent,
            snippet: cited.snippet,
            also_in: if record == 0 { Vec::new() } else { self.sessions.also_in(session, owner, record) },
        }))
    }
}

fn open_text(text: &Path) -> tantivy::Result<Text> {
    let index = Index::open_in_dir(text)?;
    register(&index);
    let reader =
        index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0).try_into()?;
    let reader: tantivy::IndexReader = reader;
    Ok(reader.searcher())
}

fn score(query: &Query, scope: &Scope, found: &Found) -> f32 {
    if scope.file.is_some() && !found.facts.is_touched() {
        return 0.0;
    }
    let by_words = rank::by_words(found.best.unwrap_or(0.0), found.whole);
    let for_file = query.path.is_some() || (scope.file.is_some() && query.terms.is_empty());
    if for_file && !(found.facts.is_empty() && by_words == 0.0) {
        return rank::by_file(&found.facts, by_words);
    }
    by_words
}

impl Admit for Scope {
    fn chunk(&self, kind: Kind, time: &dyn Fn() -> u64) -> bool {
        let second = |at: &Timestamp| u64::try_from(at.as_second()).unwrap_or(0);
        self.role.is_none_or(|role| kind.role() == role)
            && self.since.as_ref().is_none_or(|since| time() >= second(since))
            && self.until.as_ref().is_none_or(|until| (1..second(until)).contains(&time()))
    }
}
