//! The figures of the index for a caller who may not see every session: those of the sessions that they may see.

use std::collections::HashSet;
use std::path::PathBuf;

use search::{IndexProgress, SourceFile, SourceKind, SyncReport};

use crate::context::Visible;
use crate::search::index::{Answer, failed, failure, folder, memory, open, sources};
use crate::{Context, Error};

/// The part of the index that a caller may see, at one moment.
pub(crate) struct Share {
    /// What is not indexed yet.
    pub(crate) pending: IndexProgress,
    chunks: u64,
    text_bytes: u64,
    sessions: u64,
    /// The files that the caller may see.
    files: HashSet<PathBuf>,
}

impl Share {
    /// The caller's part; `None` where that is all.
    pub(crate) fn of(context: &Context) -> Result<Option<Self>, Error> {
        let found = catalog::discover(&context.config().places());
        let memory = memory(context);
        let Some(visible) = context.visible(&found, &memory)? else { return Ok(None) };
        let sources = own(&sources(&found, &memory), &visible);
        let pending = search::pending(&folder(context), &sources).map_err(|error| failed(&error))?;
        let is_own = |kind: SourceKind, name: &_| visible.names(kind).contains(name);
        let counts = match open(context)? {
            Some(searcher) => searcher.counts(is_own).map_err(|error| failed(&error))?,
            None => Vec::new(),
        };
        Ok(Some(Self {
            pending,
            chunks: counts.iter().map(|count| count.chunks).sum(),
            text_bytes: counts.iter().map(|count| count.text_bytes).sum(),
            sessions: (visible.sessions.len() + visible.conversations.len()) as u64,
            files: sources.into_iter().map(|source| source.path).collect(),
        }))
    }

    /// What a pass did since `before`. What is known of all sessions together only is left out.
    pub(crate) fn answer(&self, before: &Self, synced: &SyncReport) -> Answer {
        Answer {
            files: before.pending.files.saturating_sub(self.pending.files),
            bytes: before.pending.bytes.saturating_sub(self.pending.bytes),
            chunks: self.chunks.saturating_sub(before.chunks),
            pending_files: self.pending.files,
            pending_bytes: self.pending.bytes,
            busy: synced.busy,
            unreadable_lines: None,
            failed: synced.failed.iter().filter(|(path, _)| self.files.contains(path)).map(failure).collect(),
            sessions: self.sessions,
            text_bytes: self.text_bytes,
            index_bytes: None,
        }
    }
}

/// What the index does not hold yet of these files, as far as the caller may see them.
pub(crate) fn pending(
    context: &Context,
    sources: &[SourceFile],
    visible: Option<&Visible>,
) -> Result<IndexProgress, Error> {
    let own = visible.map(|visible| own(sources, visible));
    search::pending(&folder(context), own.as_deref().unwrap_or(sources)).map_err(|error| failed(&error))
}

/// The files of the sessions that a caller may see.
fn own(sources: &[SourceFile], visible: &Visible) -> Vec<SourceFile> {
    let is_own = |source: &&SourceFile| {
        source.session.as_ref().is_some_and(|id| visible.names(source.kind).contains(id))
    };
    sources.iter().filter(is_own).cloned().collect()
}

/// The same after a pass, which mostly left nothing and counted everybody's.
pub(crate) fn pending_after(
    context: &Context,
    synced: &SyncReport,
    sources: impl FnOnce() -> Vec<SourceFile>,
    visible: Option<&Visible>,
) -> Result<IndexProgress, Error> {
    if visible.is_some() && synced.pending_files > 0 {
        return pending(context, &sources(), visible);
    }
    let (files, bytes) = (synced.pending_files, synced.pending_bytes);
    Ok(IndexProgress { files, bytes, ..IndexProgress::default() })
}
