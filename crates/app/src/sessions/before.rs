//! `before`: what a compaction took from before the model, as a list of decisions, files and commits with their places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{HistoryEvent, HistoryEventKind, compactions, each_history_event, is_bare_assent};

use crate::sessions::locate::{Files, locate, only_registered};
use crate::{Context, Error, Kind, Secrets};

/// The longest decision that is given whole, in characters.
const LONGEST: usize = 1000;

/// Which session, and which of its compactions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BeforeRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
    /// Only what this compaction took, counted from 1; without it, what all of them did.
    #[schemars(range(min = 1))]
    pub compaction: Option<usize>,
}

/// What is no longer before the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BeforeAnswer")]
pub struct Answer {
    /// The session.
    pub session_id: SessionId,
    /// Its compactions, in order; without any, nothing was taken away.
    pub compactions: Vec<CompactionInfo>,
    /// What the person asked for, answered and approved, in order.
    pub decisions: Vec<PastDecision>,
    /// The files that were changed, those changed last first.
    pub files: Vec<PastFile>,
    /// The commits that git reported, in order.
    pub commits: Vec<PastCommit>,
}

/// One compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompactionInfo {
    /// Where it is recorded, as `ID:LINE`.
    pub place: String,
    /// When it was.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// `manual` or `auto`, where that is recorded.
    pub trigger: Option<String>,
    /// Tokens of context before it.
    pub tokens_before: Option<u64>,
    /// Tokens of context after it.
    pub tokens_after: Option<u64>,
}

/// Something that the person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PastDecision {
    /// What sort of decision it was.
    pub kind: DecisionKind,
    /// What was decided; at most 1,000 characters.
    pub text: String,
    /// Where, as `ID:LINE`.
    pub place: String,
    /// When.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
}

/// The sorts of decision that a transcript records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// The person asked for it in their own words.
    Asked,
    /// The person answered a question.
    Answered,
    /// The person approved a plan.
    Approved,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PastFile {
    /// Its path.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// How often it was changed.
    pub changes: u64,
    /// Where it was changed last, as `ID:LINE`.
    pub place: String,
}

/// A commit that git reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PastCommit {
    /// The beginning of its hash.
    pub hash: String,
    /// Its subject.
    pub subject: String,
    /// Where it was reported, as `ID:LINE`.
    pub place: String,
    /// When.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
}

/// Says what compactions took from before the model.
pub fn before(context: &Context, request: &Request) -> Result<Answer, Error> {
    let located = locate(context, &request.session)?;
    let Files::Claude(file) = located.files else { return Err(only_registered(&located.id)) };
    let unreadable = |error: std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    };
    let all = compactions(&file).map_err(unreadable)?;
    let (from, to) = range(&all, request.compaction, &located.id)?;
    let mut taken = PastFindings::new(&located.id, context.secrets);
    if let Some(last) = all.last() {
        each_history_event(&file, |event| {
            let is_preserved = event.record.is_some_and(|record| last.preserved.contains(&record));
            if event.line > from && event.line < to && !is_preserved {
                taken.add(event);
            }
        })
        .map_err(unreadable)?;
    }
    let mut files: Vec<(u64, PathBuf, u64)> =
        taken.files.into_iter().map(|(path, (changes, line))| (line, path, changes)).collect();
    files.sort_by(|one, other| other.cmp(one));
    let place = |line: u64| format!("{}:{line}", located.id);
    Ok(Answer {
        compactions: all
            .into_iter()
            .map(|one| CompactionInfo {
                place: place(one.line),
                at: one.at,
                trigger: one.trigger,
                tokens_before: one.tokens_before,
                tokens_after: one.tokens_after,
            })
            .collect(),
        decisions: taken.decisions,
        files: files
            .into_iter()
            .map(|(line, path, changes)| PastFile { path, changes, place: place(line) })
            .collect(),
        commits: taken.commits,
        session_id: located.id,
    })
}

/// The lines between which things were taken away.
fn range(all: &[transcript::Compaction], wanted: Option<usize>, id: &SessionId) -> Result<(u64, u64), Error> {
    let Some(number) = wanted else { return Ok((0, all.last().map_or(0, |last| last.line))) };
    let missing = || {
        let message = format!("session {id} was compacted {} times; there is no number {number}", all.len());
        Error::new(Kind::NotFound, message)
    };
    let at = number.checked_sub(1).ok_or_else(missing)?;
    let to = all.get(at).ok_or_else(missing)?.line;
    Ok((at.checked_sub(1).map_or(0, |before| all[before].line), to))
}

/// What was found before the compaction so far.
struct PastFindings<'a> {
    id: &'a SessionId,
    secrets: Secrets,
    decisions: Vec<PastDecision>,
    files: BTreeMap<PathBuf, (u64, u64)>,
    commits: Vec<PastCommit>,
}

impl<'a> PastFindings<'a> {
    fn new(id: &'a SessionId, secrets: Secrets) -> Self {
        Self { id, secrets, decisions: Vec::new(), files: BTreeMap::new(), commits: Vec::new() }
    }

    fn add(&mut self, event: HistoryEvent) {
        let place = format!("{}:{}", self.id, event.line);
        match event.what {
            // "yes, continue" decides what was said before it, which is cited where it was said.
            HistoryEventKind::Prompt(text) if is_bare_assent(&text) => {}
            // A shell line asks the model for nothing.
            HistoryEventKind::Prompt(text) if text.starts_with("! ") => {}
            HistoryEventKind::Prompt(text) => self.decide(DecisionKind::Asked, &text, place, event.at),
            HistoryEventKind::Answered(text) => self.decide(DecisionKind::Answered, &text, place, event.at),
            HistoryEventKind::Approved(text) => self.decide(DecisionKind::Approved, &text, place, event.at),
            HistoryEventKind::Changed(path) => {
                let path = Path::new(&self.secrets.redacted(path.to_string_lossy())).to_owned();
                let known = self.files.entry(path).or_default();
                *known = (known.0 + 1, event.line);
            }
            HistoryEventKind::Commit { hash, subject } => {
                let subject = self.secrets.redacted(subject.into());
                self.commits.push(PastCommit { hash, subject, place, at: event.at });
            }
            HistoryEventKind::UnreportedCommit(_) | HistoryEventKind::Other => {}
        }
    }

    fn decide(&mut self, kind: DecisionKind, text: &str, place: String, at: Option<Timestamp>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let text = self.secrets.beginning(text, LONGEST);
        self.decisions.push(PastDecision { kind, text, place, at });
    }
}
