//! Reads what happened in sessions, from the archive's copy where a transcript cannot be read, and says what could not
//! be read.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use transcript::{ArchivedFolder, HistoryEvent, ReadProblem, each_history_event};

use crate::Context;
use crate::retention::archive;

/// The files that could not be read for an answer.
#[derive(Debug, Default)]
pub(crate) struct UnreadableFiles {
    /// Those of which the archive's copy was read.
    copied: BTreeSet<PathBuf>,
    /// Those of which nothing is in the answer, or not all.
    unread: BTreeSet<PathBuf>,
}

impl UnreadableFiles {
    /// Calls `take` for each event of a transcript.
    pub(crate) fn each_event(&mut self, context: &Context, file: &Path, mut take: impl FnMut(HistoryEvent)) {
        let mut has_any = false;
        let read = each_history_event(file, |event| {
            has_any = true;
            take(event);
        });
        match read {
            Err(error) if error.kind() != ErrorKind::NotFound => {}
            // A session that goes while it is read has shown what was read of it.
            _ => return,
        }
        let copy = copy_of(context, file).filter(|_| !has_any);
        let is_copied = copy.is_some_and(|copy| each_history_event(&copy, take).is_ok());
        let files = if is_copied { &mut self.copied } else { &mut self.unread };
        files.insert(file.to_owned());
    }

    /// Adds what could not be read when the sessions were listed.
    pub(crate) fn add_problems(&mut self, problems: Vec<ReadProblem>) {
        let unread = problems.into_iter().filter(|problem| problem.is_unreadable);
        self.unread.extend(unread.map(|problem| problem.path));
    }

    /// Adds those of another reading.
    pub(crate) fn add(&mut self, more: Self) {
        self.copied.extend(more.copied);
        self.unread.extend(more.unread);
    }

    /// What is to be said of them, in sentences.
    pub(crate) fn notes(&self, context: &Context) -> Vec<String> {
        let listed = |files: &BTreeSet<PathBuf>, said: &str| {
            let first = files.first()?.display().to_string();
            let first = context.secrets.redacted(first.into());
            let is_session = |file: &PathBuf| file.extension().is_some_and(|end| end == "jsonl");
            let what = if files.iter().all(is_session) { "session" } else { "file or folder" };
            Some(match files.len() {
                1 => format!("1 {what} {said}: {first}"),
                count => {
                    let what = if what == "session" { "sessions" } else { "files and folders" };
                    format!("{count} {what} {said}: {first} and {} more", count - 1)
                }
            })
        };
        let unread = listed(&self.unread, "could not be read");
        let copied = listed(&self.copied, "could be read in the archive only");
        unread.into_iter().chain(copied).collect()
    }
}

fn copy_of(context: &Context, file: &Path) -> Option<PathBuf> {
    ArchivedFolder::all(&archive::folder(context)).iter().find_map(|folder| folder.copy_of(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn what_could_not_be_read_is_named() {
        let check = |files: &[&str], expected: &[&str]| {
            let unread = files.iter().map(PathBuf::from).collect();
            let found = UnreadableFiles { unread, ..UnreadableFiles::default() };
            assert_eq!(found.notes(&crate::testing::context(Config::default())), expected);
        };
        check(&[], &[]);
        check(&["/p/s1.jsonl"], &["1 session could not be read: /p/s1.jsonl"]);
        check(&["/p/s1.jsonl", "/p/s2.jsonl"], &["2 sessions could not be read: /p/s1.jsonl and 1 more"]);
        check(&["/p"], &["1 file or folder could not be read: /p"]);
        check(&["/p", "/q/s1.jsonl"], &["2 files and folders could not be read: /p and 1 more"]);
    }

    #[test]
    fn a_transcript_that_cannot_be_read_is_read_in_the_archive() {
        let scratch = tempfile::tempdir().unwrap();
        let state = scratch.path().canonicalize().unwrap();
        let folder = transcript::ConfigFolder::new(state.join("claude"));
        let file = folder.projects().join("-p/s1.jsonl");
        let record = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Paint it"}}"#;
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("{record}\n")).unwrap();
        let context = crate::testing::context(Config { state: state.clone(), ..Config::default() });
        let read = |file: &Path| {
            let (mut found, mut events) = (UnreadableFiles::default(), 0);
            found.each_event(&context, file, |_| events += 1);
            (events, found.notes(&context))
        };
        assert_eq!(read(&file), (1, Vec::new()));
        assert_eq!(read(&state.join("gone.jsonl")), (0, Vec::new()));
        let rules = ::archive::Rules { threads: 1, ..::archive::Rules::default() };
        ::archive::pass(&archive::folder(&context), &[folder], &rules, context.now, &|| true).unwrap();
        // A link is never read.
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(state.join("elsewhere"), &file).unwrap();
        let note = format!("1 session could be read in the archive only: {}", file.display());
        assert_eq!(read(&file), (1, vec![note]));
        std::fs::remove_dir_all(archive::folder(&context)).unwrap();
        let note = format!("1 session could not be read: {}", file.display());
        assert_eq!(read(&file), (0, vec![note]));
    }
}
