//! `index`: brings the search index up to date, or says what that would take.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use catalog::Discovery;
use jiff::SignedDuration;
use model::SessionId;
use monitor::FolderWatcher;
use openclaw::Memory;
pub use search::{IndexProgress, IndexSize, SyncReport};
use search::{Remedy, Searcher, SourceFile, SourceKind};
use system::join;

use crate::search::time_limit::TimeLimit;
use crate::{Context, Error, Kind, NextStep};

/// How often one who watches looks whatever the system tells, and how often where it does not tell of all.
const RESCAN: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_secs(1);
/// Sub-agents' folders are watched while they are so new.
const RECENT: SignedDuration = SignedDuration::from_hours(1);

/// Where the search index lies.
pub(crate) fn folder(context: &Context) -> PathBuf {
    context.config().state.join("index")
}

/// What is not in the index yet.
pub fn pending(context: &Context) -> Result<IndexProgress, Error> {
    search::pending(
        &folder(context),
        &sources(&catalog::discover(&context.config().places()), &memory(context)),
    )
    .map_err(|error| failed(&error))
}

/// Reads what is new into the index, until all is read or the caller wants the answer.
pub fn index(context: &Context) -> Result<SyncReport, Error> {
    let limit = TimeLimit::none(context);
    let sources = sources(&catalog::discover(&context.config().places()), &memory(context));
    let synced = search::sync(&folder(context), &sources, &mut |progress| limit.should_continue(progress));
    context.check_cancelled()?;
    synced.map_err(|error| failed(&error))
}

/// Discards the index, so that the next pass rebuilds it.
pub fn discard(context: &Context) -> Result<(), Error> {
    context.require_person("discarding the search index")?;
    search::discard(&folder(context)).map_err(|error| failed(&error))
}

/// How large the index is; `None` when there is none yet.
pub fn size(context: &Context) -> Result<Option<IndexSize>, Error> {
    Ok(open(context)?.map(|searcher| searcher.size()))
}

/// The files that are indexed, watched for changes.
#[derive(Debug)]
pub struct Watch {
    changes: FolderWatcher,
    looked: Instant,
    /// Whether OpenClaw's settings turn off watching Claude Code's sessions.
    skips_claude: bool,
}

impl Watch {
    /// Begins to watch what there is.
    pub fn start(context: &Context) -> Self {
        let memory = memory(context);
        let wants = |agent: &openclaw::AgentMemory| agent.settings.claude.watch;
        let skips_claude = !memory.agents.is_empty() && !memory.agents.iter().any(wants);
        let changes = FolderWatcher::new(context.config().settings.activity.events);
        let mut watch = Self { changes, looked: Instant::now(), skips_claude };
        watch.look(context);
        watch
    }

    /// Whether Claude Code's sessions are not watched because OpenClaw's settings say so.
    pub fn skips_claude(&self) -> bool {
        self.skips_claude
    }

    /// Waits for a second at most, and returns whether the index should be updated.
    pub fn is_due(&mut self, context: &Context) -> bool {
        let has_changes = self.changes.wait(LOOK);
        let rescan = if self.changes.works() { RESCAN } else { LOOK };
        let is_rescan_due = !self.skips_claude && self.looked.elapsed() >= rescan;
        if has_changes || is_rescan_due {
            self.look(context);
        }
        has_changes || is_rescan_due
    }

    /// Watches the folders that are new since the last time.
    fn look(&mut self, context: &Context) {
        self.looked = Instant::now();
        let memory = memory(context);
        let places = context.config().places();
        let sources = sources(&catalog::discover(&places), &memory);
        let is_watched = |source: &&SourceFile| {
            let modified = source.stamp.modified();
            let is_recent = modified.is_some_and(|at| context.now.duration_since(at) <= RECENT);
            (!source.subagent || is_recent)
                && !(self.skips_claude && source.kind == SourceKind::ClaudeSessions)
        };
        let parents = sources.iter().filter(is_watched).filter_map(|source| source.path.parent());
        let mut folders: BTreeSet<PathBuf> = parents.map(PathBuf::from).collect();
        if !self.skips_claude {
            folders.extend(places.config_folders.iter().map(transcript::ConfigFolder::projects));
        }
        for agent in &memory.agents {
            folders.extend([agent.workspace.clone(), agent.workspace.join("memory")]);
        }
        self.changes.watch(folders);
    }
}

/// The index, open; `None` when there is none yet.
pub(crate) fn open(context: &Context) -> Result<Option<Searcher>, Error> {
    Searcher::open(&folder(context)).map_err(|error| failed(&error))
}

/// The transcripts, and the index as it is with what it answers to `ask`: mostly nothing is new, so it is asked while
/// they are looked for.
pub(crate) fn find<T: Send>(
    context: &Context,
    ask: impl FnOnce(&mut Searcher) -> T + Send,
) -> (Discovery, Option<(Searcher, T)>) {
    let ahead = || {
        let mut searcher = open(context).ok().flatten()?;
        let answer = ask(&mut searcher);
        Some((searcher, answer))
    };
    join(|| catalog::discover(&context.config().places()), ahead)
}

