//! `memory`: asks what OpenClaw's agents remember, and Claude Code's sessions with it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use catalog::Discovery;
use model::{AgentId, SessionId};
use openclaw::{AgentMemory, Memory, MemorySettings};
pub use search::SourceCount;
use search::{Hit, Mode, Query, SearchScope, Searcher};

use crate::search::SourceKind;
use crate::search::chosen::{self, Chosen, all_conversations, named, of_project};
use crate::search::index;
use crate::search::index::Refreshed;
use crate::search::memory_score::calibrate;
use crate::search::question::tagged;
use crate::{Context, Error, Kind, Secrets};

/// What OpenClaw shows where nobody says how much.
const RESULTS: usize = 6;
/// What OpenClaw leaves out where nobody says what.
const SCORE: f64 = 0.35;

/// How many pieces of one file may be among the results, beside its best.
const PASSAGES: usize = 5;

/// A question to the memory.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The question; `#name` in it is a project.
    pub question: String,
    /// Only what this agent remembers.
    pub agent: Option<AgentId>,
    /// Only Claude sessions of this project.
    pub project: Option<String>,
    /// Only from this source.
    pub source: Option<SourceKind>,
    /// Only this conversation: OpenClaw's key, or a session's id.
    pub session: Option<String>,
    /// At most so many results.
    pub limit: Option<usize>,
    /// Only results that reach this.
    pub min_score: Option<f64>,
    /// Also Claude sessions whose conversation with OpenClaw is indexed itself.
    pub include_owned: bool,
}

/// What was found, and what the index does not hold yet.
#[derive(Debug, Default)]
pub struct Answer {
    /// Best first.
    pub results: Vec<Remembered>,
    /// Files that hold something the index does not.
    pub pending_files: u64,
    /// The index could not be brought up to date, and why.
    pub stale: Option<String>,
}

/// One result.
#[derive(Debug)]
pub struct Remembered {
    /// The file as OpenClaw names it: notes as seen from the workspace, transcripts below `sessions`, those of
    /// Claude whole.
    pub path: String,
    /// The agent that remembers it.
    pub agent: Option<AgentId>,
    /// Where and how well.
    pub hit: Hit,
}

/// What is known of one agent's memory.
#[derive(Debug)]
pub struct Status {
    /// The agent.
    pub agent: AgentId,
    /// Where it works.
    pub workspace: PathBuf,
    /// The index.
    pub index: PathBuf,
    /// The sources that are searched for it.
    pub sources: Vec<SourceKind>,
    /// What the index holds of each.
    pub counts: Vec<SourceCount>,
    /// Whether something is not indexed yet.
    pub dirty: bool,
    /// Whether there is an index to ask by words.
    pub by_words: bool,
    /// Whether it can be asked by meaning, too.
    pub by_meaning: bool,
    /// What its settings say.
    pub settings: MemorySettings,
    /// What lies on the disk of each source.
    pub scans: Vec<Scan>,
}

/// The files of one source, whether they are indexed or not.
#[derive(Debug)]
pub struct Scan {
    /// The source.
    pub source: SourceKind,
    /// How many files there are.
    pub files: usize,
    /// What is wrong with them.
    pub issues: Vec<String>,
}

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    let agent = context.agent(request.agent.as_ref())?;
    let request = &Request { agent, ..request.clone() };
    let memory = index::memory(context);
    let (found, opened) = index::find(context, |_| ());
    let settings = settings(&memory, request.agent.as_ref())?;
    let tag = if request.project.is_none() { tagged(context, &request.question, &found) } else { None };
    let typed = request.project.as_deref();
    let (question, project) = tag.map_or_else(
        || (request.question.clone(), typed.map(|typed| chosen::project(context, typed, &found))),
        |(question, project)| (question, Some(project)),
    );
    let query = Query::parse(&question);
    if query.is_empty() {
        return Err(Error::new(Kind::Usage, "the question has no words to search for"));
    }
    let scope = scope(context, request, project.as_deref(), &found, &memory, settings)?;
    let mut answer = Answer::default();
    let Refreshed { synced, searcher, .. } = index::refreshed(context, opened, &found, &memory);
    context.check_cancelled()?;
    match synced {
        Ok(synced) => answer.pending_files = synced.pending_files,
        Err(error) => answer.stale = Some(error.message),
    }
    let Some(mut searcher) = searcher? else { return Ok(answer) };
    let limit = request.limit.or(settings.and_then(|set| set.max_results)).unwrap_or(RESULTS);
    let set = settings.and_then(|set| set.min_score);
    let least = request.min_score.or(set).unwrap_or(SCORE);
    searcher.set_query_encoder(crate::search::embed::understanding(context, None, false)?);
    // Copies of one record are one result, so a few more are asked for.
    let mut outcome = searcher
        .search(&query, &scope, Mode::Hybrid, context.config().places().threads, limit.saturating_mul(4))
        .map_err(|error| index::failed(&error))?;
    calibrate(&mut outcome.hits);
    let names = Names::of(&memory);
    let mut seen = HashSet::new();
    let once = |hit: &Hit| seen.insert((hit.file.clone(), hit.offset, hit.line));
    let hits = outcome.hits.into_iter().filter(|hit| f64::from(hit.score) >= least).filter(once).take(limit);
    answer.results = hits.map(|hit| names.remembered(hit)).collect();
    Ok(answer)
}

