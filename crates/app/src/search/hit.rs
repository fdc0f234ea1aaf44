//! A hit of `search`: a session, the line that answers best, and why.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use search::{ChunkKind, LIKELY, RankedHit, ScoreBreakdown, Snippet};
use serde::Serialize;
use transcript::agent_of;

use crate::search::found::Answered;
use crate::search::{Role, SourceKind};
use crate::sessions::origin_name::OriginName;

/// A session that answers, with the line that does so best.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchHit")]
pub struct Hit {
    /// Its place among the hits, from 1.
    pub rank: usize,
    /// The session; `null` for notes, which belong to none.
    pub session_id: Option<SessionId>,
    /// Where the cited text is from.
    pub source: SourceKind,
    /// Whether the cited file no longer exists.
    pub file_missing: bool,
    /// How well it answers, from 0 to 1; comparable within one answer only. 1 where filters alone were asked for.
    pub score: f32,
    /// The chance that it answers, from 0 to 1, by labelled questions. Never higher than that of a better hit.
    pub confidence: f32,
    /// Whether it is a weak match: its confidence is below 0.5.
    pub weak: bool,
    /// The session's title.
    pub title: Option<Arc<str>>,
    /// What people call its repository.
    pub project: Option<Arc<str>>,
    /// The directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub cwd: Option<Arc<Path>>,
    /// The branch last seen.
    pub branch: Option<Arc<str>>,
    /// Who started the session: a person or an agent.
    pub origin: Option<OriginName>,
    /// When something last happened in it.
    #[serde(serialize_with = "model::optional_time")]
    pub last_modified: Option<Timestamp>,
    /// By when its transcript was deleted; absent where it is not, or where nobody noticed when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The cited file, which may be that of another session with the same record.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// The cited line, from 1.
    pub line: u64,
    /// Where that line begins, in bytes.
    pub offset: u64,
    /// The id of the cited record.
    pub uuid: Option<String>,
    /// What the cited text is.
    pub kind: ChunkKind,
    /// Who said or did it.
    pub role: Role,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// Whether a sub-agent said it.
    pub subagent: bool,
    /// The sub-agent whose transcript is cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The cited text on one line, cut around the matching words; `null` if the file is gone.
    pub snippet: Option<String>,
    /// The ranges of the matching words in the snippet, in bytes.
    pub marks: Vec<(usize, usize)>,
    /// The person's own note and tags of the session, where it comes first for them, whatever is cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotated: Option<String>,
    /// Other sessions that contain the same record, because they were forked or copied.
    pub also_in: Vec<SessionId>,
    /// The last place in the session that is about as good and was said after the cited one: what was found may have been
    /// corrected there. Absent where the cited one is the last, or all places were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<FurtherPlace>,
    /// How many more of its texts hold most of the question's words.
    pub more: u32,
    /// The first of them, in the order in which they were said, where all were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<FurtherPlace>,
    /// The parts of the score.
    pub why: HitScore,
}

/// A further place in a session that answers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchPlace")]
pub struct FurtherPlace {
    /// The cited file.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// The cited line, from 1.
    pub line: u64,
    /// Where that line begins, in bytes.
    pub offset: u64,
    /// The id of the cited record.
    pub uuid: Option<String>,
    /// What the cited text is.
    pub kind: ChunkKind,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// Whether a sub-agent said it.
    pub subagent: bool,
    /// The sub-agent whose transcript is cited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    /// The cited text on one line, cut around the matching words; `null` if the file is gone.
    pub snippet: Option<String>,
    /// The ranges of the matching words in the snippet, in bytes.
    pub marks: Vec<(usize, usize)>,
}

/// The parts of a score.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchScore")]
pub struct HitScore {
    /// The best text's share of the most that the question's words could give.
    pub best_chunk: f32,
    /// The whole session's share of the same.
    pub whole_session: f32,
    /// The cosine similarity of the closest text, reduced for short texts; `null` if meaning was not used.
    pub best_similarity: Option<f32>,
    /// The mean cosine similarity of all texts; `null` if meaning was not used.
    pub mean_similarity: Option<f32>,
    /// How related the excerpts that stand for the session are, from 0 to 1; `null` if they were not looked at.
    pub excerpts: Option<f32>,
    /// Whether it changed the file that was asked for.
    pub changed_file: bool,
}

impl Hit {
    /// The results, as an interface returns them.
    pub(crate) fn new(rank: usize, found: Answered) -> Self {
        let Answered { hit, session, ghost, annotated } = found;
        let session = session.as_ref().or(ghost.as_ref());
        let (snippet, marks) = parts(hit.snippet);
        let subagent_id = hit.subagent.then(|| agent_of(&hit.file)).flatten().map(str::to_owned);
        Self {
            rank,
            session_id: (hit.source != SourceKind::Memory).then_some(hit.session),
            source: hit.source,
            file_missing: hit.gone,
            score: hit.score,
            confidence: hit.confidence,
            weak: hit.confidence < LIKELY,
            title: session.and_then(|session| session.title.clone()),
            project: session.and_then(|session| session.project.clone()),
            cwd: session.and_then(|session| session.cwd.clone()),
            branch: session.and_then(|session| session.branch.clone()),
            origin: session.map(|session| OriginName::from(&session.origin)),
            last_modified: session.and_then(|session| session.last_modified),
            deleted_at: session.and_then(|session| session.deleted_at),
            file: hit.file,
            line: hit.line,
            offset: hit.offset,
            uuid: hit.uuid,
            kind: hit.kind,
            role: hit.kind.role(),
            at: hit.at,
            subagent: hit.subagent,
            subagent_id,
            snippet,
            marks,
            annotated,
            also_in: hit.also_in,
            later: hit.later.map(|later| FurtherPlace::from(*later)),
            more: hit.more,
            places: hit.places.into_iter().map(FurtherPlace::from).collect(),
            why: HitScore::from(hit.why),
        }
    }
}

impl From<RankedHit> for FurtherPlace {
    fn from(hit: RankedHit) -> Self {
        let (snippet, marks) = parts(hit.snippet);
        let subagent_id = hit.subagent.then(|| agent_of(&hit.file)).flatten().map(str::to_owned);
        Self {
            file: hit.file,
            line: hit.line,
            offset: hit.offset,
            uuid: hit.uuid,
            kind: hit.kind,
            at: hit.at,
            subagent: hit.subagent,
            subagent_id,
            snippet,
            marks,
        }
    }
}

/// The text of a snippet, and the ranges of the matching words in it.
fn parts(snippet: Option<Snippet>) -> (Option<String>, Vec<(usize, usize)>) {
    snippet.map_or((None, Vec::new()), |snippet| (Some(snippet.text), snippet.marks))
}

impl From<ScoreBreakdown> for HitScore {
    fn from(score: ScoreBreakdown) -> Self {
        Self {
            best_chunk: score.best_chunk,
            whole_session: score.whole_session,
            best_similarity: score.nearest,
            mean_similarity: score.all_said,
            excerpts: score.excerpts,
            changed_file: score.changed_file,
        }
    }
}
