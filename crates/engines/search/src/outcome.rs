//! What a question is answered with, and what is found: which sessions may answer, the hits, and how they came about.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use model::SessionId;
use transcript::Role;

use crate::columns::ChunkFilter;
use crate::kind::ChunkKind;
use crate::query_encoder::EncoderReport;
use crate::snippet::Snippet;
use crate::source::SourceKind;

/// Which sessions and chunks may be found.
#[derive(Debug, Clone, Default)]
pub struct SearchScope {
    /// Only these of Claude's sessions.
    pub sessions: Option<HashSet<SessionId>>,
    /// Only these of OpenClaw's conversations and notes, by their names in the index.
    pub conversations: Option<HashSet<SessionId>>,
    /// Only from these sources.
    pub sources: Option<HashSet<SourceKind>>,
    /// Claude sessions with the OpenClaw conversation each works for: it is left out where that conversation's
    /// own transcript is indexed.
    pub owned: Vec<(SessionId, SessionId)>,
    /// Only what this role said or did.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only records from then on.
    pub since: Option<Timestamp>,
    /// Only records before then.
    pub until: Option<Timestamp>,
    /// Snippets show secrets as they were said.
    pub shows_secrets: bool,
    /// So many of a session's best pieces of text are hits of their own; where it is 0, a session is one hit.
    pub passages: usize,
}

/// One session that answers a question, with the line that does so best.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session; for notes, which belong to none, a name made up for the file.
    pub session: SessionId,
    /// Between 0 and 1; comparable within one answer.
    pub score: f32,
    /// What the score is made of.
    pub why: ScoreBreakdown,
    /// Where it was said.
    pub source: SourceKind,
    /// The file has vanished.
    pub gone: bool,
    /// The transcript that is cited.
    pub file: PathBuf,
    /// The cited line, from 1.
    pub line: u64,
    /// Where that line begins, in bytes.
    pub offset: u64,
    /// The cited record's id.
    pub uuid: Option<String>,
    /// What the cited text is.
    pub kind: ChunkKind,
    /// When the cited record was made.
    pub at: Option<Timestamp>,
    /// Whether a sub-agent's transcript is cited.
    pub subagent: bool,
    /// The cited text around the match; absent when the transcript is gone.
    pub snippet: Option<Snippet>,
    /// The whole piece of text that is cited.
    pub passage: Option<String>,
    /// Its first and last line in the file.
    pub lines: Option<(u64, u64)>,
    /// Other sessions that hold the same record.
    pub also_in: Vec<SessionId>,
}

/// What a hit's score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreBreakdown {
    /// The best chunk's share of the most the question's words could give.
    pub best_chunk: f32,
    /// The same for all the session said.
    pub whole_session: f32,
    /// How near in meaning the nearest of what it said is: a cosine, less for few words; absent where meaning was not asked.
    pub nearest: Option<f32>,
    /// The mean of the cosines of all it said; absent where meaning was not asked.
    pub all_said: Option<f32>,
    /// Whether it changed the file that was asked for.
    pub changed_file: bool,
}

/// What a question is answered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and meaning together.
    #[default]
    Hybrid,
    /// Words alone.
    Lexical,
    /// Meaning alone.
    Semantic,
}

/// Whether the meaning of a question was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeaningStatus {
    /// It was.
    Ran,
    /// Only words were asked for.
    #[default]
    NotAsked,
    /// The question is a path.
    Path,
    /// The table in the binary does not know its language.
    OtherLanguage,
    /// The index holds no vectors, or the question has no words.
    Nothing,
}

/// How much an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSize {
    /// Pieces of text that are found by their words.
    pub chunks: u64,
    /// Files read.
    pub files: u64,
    /// Sessions they belong to.
    pub sessions: u64,
    /// The length of the texts that are indexed, in bytes.
    pub text_bytes: u64,
    /// What the index itself takes, in bytes.
    pub disk_bytes: u64,
}

/// All answers to a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Sessions that answer at all.
    pub total: u64,
    /// Whether meaning was looked at, or why not.
    pub meaning: MeaningStatus,
    /// Who looked at it; absent where nobody did.
    pub understood: Option<EncoderReport>,
}

/// How much is indexed of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceCount {
    /// Which.
    pub source: SourceKind,
    /// Files.
    pub files: u64,
    /// Pieces of text that can be found.
    pub chunks: u64,
}

impl SearchScope {
    /// Whether it lets some chunks of a session through and others not.
    pub(crate) fn chooses_chunks(&self) -> bool {
        self.role.is_some() || self.since.is_some() || self.until.is_some()
    }
}

impl ChunkFilter for SearchScope {
    fn passages(&self) -> usize {
        self.passages
    }

    fn chunk(&self, kind: ChunkKind, time: &dyn Fn() -> u64) -> bool {
        let second = |at: &Timestamp| u64::try_from(at.as_second()).unwrap_or(0);
        self.role.is_none_or(|role| kind.role() == role)
            && self.since.as_ref().is_none_or(|since| time() >= second(since))
            && self.until.as_ref().is_none_or(|until| (1..second(until)).contains(&time()))
    }
}