/// What is indexed for each agent, or for the one that is named.
pub fn status(context: &Context, agent: Option<&AgentId>) -> Result<Vec<Status>, Error> {
    let agent = context.agent(agent)?;
    let agent = agent.as_ref();
    let memory = index::memory(context);
    settings(&memory, agent)?;
    let found = catalog::discover(&context.config().places());
    let claude = found.sessions.len();
    let sources = index::sources(&found, &memory);
    let folder = index::folder(context);
    let pending = search::pending(&folder, &sources).map_err(|error| index::failed(&error))?;
    let searcher = index::open(context)?;
    let of_agent = |known: &AgentMemory| {
        let names: HashSet<SessionId> = search::session_names(known).collect();
        let is = |source: SourceKind, name: &SessionId| {
            source == SourceKind::ClaudeSessions || names.contains(name)
        };
        let counts = searcher.as_ref().map(|searcher| searcher.counts(is)).transpose();
        let sources = sources_of(Some(&known.settings));
        let mut counts = counts.map_err(|error| index::failed(&error))?.unwrap_or_default();
        counts.retain(|count| sources.contains(&count.source));
        Ok(Status {
            agent: known.agent.clone(),
            workspace: known.workspace.clone(),
            index: folder.clone(),
            scans: sources.iter().map(|source| scan(&memory, known, *source, claude)).collect(),
            sources,
            counts,
            dirty: pending.files > 0,
            by_words: searcher.is_some(),
            by_meaning: searcher.as_ref().is_some_and(Searcher::has_vectors),
            settings: known.settings.clone(),
        })
    };
    memory
        .agents
        .iter()
        .filter(|known| agent.is_none_or(|agent| known.agent == *agent))
        .map(of_agent)
        .collect()
}

fn scan(memory: &Memory, known: &AgentMemory, source: SourceKind, claude: usize) -> Scan {
    let (files, folder) = match source {
        SourceKind::Memory => (known.notes.len(), known.workspace.clone()),
        SourceKind::Sessions => {
            (known.transcripts.len(), known.state.join("agents").join(known.agent.as_str()))
        }
        SourceKind::ClaudeSessions => return Scan { source, files: claude, issues: Vec::new() },
    };
    let here = memory.problems.iter().filter(|problem| problem.path.starts_with(&folder));
    let mut issues: Vec<String> =
        here.map(|problem| format!("{}: {}", problem.path.display(), problem.what)).collect();
    let database = known.database.as_ref().filter(|_| source == SourceKind::Sessions);
    issues.extend(database.map(crate::sessions::unread::said));
    if files == 0 && issues.is_empty() {
        issues.push(format!("no files of the source `{}` in {}", source.word(), folder.display()));
    }
    Scan { source, files, issues }
}