/// The index, brought up to date.
pub(crate) struct Refreshed<T> {
    /// What that did.
    pub(crate) synced: Result<SyncReport, Error>,
    /// It, open; `None` when there is none.
    pub(crate) searcher: Result<Option<Searcher>, Error>,
    /// What it answered before, where nothing was new.
    pub(crate) answer: Option<T>,
}

/// Brings the index up to date; where nothing is new it is the one that was opened before.
pub(crate) fn refreshed<T>(
    context: &Context,
    opened: Option<(Searcher, T)>,
    found: &Discovery,
    memory: &Memory,
) -> Refreshed<T> {
    let remembered: Vec<SourceFile> = memory.agents.iter().flat_map(search::source_files).collect();
    let now = found.fingerprint().wrapping_add(search::fingerprint_of(&remembered));
    if let Some((searcher, answer)) = opened.filter(|(index, _)| index.is_fresh(now).unwrap_or(false)) {
        let synced = Ok(SyncReport::default());
        return Refreshed { synced, searcher: Ok(Some(searcher)), answer: Some(answer) };
    }
    let limit = TimeLimit::of_search(context);
    let mut keep_going = |progress: &IndexProgress| limit.should_continue(progress);
    let sources = sources(found, memory);
    let mut synced =
        search::sync(&folder(context), &sources, &mut keep_going).map_err(|error| failed(&error));
    let mut searcher = open(context);
    // Beside whoever indexes for the first time there is nothing to answer from: it is waited for as long as an answer
    // may take.
    let is_empty = |searcher: &Searcher| searcher.size().chunks == 0;
    while let Ok(SyncReport { busy: true, pending_files, pending_bytes, .. }) = synced
        && searcher.as_ref().is_ok_and(|searcher| searcher.as_ref().is_none_or(is_empty))
        && keep_going(&IndexProgress {
            files: pending_files,
            bytes: pending_bytes,
            ..IndexProgress::default()
        })
    {
        pause();
        synced = search::sync(&folder(context), &sources, &mut keep_going).map_err(|error| failed(&error));
        searcher = open(context);
    }
    Refreshed { synced, searcher, answer: None }
}

#[expect(clippy::disallowed_methods, reason = "another process tells nobody when it has written")]
fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

pub(crate) fn failed(error: &search::Error) -> Error {
    let failed = Error::caused(Kind::Unavailable, "the search index failed", error);
    match error.remedy() {
        Remedy::Rebuild => failed.next(NextStep::RebuildIndex),
        Remedy::Room => {
            failed.hint("free some disk space, then try again; or set BACKSTORY_HOME to another folder")
        }
        Remedy::Permission => {
            failed.hint("make the folder writable, or set BACKSTORY_HOME to another folder")
        }
        Remedy::Wait => {
            failed.hint("another Backstory process is writing it: wait until it has finished, then try again")
        }
    }
}

/// What OpenClaw's agents remember.
pub(crate) fn memory(context: &Context) -> Memory {
    let config = &context.config();
    Memory::find(&config.openclaw_folders, config.openclaw_configuration.as_deref(), &config.home)
}

pub(crate) fn sources(found: &Discovery, memory: &Memory) -> Vec<SourceFile> {
    let of_claude = |path: &Path, stamp, session: Option<&SessionId>, subagent| SourceFile {
        path: path.to_owned(),
        stamp,
        kind: SourceKind::ClaudeSessions,
        session: session.cloned(),
        subagent,
    };
    let mut sources = Vec::with_capacity(found.sessions.len() + found.flat_subagents.len());
    for session in &found.sessions {
        let id = Some(&session.id);
        sources.extend(session.subagents.iter().map(|agent| of_claude(&agent.path, agent.stamp, id, true)));
        sources.push(of_claude(&session.path, session.stamp, id, false));
    }
    let flat = found.flat_subagents.iter();
    sources.extend(flat.map(|agent| of_claude(&agent.path, agent.stamp, None, true)));
    sources.extend(memory.agents.iter().flat_map(search::source_files));
    sources
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::ProgressSink;

    #[test]
    fn beside_the_first_indexing_a_search_waits_for_something_to_answer_from() {
        let scratch = tempfile::tempdir().unwrap();
        let claude = scratch.path().join(".claude");
        fs::create_dir_all(claude.join("projects/-p")).unwrap();
        let line = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"feed the walrus"}}"#;
        fs::write(claude.join("projects/-p/s1.jsonl"), format!("{line}\n")).unwrap();
        let config = crate::Config {
            home: scratch.path().to_owned(),
            state: scratch.path().join("state"),
            claude_folders: vec![claude],
            ..crate::Config::default()
        };
        let context = crate::testing::context(config);
        fs::create_dir_all(folder(&context)).unwrap();
        let lock = fs::File::create(folder(&context).join("writer.lock")).unwrap();
        lock.lock().unwrap();
        let asked = AtomicU32::new(0);
        // The other one is done while this one waits.
        let progress = ProgressSink::new(move |_| {
            if asked.fetch_add(1, Ordering::Relaxed) == 2 {
                lock.unlock().unwrap();
            }
        });
        let context = Context { progress: progress.watched(), ..context };
        let request = crate::search::Request { query: "walrus".to_owned(), ..Default::default() };
        let answer = crate::search::search(&context, &request).unwrap();
        assert_eq!((answer.hits.len(), answer.pending.busy), (1, false));
    }
}
