//! The index as a question needs it: as fresh as the time for it allows.

use std::time::Duration;

use catalog::Discovery;
use openclaw::Memory;
use search::{IndexProgress, Searcher, SourceFile, SyncReport};
use system::join;

use crate::search::index::repair::set_aside_if_damaged;
use crate::search::index::{failed, folder, open, sources};
use crate::search::time_limit::TimeLimit;
use crate::{Context, Error};

/// The transcripts, and the index as it is, which is opened while they are looked for.
pub(crate) fn find(context: &Context) -> (Discovery, Option<Searcher>) {
    join(|| catalog::discover(&context.config().places()), || open(context).ok().flatten())
}

/// The index, brought up to date.
pub(crate) struct Refreshed {
    /// What bringing it up to date did.
    pub(crate) synced: Result<SyncReport, Error>,
    /// It, open; `None` when there is none.
    pub(crate) searcher: Result<Option<Searcher>, Error>,
}

/// Brings the index up to date; where nothing is new it is the one that was opened before.
pub(crate) fn refreshed(
    context: &Context,
    opened: Option<Searcher>,
    found: &Discovery,
    memory: &Memory,
) -> Refreshed {
    let remembered: Vec<SourceFile> = memory.agents.iter().flat_map(search::source_files).collect();
    let now = found.fingerprint().wrapping_add(search::fingerprint_of(&remembered));
    if let Some(searcher) = opened.filter(|index| index.is_fresh(now).unwrap_or(false)) {
        let synced = Ok(SyncReport::default());
        return Refreshed { synced, searcher: Ok(Some(searcher)) };
    }
    let limit = TimeLimit::of_search(context);
    let mut keep_going = |progress: &IndexProgress| limit.should_continue(progress);
    let sources = sources(found, memory);
    let mut synced = search::sync(&folder(context), &sources, &mut keep_going);
    if synced.as_ref().is_err_and(|error| set_aside_if_damaged(context, error)) {
        synced = search::sync(&folder(context), &sources, &mut keep_going);
    }
    let mut opened = Searcher::open(&folder(context));
    if opened.as_ref().is_err_and(|error| set_aside_if_damaged(context, error)) {
        synced = search::sync(&folder(context), &sources, &mut keep_going);
        opened = Searcher::open(&folder(context));
    }
    let mut synced = synced.map_err(|error| failed(&error));
    let mut searcher = opened.map_err(|error| failed(&error));
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
    Refreshed { synced, searcher }
}

#[expect(clippy::disallowed_methods, reason = "another process tells nobody when it has written")]
fn pause() {
    std::thread::sleep(Duration::from_millis(50));
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
