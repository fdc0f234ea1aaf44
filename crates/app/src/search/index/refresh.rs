//! The index as a question needs it: as fresh as the time for it allows.

use std::time::Duration;

use std::sync::Arc;

use jiff::SignedDuration;
use search::{IndexProgress, Searcher, SourceFile, SyncReport};
use system::join;

use crate::context::{FoundFiles, IndexedFiles};
use crate::search::index::repair::set_aside_if_damaged;
use crate::search::index::{failed, folder, memory, open, sources};
use crate::search::time_limit::TimeLimit;
use crate::{Cancellation, Context, Error, ProgressSink};

/// How old the list of files becomes before it is renewed behind an answer.
const RENEWED: SignedDuration = SignedDuration::from_secs(3);

/// The files, and the index as it is.
pub(crate) struct Opened {
    /// What can be searched.
    pub(crate) files: Arc<FoundFiles>,
    /// The index, open; `None` when there is none.
    pub(crate) searcher: Option<Searcher>,
    /// What bringing the index up to date with the files did, where they are those of an earlier search.
    synced: Option<SyncReport>,
}

impl Opened {
    /// Whether the files are those of an earlier search.
    pub(crate) fn is_recent(&self) -> bool {
        self.synced.is_some()
    }
}

/// The files, as old as the caller may have them, and the index, which is opened while they are looked for.
pub(crate) fn find(context: &Context) -> Opened {
    let reopened = || context.app.recent_files.take_searcher().or_else(|| open(context).ok().flatten());
    if let Some(IndexedFiles { files, synced }) = context.recent_files()
        && let Some(searcher) = reopened()
    {
        return Opened { files, searcher: Some(searcher), synced: Some(synced) };
    }
    let ((transcripts, searcher), memory) =
        join(|| join(|| context.current_transcripts(), || open(context).ok().flatten()), || memory(context));
    let files = FoundFiles { at: context.now, folders: context.searched_folders(), transcripts, memory };
    Opened { files: Arc::new(files), searcher, synced: None }
}

/// Finds the files again behind an answer, if those of the last search are no longer of this moment.
pub(crate) fn renew_behind(context: &Context) {
    let recent = &context.app.recent_files;
    if recent.get(&context.searched_folders(), context.read_clock(), RENEWED).is_some() {
        return;
    }
    let renewed = Context {
        cancellation: Cancellation::default(),
        progress: ProgressSink::default(),
        max_age: SignedDuration::ZERO,
        ..context.refreshed()
    };
    recent.renew(move || {
        let mut opened = find(&renewed);
        let Refreshed { synced, .. } = refresh(&renewed, &mut opened);
        // The one that was kept says nothing of an index that was discarded and made again.
        if let Some(searcher) = opened.searcher {
            renewed.app.recent_files.renew_searcher(searcher);
        }
        synced.ok().map(|synced| IndexedFiles { files: opened.files, synced })
    });
}

/// What came of bringing the index up to date.
pub(crate) struct Refreshed {
    /// What that did.
    pub(crate) synced: Result<SyncReport, Error>,
    /// Why it cannot be opened.
    pub(crate) opened: Result<(), Error>,
}

