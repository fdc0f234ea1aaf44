//! Caches the files of the last search, and the index that it opened, for callers that search at every key press, and the
//! files of one request: listing thousands of folders takes longer than the rest of an answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use catalog::Discovery;
use jiff::{SignedDuration, Timestamp};
use openclaw::Memory;
use search::{Searcher, SyncReport};

use crate::Context;

/// The cached files of the last search; one for all requests to an [`App`](crate::App).
#[derive(Debug, Clone, Default)]
pub struct RecentFiles(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    last: Mutex<Option<IndexedFiles>>,
    searcher: Mutex<Option<Searcher>>,
    is_being_renewed: AtomicBool,
}

/// Every file that can be searched, as it was at one time.
#[derive(Debug)]
pub(crate) struct FoundFiles {
    /// When they were looked for.
    pub(crate) at: Timestamp,
    /// Where they were looked for: Claude Code's folders and OpenClaw's.
    pub(crate) folders: Vec<PathBuf>,
    /// Claude Code's.
    pub(crate) transcripts: Arc<Discovery>,
    /// OpenClaw's.
    pub(crate) memory: Memory,
}

/// Files, and what bringing the index up to date with them did.
#[derive(Debug, Clone)]
pub(crate) struct IndexedFiles {
    pub(crate) files: Arc<FoundFiles>,
    pub(crate) synced: SyncReport,
}

/// The transcripts as a request found them first; nothing for a request that looks again each time.
#[derive(Debug, Clone, Default)]
pub struct RequestFiles(Option<Arc<OnceLock<Arc<Discovery>>>>);

impl RecentFiles {
    /// The last ones, if they are of these folders and no older.
    pub(crate) fn get(
        &self,
        folders: &[PathBuf],
        now: Timestamp,
        max_age: SignedDuration,
    ) -> Option<IndexedFiles> {
        // A clock that was set back must not keep them for ever.
        let is_young = |last: &&IndexedFiles| now.duration_since(last.files.at).abs() <= max_age;
        let last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|last| last.files.folders == folders).filter(is_young).cloned()
    }

    /// Caches files for the next search.
    pub(crate) fn keep(&self, files: IndexedFiles) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
    }

    /// The open index of the last search, unless another search uses it; `None` where it was written since.
    pub(crate) fn take_searcher(&self) -> Option<Searcher> {
        let searcher = self.0.searcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        searcher.filter(Searcher::is_unchanged)
    }

    /// Caches an open index for the next search, unless another one was opened since.
    pub(crate) fn keep_searcher(&self, searcher: Searcher) {
        let mut kept = self.0.searcher.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| searcher.is_same(kept)) {
            *kept = Some(searcher);
        }
    }

    /// Caches the index that was opened last, unless the one that is cached, which holds parts of its last answer, is the same.
    pub(crate) fn renew_searcher(&self, renewed: Searcher) {
        let mut kept = self.0.searcher.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| !kept.is_same(&renewed)) {
            *kept = Some(renewed);
        }
    }

    /// Finds them again on a thread of its own, unless one does already. What fails is reported to whoever asks when
    /// the last ones are too old.
    pub(crate) fn renew(&self, find: impl FnOnce() -> Option<IndexedFiles> + Send + 'static) {
        if self.0.is_being_renewed.swap(true, Ordering::AcqRel) {
            return;
        }
        let renewal = Renewal(self.clone());
        // Where no thread can be started, the closure is dropped, and with it the mark.
        let _ = std::thread::Builder::new().name("renewal".to_owned()).spawn(move || {
            if let Some(files) = find() {
                renewal.0.keep(files);
            }
        });
    }

    /// Whether the files are being listed again.
    #[cfg(test)]
    pub(crate) fn is_being_renewed(&self) -> bool {
        self.0.is_being_renewed.load(Ordering::Acquire)
    }
}

impl Context {
    /// Where files are looked for.
    pub(crate) fn searched_folders(&self) -> Vec<PathBuf> {
        let config = self.config();
        config.claude_folders.iter().chain(&config.openclaw_folders).cloned().collect()
    }

    /// The files of the last search, where the caller may have those.
    pub(crate) fn recent_files(&self) -> Option<IndexedFiles> {
        let recent = || self.app.recent_files.get(&self.searched_folders(), self.now, self.max_age);
        if self.asks_at_every_key() { recent() } else { None }
    }

    /// The same request, which looks for transcripts once: for requests that change none.
    pub(crate) fn looking_once(&self) -> Self {
        let files = self.files.0.clone().unwrap_or_default();
        Self { files: RequestFiles(Some(files)), ..self.clone() }
    }

    /// Claude Code's transcripts: those of the last search where the caller may have those, else the current ones.
    pub(crate) fn transcripts(&self) -> Arc<Discovery> {
        let recent = self.recent_files().map(|recent| recent.files.transcripts.clone());
        recent.unwrap_or_else(|| self.current_transcripts())
    }

    /// Claude Code's transcripts as they are now, or were when the request looked for them.
    pub(crate) fn current_transcripts(&self) -> Arc<Discovery> {
        let find = || Arc::new(catalog::discover(&self.config().places()));
        match &self.files.0 {
            Some(files) => files.get_or_init(find).clone(),
            None => find(),
        }
    }
}

/// A renewal in progress; dropping it allows the next one.
struct Renewal(RecentFiles);

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.0.is_being_renewed.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_looks_once_keeps_what_it_found_until_it_is_made_again() {
        let scratch = tempfile::tempdir().unwrap();
        let project = scratch.path().join(".claude/projects/-p");
        std::fs::create_dir_all(&project).unwrap();
        let config = crate::Config {
            home: scratch.path().to_owned(),
            claude_folders: vec![scratch.path().join(".claude")],
            ..crate::Config::default()
        };
        let each_time = crate::testing::context(config);
        let once = each_time.looking_once();
        let found = |context: &Context| context.transcripts().sessions.len();
        assert_eq!((found(&each_time), found(&once)), (0, 0));
        std::fs::write(project.join("s1.jsonl"), "{}\n").unwrap();
        assert_eq!((found(&each_time), found(&once), found(&once.looking_once())), (1, 0, 0));
        assert_eq!(found(&once.refreshed()), 1);
    }
}
