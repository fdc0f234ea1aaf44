//! What one session did to a file, or whether it made a commit.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::Session;
use transcript::{FileEdit, HistoryEventKind, TextChange, each_history_event, edit_log, preview, read_edit};

use super::answer::BlameSign;

/// The file, line or commit that is looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct BlameTarget {
    /// The end of the file's path.
    pub(super) file: Option<PathBuf>,
    /// The root of the file's repository, where it has one here.
    pub(super) repository: Option<PathBuf>,
    /// The text of the line, where it says enough to be found again.
    pub(super) text: Option<String>,
    /// The commit's hash, or the beginning of it.
    pub(super) commit: Option<String>,
}

/// A sign that a session did it.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    pub(super) sign: BlameSign,
    pub(super) line: u64,
    pub(super) at: Option<Timestamp>,
    pub(super) prompt: Option<String>,
    pub(super) edits: u64,
    /// Hashes of the records that show it: a fork's copies have the same.
    pub(super) records: HashSet<u64>,
}

/// A prompt, as far as it is needed.
struct Prompt {
    line: u64,
    at: Option<Timestamp>,
    text: String,
}

/// The best sign that a session did what is looked for, and of equal ones the last.
pub(super) fn trace(session: &Session, wanted: &BlameTarget) -> Option<Trace> {
    let file = session.file.as_deref().filter(|_| wanted.is_repository_of(session))?;
    let mut asked: Vec<Prompt> = Vec::new();
    let (mut committed, mut changed): (Option<Trace>, Option<Trace>) = (None, None);
    // A session that goes while it is read has shown what was read of it.
    let _ = each_history_event(file, |event| match event.what {
        HistoryEventKind::Prompt(text) => {
            asked.push(Prompt { line: event.line, at: event.at, text: preview(&text) });
        }
        HistoryEventKind::Commit { hash, .. } if wanted.is_commit(&hash) => {
            note(&mut committed, BlameSign::MadeCommit, event.line, event.at, event.record);
        }
        HistoryEventKind::Changed(path) if wanted.is_file(&path) => {
            note(&mut changed, BlameSign::ChangedFile, event.line, event.at, event.record);
        }
        _ => {}
    });
    for agent in session.subagents.iter().filter(|agent| agent.file != file) {
        let _ = each_history_event(&agent.file, |event| {
            if let HistoryEventKind::Changed(path) = event.what
                && wanted.is_file(&path)
            {
                let line = before(&asked, event.at).map_or(1, |asked| asked.line);
                note(&mut changed, BlameSign::ChangedFile, line, event.at, event.record);
            }
        });
    }
    let written = changed.as_ref().and_then(|changed| wrote_line(file, wanted, &asked, changed));
    let mut best = written.or(committed).or(changed)?;
    best.prompt = before(&asked, best.at).map(|asked| asked.text.clone());
    Some(best)
}

fn note(known: &mut Option<Trace>, sign: BlameSign, line: u64, at: Option<Timestamp>, record: Option<u64>) {
    let trace = known.get_or_insert_with(|| Trace {
        sign,
        line,
        at,
        prompt: None,
        edits: 0,
        records: HashSet::new(),
    });
    trace.edits += u64::from(sign == BlameSign::ChangedFile);
    trace.records.extend(record);
    if at >= trace.at {
        (trace.line, trace.at) = (line, at);
    }
}

/// The last prompt at or before a moment.
fn before(asked: &[Prompt], at: Option<Timestamp>) -> Option<&Prompt> {
    asked.iter().rev().find(|asked| asked.at <= at)
}

/// The last edit that wrote the line, where one did.
fn wrote_line(file: &Path, wanted: &BlameTarget, asked: &[Prompt], changed: &Trace) -> Option<Trace> {
    let text = wanted.text.as_deref()?;
    let log = edit_log(file).ok()?;
    log.edits.iter().rev().find_map(|place| {
        let edit = read_edit(place).ok()??;
        let is_it = wanted.is_file(&edit.path) && writes(&edit, text);
        is_it.then(|| Trace {
            sign: BlameSign::WroteLine,
            line: if place.transcript == file {
                place.line
            } else {
                before(asked, place.at).map_or(1, |asked| asked.line)
            },
            at: place.at,
            ..changed.clone()
        })
    })
}

/// Whether an edit adds a line with this text.
fn writes(edit: &FileEdit, text: &str) -> bool {
    let has = |whole: &str| whole.lines().any(|line| line.trim() == text);
    match &edit.change {
        TextChange::Whole(whole) => {
            has(whole) && !matches!(&edit.before, transcript::FileContent::Text(old) if has(old))
        }
        TextChange::Cell(cell) => has(cell),
        TextChange::Parts(parts) => parts.iter().any(|part| has(&part.new) && !has(&part.old)),
    }
}

impl BlameTarget {
    /// Whether a session may be about the file's repository: the same, or a clone of it elsewhere.
    fn is_repository_of(&self, session: &Session) -> bool {
        let Some(root) = &self.repository else { return true };
        session.repo_path.as_deref().is_some_and(|path| path == root || path.file_name() == root.file_name())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.file.as_deref().is_some_and(|file| path.ends_with(file))
    }

    fn is_commit(&self, hash: &str) -> bool {
        self.commit.as_deref().is_some_and(|commit| commit.starts_with(hash) || hash.starts_with(commit))
    }
}