/// Brings the index up to date; where nothing is new it stays open as it is.
pub(crate) fn refresh(context: &Context, opened: &mut Opened) -> Refreshed {
    // To sync with files of a moment ago would take out what another process has read in since.
    if let Some(synced) = &opened.synced {
        return Refreshed { synced: Ok(synced.clone()), opened: Ok(()) };
    }
    let FoundFiles { transcripts: found, memory, .. } = &*opened.files;
    let remembered: Vec<SourceFile> = memory.agents.iter().flat_map(search::source_files).collect();
    let now = found.fingerprint().wrapping_add(search::fingerprint_of(&remembered));
    if opened.searcher.as_ref().is_some_and(|index| index.is_fresh(now).unwrap_or(false)) {
        return Refreshed { synced: Ok(SyncReport::default()), opened: Ok(()) };
    }
    opened.searcher = None;
    let limit = TimeLimit::of_search(context);
    let mut keep_going = |progress: &IndexProgress| limit.should_continue(progress);
    let sources = sources(found, memory);
    let mut synced = search::sync(&folder(context), &sources, &mut keep_going);
    if synced.as_ref().is_err_and(|error| set_aside_if_damaged(context, error)) {
        synced = search::sync(&folder(context), &sources, &mut keep_going);
    }
    let mut reopened = Searcher::open(&folder(context));
    if reopened.as_ref().is_err_and(|error| set_aside_if_damaged(context, error)) {
        synced = search::sync(&folder(context), &sources, &mut keep_going);
        reopened = Searcher::open(&folder(context));
    }
    let mut synced = synced.map_err(|error| failed(&error));
    let mut reopened = reopened.map_err(|error| failed(&error));
    // Beside whoever indexes for the first time there is nothing to answer from: it is waited for as long as an answer
    // may take.
    let is_empty = |searcher: &Searcher| searcher.size().chunks == 0;
    while let Ok(SyncReport { busy: true, pending_files, pending_bytes, .. }) = synced
        && reopened.as_ref().is_ok_and(|searcher| searcher.as_ref().is_none_or(is_empty))
        && keep_going(&IndexProgress {
            files: pending_files,
            bytes: pending_bytes,
            ..IndexProgress::default()
        })
    {
        pause();
        synced = search::sync(&folder(context), &sources, &mut keep_going).map_err(|error| failed(&error));
        reopened = open(context);
    }
    Refreshed { synced, opened: reopened.map(|searcher| opened.searcher = searcher) }
}

#[expect(clippy::disallowed_methods, reason = "another process tells nobody when it has written")]
fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

    use super::*;
    use crate::ProgressSink;

    /// Seconds after 1970, for requests to the program of the test below.
    static CLOCK: AtomicI64 = AtomicI64::new(0);

    #[test]
    fn who_asks_at_every_key_is_answered_from_the_files_of_a_moment_ago() {
        let scratch = tempfile::tempdir().unwrap();
        let claude = scratch.path().join(".claude");
        let folder = claude.join("projects/-p");
        fs::create_dir_all(&folder).unwrap();
        let say = |id: &str| {
            let line = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"feed the walrus"}}"#;
            fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
        };
        let mut config = crate::Config {
            home: scratch.path().to_owned(),
            state: scratch.path().join("state"),
            claude_folders: vec![claude],
            ..crate::Config::default()
        };
        config.settings.search.first_budget_seconds = 60;
        config.settings.search.budget_seconds = 60;
        let app = crate::App::clone(&crate::testing::context(config).app);
        let clock = || jiff::Timestamp::from_second(CLOCK.load(Ordering::Relaxed)).unwrap();
        let app = Arc::new(crate::App { clock, ..app });
        let context = || Context::new(app.clone(), "/".into());
        let ask = |query: &str, max_age_seconds: u32| {
            let request =
                crate::search::Request { query: query.to_owned(), max_age_seconds, ..Default::default() };
            crate::search::search(&context(), &request)
        };
        let found = |second: i64, max_age_seconds: u32| {
            CLOCK.store(second, Ordering::Relaxed);
            ask("walrus", max_age_seconds).unwrap().hits.len()
        };
        let wait_for_renewal = || {
            while app.recent_files.is_being_renewed() {
                std::thread::yield_now();
            }
        };
        say("s1");
        assert_eq!(found(0, 10), 1);
        say("s2");
        assert_eq!(found(1, 10), 1, "those of a second ago");
        ask("walrus since:nonsense", 10).unwrap_err();
        app.recent_files.keep_searcher(app.recent_files.take_searcher().expect("the index stays open"));
        assert_eq!(found(1, 0), 2, "whoever does not type gets all");
        assert!(app.recent_files.take_searcher().is_none(), "it was written since");
        say("s3");
        assert_eq!(found(12, 10), 3, "those of before are too old");
        say("s4");
        found(16, 10);
        wait_for_renewal();
        assert_eq!(found(16, 10), 4);
        say("s5");
        search::discard(&super::folder(&context())).unwrap();
        assert_eq!(found(20, 10), 4, "the open index has all that was there");
        wait_for_renewal();
        assert_eq!(found(20, 10), 5, "the one that was made again takes its place");
    }

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