/// The settings that count: the named agent's, else those of the first one, who is asked where nobody is named.
fn settings<'a>(memory: &'a Memory, agent: Option<&AgentId>) -> Result<Option<&'a MemorySettings>, Error> {
    let wanted = |known: &&AgentMemory| agent.is_none_or(|agent| known.agent == *agent);
    let main = AgentId::main();
    let known = memory.agents.iter().filter(wanted);
    let known = known.min_by_key(|known| known.agent != main);
    if known.is_none()
        && let Some(agent) = agent
    {
        let mut names: Vec<_> = memory.agents.iter().map(|known| known.agent.as_str()).collect();
        names.dedup();
        let error = Error::new(Kind::NotFound, format!("OpenClaw has no agent `{agent}`"));
        return Err(error.hint(if names.is_empty() {
            "set OPENCLAW_STATE_DIR to OpenClaw's state folder".to_owned()
        } else {
            format!("its agents are {}", names.join(", "))
        }));
    }
    match known {
        Some(known) if !known.settings.enabled => {
            let off = format!("memory search is disabled for agent `{}`", known.agent);
            Err(Error::new(Kind::Settings, off)
                .hint("OpenClaw's configuration disables it in `memorySearch.enabled`"))
        }
        known => Ok(known.map(|known| &known.settings)),
    }
}

/// The sources that are searched where nobody names one: those that are listed, else all.
fn sources_of(settings: Option<&MemorySettings>) -> Vec<SourceKind> {
    let listed = settings.and_then(|set| set.sources.as_ref());
    let all = SourceKind::ALL.into_iter();
    let is_listed =
        |kind: &SourceKind| listed.is_none_or(|listed| listed.iter().any(|word| word == kind.word()));
    let claude = settings.is_none_or(|set| set.claude.enabled);
    all.filter(is_listed).filter(|kind| claude || *kind != SourceKind::ClaudeSessions).collect()
}

fn scope(
    context: &Context,
    request: &Request,
    project: Option<&str>,
    found: &Discovery,
    memory: &Memory,
    settings: Option<&MemorySettings>,
) -> Result<SearchScope, Error> {
    let usual = sources_of(settings);
    let visible = context.visible(found, memory);
    let Chosen { mut sessions, mut conversations } =
        named(request.session.as_deref(), found, memory, visible.as_ref())?.unwrap_or_default();
    let default_project = settings.and_then(|set| set.claude.default_project.as_deref());
    if let Some(name) = project.or(default_project) {
        narrow(&mut sessions, of_project(context, name, found));
    }
    if project.is_some() {
        conversations = Some(HashSet::new());
    }
    if let Some(folder) = settings.and_then(|set| set.claude.path.as_deref()) {
        let folder = folder.canonicalize().unwrap_or(folder.to_owned());
        let inside = found.sessions.iter().filter(|file| file.path.starts_with(&folder));
        narrow(&mut sessions, inside.map(|file| file.id.clone()).collect());
    }
    if let Some(agent) = &request.agent {
        let of_agent = memory.agents.iter().filter(|known| known.agent == *agent);
        narrow(&mut conversations, of_agent.flat_map(search::session_names).collect());
    }
    let Chosen { sessions, conversations } = Chosen { sessions, conversations }.within(visible.as_ref());
    let hides = !request.include_owned && usual.contains(&SourceKind::Sessions);
    let owned = |conversation: openclaw::StoredConversation| {
        let owner = conversation.session;
        conversation.claude.into_iter().map(move |session| (session, owner.clone()))
    };
    Ok(SearchScope {
        sessions,
        conversations,
        sources: Some(request.source.map_or_else(|| usual.into_iter().collect(), |one| HashSet::from([one]))),
        shows_secrets: context.secrets == Secrets::Shown,
        // As OpenClaw answers: pieces of text, not files.
        passages: PASSAGES,
        owned: if hides { all_conversations(memory).flat_map(owned).collect() } else { Vec::new() },
        ..SearchScope::default()
    })
}

fn narrow(chosen: &mut Option<HashSet<SessionId>>, to: HashSet<SessionId>) {
    *chosen = Some(match chosen.take() {
        Some(before) => before.intersection(&to).cloned().collect(),
        None => to,
    });
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

    fn remembered(&self, hit: Hit) -> Remembered {
        let (path, agent) = match self.0.get(hit.file.as_path()) {
            Some((path, agent)) => (path.clone(), Some((*agent).clone())),
            None => (hit.file.display().to_string(), None),
        };
        Remembered { path, agent, hit }
    }
}
