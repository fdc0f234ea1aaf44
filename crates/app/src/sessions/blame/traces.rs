//! What one session did to a file, or whether it made a commit.

use std::collections::HashSet;
use std::path::Path;

use catalog::Locations;
use jiff::Timestamp;
use model::Session;
use transcript::{FileEdit, HistoryEventKind, TextChange, each_history_event, edit_log, preview, read_edit};

use super::answer::BlameSign;
use super::wanted_file::{FileMatcher, WantedFile};

/// The file, line or commit that is looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct BlameTarget {
    /// The file.
    pub(super) file: Option<WantedFile>,
    /// The text of the line, where it says enough to be found again.
    pub(super) text: Option<String>,
    /// The commit's hash, or the beginning of it.
    pub(super) commit: Option<String>,
    /// When the commit that the line is from was made: what was edited later did not write it.
    pub(super) committed: Option<Timestamp>,
}

/// The signs that a session did it.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    signs: Vec<Sign>,
    asked: Vec<Prompt>,
    /// How many lines were too long to be read.
    pub(super) too_long_lines: u64,
}

/// A sign that a session did it.
#[derive(Debug, Clone)]
struct Sign {
    kind: BlameSign,
    line: u64,
    at: Option<Timestamp>,
    /// A hash of the record that shows it: a fork's copy has the same.
    record: Option<u64>,
}

/// The best sign of a session.
#[derive(Debug, Clone)]
pub(super) struct BestSign {
    pub(super) kind: BlameSign,
    pub(super) line: u64,
    pub(super) at: Option<Timestamp>,
    pub(super) prompt: Option<String>,
    pub(super) edits: u64,
}

/// A prompt, as far as it is needed.
#[derive(Debug, Clone)]
struct Prompt {
    line: u64,
    at: Option<Timestamp>,
    text: String,
}

/// A change of the file, and the line of the call in its own file.
struct Change<'a> {
    file: &'a Path,
    called: u64,
    sign: Sign,
}

/// The signs that a session did what is looked for.
pub(super) fn trace(places: &Locations, session: &Session, wanted: &BlameTarget) -> Option<Trace> {
    let is_possible = wanted.file.as_ref().is_none_or(|file| file.may_be_of(session));
    let file = session.file.as_deref().filter(|_| is_possible)?;
    let matcher = wanted.file.as_ref().map(|wanted| FileMatcher::new(places, session, wanted));
    let is_file = |path: &Path| matcher.as_ref().is_some_and(|matcher| matcher.is_it(path));
    let (mut trace, mut changes) = (Trace::default(), Vec::new());
    // A session that goes while it is read has shown what was read of it.
    let too_long = each_history_event(file, |event| match event.what {
        HistoryEventKind::Prompt(text) => {
            trace.asked.push(Prompt { line: event.line, at: event.at, text: preview(&text) });
        }
        HistoryEventKind::Commit { hash, .. } if wanted.is_commit(&hash) => {
            let (line, at, record) = (event.line, event.at, event.record);
            trace.signs.push(Sign { kind: BlameSign::MadeCommit, line, at, record });
        }
        HistoryEventKind::Changed(path) if is_file(&path) => {
            let (line, at, record) = (event.line, event.at, event.record);
            let sign = Sign { kind: BlameSign::ChangedFile, line, at, record };
            changes.push(Change { file, called: line, sign });
        }
        _ => {}
    });
    trace.too_long_lines += too_long.unwrap_or_default();
    for agent in session.subagents.iter().filter(|agent| agent.file != file) {
        let too_long = each_history_event(&agent.file, |event| {
            if let HistoryEventKind::Changed(path) = event.what
                && is_file(&path)
            {
                let line = before(&trace.asked, event.at).map_or(1, |asked| asked.line);
                let sign = Sign { kind: BlameSign::ChangedFile, line, at: event.at, record: event.record };
                changes.push(Change { file: &agent.file, called: event.line, sign });
            }
        });
        trace.too_long_lines += too_long.unwrap_or_default();
    }
    trace.signs.extend(written(file, wanted, &changes, is_file));
    trace.signs.extend(changes.into_iter().map(|change| change.sign));
    Some(trace)
}

impl Trace {
    /// The best sign, and of equal ones the last, among those in records that no other session had before.
    pub(super) fn into_best(self, known: &mut HashSet<u64>) -> Option<BestSign> {
        let Self { signs, asked, .. } = self;
        let is_own = |sign: &&Sign| sign.record.is_none_or(|record| !known.contains(&record));
        let own = || signs.iter().filter(is_own);
        let kind = own().map(|sign| sign.kind).min()?;
        let best = own().filter(|sign| sign.kind == kind).max_by_key(|sign| sign.at)?;
        let edits = own().filter(|sign| sign.kind == BlameSign::ChangedFile).count() as u64;
        let prompt = before(&asked, best.at).map(|asked| asked.text.clone());
        let best = BestSign { kind, line: best.line, at: best.at, prompt, edits };
        known.extend(signs.iter().filter_map(|sign| sign.record));
        Some(best)
    }
}

/// The last prompt at or before a moment.
fn before(asked: &[Prompt], at: Option<Timestamp>) -> Option<&Prompt> {
    asked.iter().rev().find(|asked| asked.at <= at)
}

/// The changes that wrote the line.
fn written(
    file: &Path,
    wanted: &BlameTarget,
    changes: &[Change<'_>],
    is_file: impl Fn(&Path) -> bool,
) -> Vec<Sign> {
    let Some(text) = wanted.text.as_deref().filter(|_| !changes.is_empty()) else { return Vec::new() };
    let Ok(log) = edit_log(file) else { return Vec::new() };
    let writing = log.edits.iter().filter_map(|place| {
        // The folder of a sub-agent's file can be written in two ways.
        let is_it = |change: &&Change<'_>| {
            change.called == place.line && change.file.file_name() == place.transcript.file_name()
        };
        let change = changes.iter().find(is_it).filter(|_| wanted.is_in_time(place.at))?;
        let edit = read_edit(place).ok()??;
        let wrote = is_file(&edit.path) && writes(&edit, text);
        wrote.then(|| Sign { kind: BlameSign::WroteLine, ..change.sign.clone() })
    });
    writing.collect()
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
    fn is_commit(&self, hash: &str) -> bool {
        self.commit.as_deref().is_some_and(|commit| commit.starts_with(hash) || hash.starts_with(commit))
    }

    /// Whether an edit of this moment can be in the commit; git records whole seconds.
    fn is_in_time(&self, edited: Option<Timestamp>) -> bool {
        let (Some(edited), Some(committed)) = (edited, self.committed) else { return true };
        edited.as_second() <= committed.as_second()
    }
}
