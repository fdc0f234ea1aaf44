//! `memory status`: what is indexed for each agent, and what it is searched with.

mod answer;

use std::collections::HashSet;
use std::path::PathBuf;

use model::SessionId;
use openclaw::{AgentMemory, Memory, MemorySettings};
use search::{Searcher, SourceCount};

use crate::context::Visible;
use crate::search::index::share::pending;
pub use crate::search::memory::status::answer::{
    AgentStatus, Answer, Batch, Cache, Count, Fallback, IndexStatus, MemoryClaudeSessions, MemoryPart, Probe,
    Request, Scan, SourceScan,
};
use crate::search::memory::{settings, sources_of};
use crate::search::{SourceKind, embed, index};
use crate::{Context, Error};

/// Tells what is indexed for each agent, or for the one that is named.
pub fn status(context: &Context, request: &Request) -> Result<Answer, Error> {
    let agent = context.agent(request.agent.as_ref())?;
    let memory = index::memory(context);
    settings(context, &memory, agent.as_ref())?;
    let index_error = if request.index { index::sync(context).err() } else { None };
    context.check_cancelled()?;
    let found = catalog::discover(&context.config().places());
    let folder = index::folder(context);
    let visible = context.visible(&found, &memory)?;
    let pending = pending(context, &index::sources(&found, &memory), visible.as_ref())?;
    let shared = Shared {
        memory: &memory,
        claude_files: visible.as_ref().map_or(found.sessions.len(), |visible| visible.sessions.len()),
        visible: visible.as_ref(),
        folder,
        is_dirty: pending.files > 0,
        searcher: index::open(context)?,
        encoder: embed::provider(context),
        probe: (request.deep || request.index).then(|| Probe::from(embed::probe(context))),
        index_error: index_error.map(|error| error.message),
    };
    let is_meant = |known: &&AgentMemory| agent.as_ref().is_none_or(|agent| known.agent == *agent);
    memory
        .agents
        .iter()
        .filter(is_meant)
        .map(|known| shared.status(known))
        .collect::<Result<_, _>>()
        .map(Answer)
}

impl From<Result<(), String>> for Probe {
    fn from(probed: Result<(), String>) -> Self {
        Self { ok: probed.is_ok(), error: probed.err() }
    }
}

/// What is the same for all agents.
struct Shared<'a> {
    memory: &'a Memory,
    claude_files: usize,
    visible: Option<&'a Visible>,
    folder: PathBuf,
    is_dirty: bool,
    searcher: Option<Searcher>,
    /// The provider, and the model.
    encoder: (&'static str, String),
    probe: Option<Probe>,
    index_error: Option<String>,
}

impl Shared<'_> {
    fn status(&self, known: &AgentMemory) -> Result<AgentStatus, Error> {
        let sources = sources_of(Some(&known.settings));
        let scans = sources.iter().map(|source| scan(self.memory, known, *source, self.claude_files));
        Ok(AgentStatus {
            agent_id: known.agent.clone(),
            scan: Scan::new(scans.collect()),
            status: self.index_status(known, sources)?,
            embedding_probe: self.probe.clone(),
            index_error: self.index_error.clone(),
        })
    }

    fn index_status(&self, known: &AgentMemory, sources: Vec<SourceKind>) -> Result<IndexStatus, Error> {
        let counts = self.counts(known, &sources)?;
        let (provider, model) = &self.encoder;
        // The built-in table answers instead.
        let failure = self.probe.as_ref().and_then(|probe| probe.error.clone());
        Ok(IndexStatus {
            files: counts.iter().map(|count| count.files).sum(),
            chunks: counts.iter().map(|count| count.chunks).sum(),
            dirty: self.is_dirty,
            workspace_dir: known.workspace.clone(),
            db_path: self.folder.clone(),
            provider,
            model: model.clone(),
            requested_provider: provider,
            sources,
            extra_paths: known.settings.extra_paths.iter().map(|path| path.display().to_string()).collect(),
            claude_sessions: MemoryClaudeSessions::new(&known.settings),
            source_counts: counts,
            cache: Cache::default(),
            fts: MemoryPart { enabled: true, available: self.searcher.is_some() },
            vector: MemoryPart {
                enabled: true,
                available: self.searcher.as_ref().is_some_and(Searcher::has_vectors),
            },
            batch: Batch::default(),
            fallback: failure.map(|reason| Fallback { from: provider, reason }),
        })
    }

    /// What is indexed of each source.
    fn counts(&self, known: &AgentMemory, sources: &[SourceKind]) -> Result<Vec<Count>, Error> {
        let Some(searcher) = &self.searcher else { return Ok(Vec::new()) };
        let names: HashSet<SessionId> = search::session_names(known).collect();
        let is = |source: SourceKind, name: &SessionId| {
            let is_claude = source == SourceKind::ClaudeSessions;
            let may_see = |visible: &Visible| visible.sessions.contains(name);
            if is_claude { self.visible.is_none_or(may_see) } else { names.contains(name) }
        };
        let counts = searcher.counts(is).map_err(|error| index::failed(&error))?;
        let listed = counts.into_iter().filter(|count| sources.contains(&count.source));
        Ok(listed.map(|SourceCount { source, files, chunks, .. }| Count { source, files, chunks }).collect())
    }
}

impl MemoryClaudeSessions {
    fn new(settings: &MemorySettings) -> Self {
        let claude = settings.claude.clone();
        Self {
            enabled: claude.enabled,
            path: claude.path,
            watch: claude.watch,
            default_project: claude.default_project,
        }
    }
}

impl Scan {
    fn new(sources: Vec<SourceScan>) -> Self {
        Self {
            total_files: sources.iter().map(|scan| scan.total_files).sum(),
            issues: sources.iter().flat_map(|scan| scan.issues.clone()).collect(),
            sources,
        }
    }
}

fn scan(memory: &Memory, known: &AgentMemory, source: SourceKind, claude: usize) -> SourceScan {
    let (files, folder) = match source {
        SourceKind::Memory => (known.notes.len(), known.workspace.clone()),
        SourceKind::Sessions => {
            (known.transcripts.len(), known.state.join("agents").join(known.agent.as_str()))
        }
        SourceKind::ClaudeSessions => {
            return SourceScan { source, total_files: claude, issues: Vec::new() };
        }
    };
    let here = memory.problems.iter().filter(|problem| problem.path.starts_with(&folder));
    let mut issues: Vec<String> =
        here.map(|problem| format!("{}: {}", problem.path.display(), problem.what)).collect();
    let database = known.database.as_ref().filter(|_| source == SourceKind::Sessions);
    let is_read =
        |database: &&openclaw::AgentDatabase| database.open().is_ok_and(|open| open.sessions().is_ok());
    issues.extend(database.filter(|database| !is_read(database)).map(crate::sessions::unread::describe));
    if files == 0 && issues.is_empty() {
        issues.push(format!("no files of the source `{}` in {}", source.as_str(), folder.display()));
    }
    SourceScan { source, total_files: files, issues }
}
