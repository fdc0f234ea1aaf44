//! `index`: brings the search index up to date, or says what that would take.

mod refresh;
pub(crate) mod repair;
pub(crate) mod share;
pub mod watch;

use std::path::{Path, PathBuf};

use catalog::Discovery;
use model::SessionId;
use openclaw::Memory;
use schemars::JsonSchema;
use search::{IndexProgress, IndexSize, Remedy, Searcher, SourceFile, SourceKind, SyncReport};
use serde::{Deserialize, Serialize};

use crate::error::WRITABLE;
use crate::retention::archive::copy_all_while_indexing;
pub(crate) use crate::search::index::refresh::{Opened, Refreshed, find, refresh, renew_behind};
use crate::search::index::share::Share;
use crate::search::time_limit::TimeLimit;
use crate::{Context, Error, Kind, NextStep};

/// What to do with the index.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "IndexRequest")]
pub struct Request {
    /// Whether only to say how much would be read; then nothing is changed.
    pub dry_run: bool,
    /// Whether to rebuild the index from the transcripts.
    pub rebuild: bool,
}

/// What was read into the index, and what is left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "IndexAnswer")]
pub struct Answer {
    /// How many files were read.
    pub files: u64,
    /// How many bytes of them were read.
    pub bytes: u64,
    /// How many pieces of text were added.
    pub chunks: u64,
    /// How many files are left.
    pub pending_files: u64,
    /// How many new bytes they hold.
    pub pending_bytes: u64,
    /// Whether another process is indexing.
    pub busy: bool,
    /// Lines that could not be read and were skipped; `null` for a caller who may not see every session.
    pub unreadable_lines: Option<u64>,
    /// Files that could not be read, and why.
    pub failed: Vec<String>,
    /// How many sessions are indexed.
    pub sessions: u64,
    /// The length of all indexed text.
    pub text_bytes: u64,
    /// The size of the index on disk; `null` for a caller who may not see every session.
    pub index_bytes: Option<u64>,
}

/// Reads what is new into the index, until all is read or the caller wants the answer.
pub fn index(context: &Context, request: &Request) -> Result<Answer, Error> {
    let before = Share::of(context)?;
    if request.dry_run {
        if let Some(before) = before {
            return Ok(before.answer(&before, &SyncReport::default()));
        }
        let left = pending(context)?;
        let report =
            SyncReport { pending_files: left.files, pending_bytes: left.bytes, ..SyncReport::default() };
        return Answer::new(context, &report);
    }
    if request.rebuild {
        discard(context)?;
    }
    let repaired = repair::daily(context);
    let synced = sync(context)?;
    let not_kept = copy_all_while_indexing(context);
    let mut answer = match (before, Share::of(context)?) {
        (Some(before), Some(after)) => return Ok(after.answer(&before, &synced)),
        _ => Answer::new(context, &synced)?,
    };
    answer.failed.extend(repaired.into_iter().chain(not_kept));
    Ok(answer)
}

impl Answer {
    fn new(context: &Context, synced: &SyncReport) -> Result<Self, Error> {
        let size = size(context)?;
        Ok(Self {
            files: synced.progress.files_done,
            bytes: synced.bytes_read,
            chunks: synced.chunks_added,
            pending_files: synced.pending_files,
            pending_bytes: synced.pending_bytes,
            busy: synced.busy,
            unreadable_lines: Some(synced.unreadable_lines),
            failed: synced.failed.iter().map(failure).collect(),
            sessions: size.map_or(0, |size| size.sessions),
            text_bytes: size.map_or(0, |size| size.text_bytes),
            index_bytes: Some(size.map_or(0, |size| size.disk_bytes)),
        })
    }
}

/// A file that could not be read, and why, in one sentence.
fn failure((path, why): &(PathBuf, String)) -> String {
    format!("{}: {why}", path.display())
}

/// The folder of the search index.
pub(crate) fn folder(context: &Context) -> PathBuf {
    context.config().state.join("index")
}

/// What is not in the index yet.
pub(crate) fn pending(context: &Context) -> Result<IndexProgress, Error> {
    search::pending(
        &folder(context),
        &sources(&catalog::discover(&context.config().places()), &memory(context)),
    )
    .map_err(|error| failed(&error))
}

/// Reads what is new, until all is read or the caller wants the answer.
pub(crate) fn sync(context: &Context) -> Result<SyncReport, Error> {
    let limit = TimeLimit::none(context);
    let sources = sources(&catalog::discover(&context.config().places()), &memory(context));
    let sync = || search::sync(&folder(context), &sources, &mut |progress| limit.should_continue(progress));
    let mut synced = sync();
    if synced.as_ref().is_err_and(|error| repair::set_aside_if_damaged(context, error)) {
        synced = sync();
    }
    context.check_cancelled()?;
    synced.map_err(|error| failed(&error))
}

/// Discards the index, so that the next pass rebuilds it.
fn discard(context: &Context) -> Result<(), Error> {
    context.require_person("discarding the search index")?;
    search::discard(&folder(context)).map_err(|error| failed(&error))
}

/// How large the index is; `None` when there is none yet.
pub(crate) fn size(context: &Context) -> Result<Option<IndexSize>, Error> {
    Ok(open(context)?.map(|searcher| searcher.size()))
}

/// The index, open; `None` when there is none yet.
pub(crate) fn open(context: &Context) -> Result<Option<Searcher>, Error> {
    Searcher::open(&folder(context)).map_err(|error| failed(&error))
}

pub(crate) fn failed(error: &search::Error) -> Error {
    let failed = Error::caused(Kind::Unavailable, "the search index failed", error);
    match error.remedy() {
        Remedy::Rebuild => failed.next(NextStep::RebuildIndex),
        Remedy::Room => {
            failed.hint("free some disk space, then try again; or set BACKSTORY_HOME to another folder")
        }
        Remedy::Permission => failed.hint(WRITABLE),
        Remedy::Wait => {
            failed.hint("another Backstory process is writing it: wait until it has finished, then try again")
        }
    }
}

/// What OpenClaw's agents remember.
pub(crate) fn memory(context: &Context) -> Memory {
    let config = &context.config();
    let mut memory =
        Memory::find(&config.openclaw_folders, config.openclaw_configuration.as_deref(), &config.home);
    for agent in &mut memory.agents {
        // Two state folders may have an agent of the same name.
        let of = agent.database.as_ref().map(|database| fingerprint(&database.path)).unwrap_or_default();
        let folder = config.state.join("openclaw").join(format!("{}-{of:016x}", agent.agent));
        memory.problems.extend(agent.add_database(&folder));
    }
    memory
}

fn fingerprint(path: &Path) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};

    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
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
        sources.extend(session.diverged.iter().map(|other| of_claude(&other.path, other.stamp, id, false)));
    }
    let flat = found.flat_subagents.iter();
    sources.extend(flat.map(|agent| of_claude(&agent.path, agent.stamp, None, true)));
    let lone = found.lone_subagents.iter();
    sources
        .extend(lone.map(|agent| of_claude(&agent.path, agent.stamp, agent.folder_session().as_ref(), true)));
    sources.extend(memory.agents.iter().flat_map(search::source_files));
    sources
}
