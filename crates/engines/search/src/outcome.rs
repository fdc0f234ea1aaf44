//! The scope of a search, and its results.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::Role;

use crate::columns::{ChunkFilter, Passages};
use crate::kind::ChunkKind;
use crate::query_encoder::EncoderReport;
use crate::rank::STRONG;
use crate::snippet::Snippet;
use crate::source::SourceKind;

/// Restricts which sessions and chunks may be found.
#[derive(Debug, Clone, Default)]
pub struct SearchScope {
    /// Only these of Claude's sessions.
    pub sessions: Option<HashSet<SessionId>>,
    /// Only these of Claude's sessions may be cited and named, also where others hold the same record.
    pub citable: Option<HashSet<SessionId>>,
    /// Only these of OpenClaw's conversations and notes, by their names in the index.
    pub conversations: Option<HashSet<SessionId>>,
    /// Only from these sources.
    pub sources: Option<HashSet<SourceKind>>,
    /// Claude sessions with the OpenClaw conversation each works for: it is left out where that conversation's
    /// own transcript is indexed.
    pub owned: Vec<(SessionId, SessionId)>,
    /// Never this one of Claude's sessions.
    pub left_out: HashSet<SessionId>,
    /// Only text of this role.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only records from then on.
    pub since: Option<Timestamp>,
    /// Only records before then.
    pub until: Option<Timestamp>,
    /// Sessions with a record from the first of these times on and before the second come before others that answer as well.
    pub favored: Option<(Timestamp, Timestamp)>,
    /// Whether snippets show secrets.
    pub shows_secrets: bool,
    /// How many of a session's best pieces of text are hits of their own; with 0, a session is one hit.
    pub passages: usize,
    /// How many further places with most of the question's words each hit names.
    pub places: usize,
    /// What is read of the transcripts for each hit.
    pub texts: HitTexts,
}

/// What is read of the transcripts for a hit. Each text is read and redacted again, which takes longer than finding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HitTexts {
    /// The cited text, and the last place that is about as good.
    #[default]
    Read,
    /// Nothing: a hit has the session, the file and the line alone.
    Omitted,
}

/// One session that answers a question, with the line that does so best.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedHit {
    /// The session; for notes, which belong to none, a name made up for the file.
    pub session: SessionId,
    /// Between 0 and 1; comparable within one answer.
    pub score: f32,
    /// The chance that it answers, from 0 to 1; a weak match has less than [`crate::LIKELY`].
    pub confidence: f32,
    /// The parts of the score.
    pub why: ScoreBreakdown,
    /// The source the session is from.
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
    /// The kind of the cited text.
    pub kind: ChunkKind,
    /// The time of the cited record.
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
    /// The last place in the session that is about as good as the cited one and was said after it.
    pub later: Option<Box<RankedHit>>,
    /// How many more of its texts hold most of the question's words.
    pub more: u32,
    /// The first of them, in the order in which they were said; as many as were asked for.
    pub places: Vec<RankedHit>,
}

/// The parts of a hit's score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreBreakdown {
    /// The best chunk's share of the most the question's words could give.
    pub best_chunk: f32,
    /// The session's own share of the most the query's words could reach.
    pub whole_session: f32,
    /// The cosine similarity of its nearest text, lower for short texts; `None` where meaning was not used.
    pub nearest: Option<f32>,
    /// The mean cosine similarity of all its texts; `None` where meaning was not used.
    pub all_said: Option<f32>,
    /// How related the excerpts that stand for it are, from 0 to 1; `None` where they were not looked at.
    pub excerpts: Option<f32>,
    /// Whether it changed the requested file.
    pub changed_file: bool,
}

/// How a query is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words and meaning together.
    #[default]
    Hybrid,
    /// By words alone.
    Lexical,
    /// By meaning alone.
    Semantic,
}

/// Whether the meaning of a question was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeaningStatus {
    /// Meaning was used.
    Ran,
    /// Only words were requested.
    #[default]
    NotAsked,
    /// The question is a path.
    Path,
    /// The built-in table does not cover the query's language.
    OtherLanguage,
    /// The index has no vectors, or the query has no words.
    Nothing,
}

/// The size of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSize {
    /// Pieces of text that are found by their words.
    pub chunks: u64,
    /// The number of indexed files.
    pub files: u64,
    /// Sessions they belong to.
    pub sessions: u64,
    /// The length of the texts that are indexed, in bytes.
    pub text_bytes: u64,
    /// The size of the index on disk, in bytes.
    pub disk_bytes: u64,
}

/// The results of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<RankedHit>,
    /// Sessions that answer at all.
    pub total: u64,
    /// Sessions that likely answer.
    pub likely: u64,
    /// Whether meaning was looked at, or why not.
    pub meaning: MeaningStatus,
    /// The report of the encoder; `None` where meaning was not used.
    pub understood: Option<EncoderReport>,
}

/// The indexed amount of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceCount {
    /// The source.
    pub source: SourceKind,
    /// The number of indexed files.
    pub files: u64,
    /// Pieces of text that can be found.
    pub chunks: u64,
    /// The length of the indexed text, in bytes.
    pub text_bytes: u64,
}

impl SearchScope {
    /// Whether it admits some chunks of a session and not others.
    pub(crate) fn chooses_chunks(&self) -> bool {
        self.role.is_some() || self.has_times()
    }

    /// How many of a session's best chunks to keep.
    pub(crate) fn wanted_passages(&self) -> Passages {
        let least_share = if self.places > 0 { STRONG } else { 0.0 };
        Passages { most: self.passages.max(self.places), least_share }
    }
}

impl ChunkFilter for SearchScope {
    fn chunk(&self, kind: ChunkKind, time: &dyn Fn() -> u64) -> bool {
        let second = |at: &Timestamp| u64::try_from(at.as_second()).unwrap_or(0);
        self.role.is_none_or(|role| kind.role() == role)
            && self.since.as_ref().is_none_or(|since| time() >= second(since))
            && self.until.as_ref().is_none_or(|until| (1..second(until)).contains(&time()))
    }

    fn has_times(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }
}
