//! `index`: brings the search index up to date, or says what that would take.

use std::path::PathBuf;

use catalog::Found;
use openclaw::Memory;
pub use search::{Progress, Size, Synced};
use search::{Source, SourceKind};

use crate::{App, Error, Kind};

/// Where the search index lies.
pub(crate) fn folder(app: &App) -> PathBuf {
    app.config.state.join("index")
}

/// What is not in the index yet.
pub fn pending(app: &App) -> Result<Progress, Error> {
    search::pending(&folder(app), &sources(catalog::find(&app.config.places()), &memory(app)))
        .map_err(|error| failed(&error))
}

/// Reads what is new into the index while `keep_going` says so.
pub fn index(app: &App, keep_going: &mut dyn FnMut(&Progress) -> bool) -> Result<Synced, Error> {
    sync(app, catalog::find(&app.config.places()), &memory(app), keep_going)
}

/// Throws the index away, so that the next pass makes it anew.
pub fn discard(app: &App) -> Result<(), Error> {
    search::discard(&folder(app)).map_err(|error| failed(&error))
}

/// How large the index is; `None` when there is none yet.
pub fn size(app: &App) -> Result<Option<Size>, Error> {
    let searcher = search::Searcher::open(&folder(app)).map_err(|error| failed(&error))?;
    Ok(searcher.map(|searcher| searcher.size()))
}

pub(crate) fn sync(
    app: &App,
    found: Found,
    memory: &Memory,
    keep_going: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Synced, Error> {
    search::sync(&folder(app), &sources(found, memory), keep_going).map_err(|error| failed(&error))
}

pub(crate) fn failed(error: &search::Error) -> Error {
    Error::caused(Kind::Unavailable, "the search index failed", error)
        .hint("`backstory index --rebuild` makes it anew from the transcripts")
}

/// What OpenClaw's agents remember.
pub(crate) fn memory(app: &App) -> Memory {
    Memory::find(&app.config.openclaw_folders, &app.config.home)
}

pub(crate) fn sources(found: Found, memory: &Memory) -> Vec<Source> {
    let mut sources = Vec::with_capacity(found.sessions.len() + found.flat_subagents.len());
    for session in found.sessions {
        let of_agent = |agent: transcript::SubagentFile| Source {
            path: agent.path,
            stamp: agent.stamp,
            kind: SourceKind::ClaudeSessions,
            session: Some(session.id.clone()),
            subagent: true,
        };
        sources.extend(session.subagents.into_iter().map(of_agent));
        sources.push(Source {
            path: session.path,
            stamp: session.stamp,
            kind: SourceKind::ClaudeSessions,
            session: Some(session.id),
            subagent: false,
        });
    }
    let flat = found.flat_subagents.into_iter();
    sources.extend(flat.map(|agent| Source {
        path: agent.path,
        stamp: agent.stamp,
        kind: SourceKind::ClaudeSessions,
        session: None,
        subagent: true,
    }));
    sources.extend(memory.agents.iter().flat_map(search::sources_of));
    sources
}
