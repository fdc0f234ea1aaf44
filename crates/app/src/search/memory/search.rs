//! `memory search`: pieces of text that answer a question.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use model::{AgentId, SessionId};
use openclaw::Memory;
use schemars::JsonSchema;
use search::{Query, RankedHit};
use serde::Serialize;

use crate::context::FoundFiles;
use crate::search::chosen::project;
use crate::search::index::Refreshed;
use crate::search::index::share::pending_after;
pub use crate::search::memory::request::Request;
use crate::search::memory::scope::scope;
use crate::search::memory::score::calibrate;
use crate::search::memory::settings;
use crate::search::question::tagged;
use crate::search::{Mode, SourceKind, embed, index};
use crate::sessions::unread::unread;
use crate::{Context, Error, Kind};

/// What OpenClaw shows where nobody says how much.
const RESULTS: usize = 6;
/// What OpenClaw leaves out where nobody says what.
const SCORE: f64 = 0.35;
/// The longest snippet, in characters, the same as in OpenClaw.
const SNIPPET: usize = 700;

/// What was found, and what the index does not hold yet.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemorySearchAnswer")]
pub struct Answer {
    /// Pieces of text, best first; one file may have several.
    pub results: Vec<Remembered>,
    /// How many files are not indexed yet.
    pub pending_files: u64,
    /// Why the index could not be brought up to date.
    pub stale: Option<String>,
    /// What else there is to know if nothing was found, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A piece of text that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemoryResult")]
pub struct Remembered {
    /// The file as OpenClaw names it: notes as seen from the workspace, its conversations below `sessions`, Claude's
    /// sessions by their whole path.
    pub path: String,
    /// The first cited line, from 1.
    pub start_line: u64,
    /// The last cited line.
    pub end_line: u64,
    /// How well it answers, from 0 to 1; 0.35 separates good matches from matches by chance.
    pub score: f32,
    /// The beginning of the cited text; empty if the file is gone.
    pub snippet: String,
    /// Where it is from.
    pub source: SourceKind,
    /// The path of the file.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// The conversation; `null` for notes.
    pub session_id: Option<SessionId>,
    /// The agent it belongs to; `null` for Claude's sessions.
    pub agent_id: Option<AgentId>,
    /// Whether the file no longer exists.
    pub file_missing: bool,
}

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.min_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return Err(Error::new(Kind::Usage, "the minimum score must be between 0 and 1"));
    }
    let agent = context.agent(request.agent.as_ref())?;
    let request = &Request { agent, ..request.clone() };
    let mut opened = index::find(context);
    let files = opened.files.clone();
    let FoundFiles { transcripts: found, memory, .. } = &*files;
    let settings = settings(context, memory, request.agent.as_ref())?;
    let tag = if request.project.is_none() { tagged(context, &request.query, found)? } else { None };
    let typed = request.project.as_deref();
    let (question, project) = if let Some((question, project)) = tag {
        (question, Some(project))
    } else {
        let project = typed.map(|typed| project(context, typed, found)).transpose()?;
        (request.query.clone(), project)
    };
    let query = Query::parse(&question);
    if query.is_empty() {
        return Err(Error::new(Kind::Usage, "the question has no words to search for")
            .hint("ask with at least one word or number"));
    }
    let scope = scope(context, request, project.as_deref(), found, memory, settings)?;
    let mut answer = Answer::default();
    let Refreshed { synced, opened: reopened } = index::refresh(context, &mut opened);
    context.check_cancelled()?;
    match synced {
        Ok(synced) => {
            let visible = context.visible(found, memory)?;
            let sources = || index::sources(found, memory);
            answer.pending_files = pending_after(context, &synced, sources, visible.as_ref())?.files;
        }
        Err(error) => answer.stale = Some(error.message),
    }
    reopened?;
    if let Some(searcher) = &mut opened.searcher {
        let limit = request.max_results.or(settings.and_then(|set| set.max_results)).unwrap_or(RESULTS);
        let set = settings.and_then(|set| set.min_score);
        let least = request.min_score.or(set).unwrap_or(SCORE);
        searcher.set_query_encoder(embed::understanding(context, None, false)?);
        let threads = context.config().places().threads;
        // Copies of one record are one result, so a few more are asked for.
        let mut outcome = searcher
            .search(&query, &scope, Mode::Hybrid, threads, limit.saturating_mul(4))
            .map_err(|error| index::failed(&error))?;
        calibrate(&mut outcome.hits);
        let names = Names::of(memory);
        let mut seen = HashSet::new();
        let once = |hit: &RankedHit| seen.insert((hit.file.clone(), hit.offset, hit.line));
        let hits = outcome.hits.into_iter().filter(|hit| f64::from(hit.score) >= least);
        answer.results = hits.filter(once).take(limit).map(|hit| names.remembered(hit)).collect();
    }
    if answer.results.is_empty() {
        answer.notes = unread(context);
    }
    Ok(answer)
}

/// Whose each file is, and what OpenClaw calls it.
struct Names<'a>(HashMap<&'a Path, (String, &'a AgentId)>);

impl<'a> Names<'a> {
    fn of(memory: &'a Memory) -> Self {
        let mut names = HashMap::new();
        for known in &memory.agents {
            for note in &known.notes {
                let inside = note.path.strip_prefix(&known.workspace).unwrap_or(&note.path);
                names.insert(note.path.as_path(), (inside.display().to_string(), &known.agent));
            }
            for file in &known.transcripts {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                names.insert(file.path.as_path(), (format!("sessions/{name}"), &known.agent));
            }
        }
        Self(names)
    }

    fn remembered(&self, hit: RankedHit) -> Remembered {
        let (path, agent) = match self.0.get(hit.file.as_path()) {
            Some((path, agent)) => (path.clone(), Some((*agent).clone())),
            None => (hit.file.display().to_string(), None),
        };
        let (start_line, end_line) = hit.lines.unwrap_or((hit.line, hit.line));
        Remembered {
            path,
            start_line,
            end_line,
            score: hit.score,
            snippet: hit.passage.unwrap_or_default().chars().take(SNIPPET).collect(),
            source: hit.source,
            file: hit.file,
            session_id: (hit.source != SourceKind::Memory).then_some(hit.session),
            agent_id: agent,
            file_missing: hit.gone,
        }
    }
}
