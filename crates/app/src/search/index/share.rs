//! The figures of the index that an agent may see: those of its own sessions, although the index holds everybody's.

use search::{IndexProgress, SourceFile, SourceKind, SyncReport};

use crate::context::Visible;
use crate::search::index::{Answer, failed, folder, memory, open, sources};
use crate::{Context, Error};

/// The part of the index that a caller may see, at one moment.
pub(crate) struct Share {
    /// What is not indexed yet.
    pub(crate) pending: IndexProgress,
    chunks: u64,
    sessions: u64,
}

impl Share {
    /// The caller's part; `None` where that is all.
    pub(crate) fn of(context: &Context) -> Result<Option<Self>, Error> {
        let found = catalog::discover(&context.config().places());
        let memory = memory(context);
        let Some(visible) = context.visible(&found, &memory)? else { return Ok(None) };
        let pending = pending(context, &sources(&found, &memory), Some(&visible))?;
        let is_own = |kind: SourceKind, name: &_| visible.names(kind).contains(name);
        let counts = match open(context)? {
            Some(searcher) => searcher.counts(is_own).map_err(|error| failed(&error))?,
            None => Vec::new(),
        };
        Ok(Some(Self {
            pending,
            chunks: counts.iter().map(|count| count.chunks).sum(),
            sessions: (visible.sessions.len() + visible.conversations.len()) as u64,
        }))
    }

    /// What a pass did since `before`. Figures that cannot be divided among sessions are 0.
    pub(crate) fn answer(&self, before: &Self, synced: &SyncReport) -> Answer {
        Answer {
            files: before.pending.files.saturating_sub(self.pending.files),
            bytes: before.pending.bytes.saturating_sub(self.pending.bytes),
            chunks: self.chunks.saturating_sub(before.chunks),
            pending_files: self.pending.files,
            pending_bytes: self.pending.bytes,
            busy: synced.busy,
            sessions: self.sessions,
            ..Answer::default()
        }
    }
}

/// What the index does not hold yet of these files, as far as the caller may see them.
pub(crate) fn pending(
    context: &Context,
    sources: &[SourceFile],
    visible: Option<&Visible>,
) -> Result<IndexProgress, Error> {
    let is_own = |source: &&SourceFile| {
        visible.is_none_or(|visible| {
            source.session.as_ref().is_some_and(|id| visible.names(source.kind).contains(id))
        })
    };
    let own: Vec<SourceFile> = sources.iter().filter(is_own).cloned().collect();
    search::pending(&folder(context), &own).map_err(|error| failed(&error))
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
