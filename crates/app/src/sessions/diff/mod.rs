//! `diff`: what a session changed in files, by file and turn, as patches that `git apply` takes.

mod answer;
mod work_tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Session;
use project::{LineCounts, count_lines, patch};
use schemars::JsonSchema;
use serde::Deserialize;
use transcript::{
    EditLog, EditOutcome, EditPlace, FileContent, FileReplay, Replacement, edit_log, read_edit,
};

pub use answer::{Answer, DiffFile, DiffTurn, FileTurn};

use crate::sessions::locate::{Files, Located, locate, only_registered};
use crate::sessions::totals;
use crate::{Context, Error, Kind, Secrets};
use work_tree::WorkTreeRoot;

/// Which session's changes to show, and which of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DiffRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
    /// Only changes of this file: its path, or the end of it.
    pub file: Option<String>,
    /// Only changes of this turn, counted from 1.
    #[schemars(range(min = 1))]
    pub turn: Option<usize>,
}

/// Reports what a session changed.
pub fn diff(context: &Context, request: &Request) -> Result<Answer, Error> {
    let Located { id, files, session } = locate(context, &request.session)?;
    let Files::Claude(transcript) = files else {
        return Err(Error::new(
            Kind::Unavailable,
            "only Claude Code's own sessions record what they changed",
        ));
    };
    let known = match session {
        Some(session) => Some(*session),
        None => totals::find(context, &id)?,
    };
    let mut session = known.ok_or_else(|| only_registered(&id))?;
    let log = edit_log(&transcript).map_err(|error| unreadable(&transcript, &error))?;
    check_turn(request, &log)?;
    let mut changes = ChangeCollector { context, request, files: BTreeMap::new() };
    for place in &log.edits {
        context.check_cancelled()?;
        changes.take(place).map_err(|error| unreadable(&place.transcript, &error))?;
    }
    let mut answer = changes.answer(&session, &log);
    context.redact_session(&mut session);
    answer.title = session.title.map(|title| title.to_string());
    if let Some(file) = request.file.as_deref().filter(|_| answer.files.is_empty()) {
        let message = format!("session {} changed no file `{file}`{}", id.short(), in_turn(request));
        return Err(
            Error::new(Kind::NotFound, message).hint("without a file, `--stat` lists all that it changed")
        );
    }
    Ok(answer)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), error)
}

fn in_turn(request: &Request) -> String {
    request.turn.map_or_else(String::new, |turn| format!(" in turn {turn}"))
}

fn check_turn(request: &Request, log: &EditLog) -> Result<(), Error> {
    let turns = log.turns.len();
    if request.turn.is_some_and(|turn| turn == 0 || turn > turns) {
        let message =
            format!("there is no turn {}; the session has {turns}", request.turn.unwrap_or_default());
        return Err(Error::new(Kind::NotFound, message));
    }
    Ok(())
}

/// The changes of one file.
#[derive(Default)]
struct FileChanges {
    replay: FileReplay,
    turns: Vec<FileTurn>,
}

/// Collects a session's changes by file.
struct ChangeCollector<'a> {
    context: &'a Context,
    request: &'a Request,
    files: BTreeMap<PathBuf, FileChanges>,
}

impl ChangeCollector<'_> {
    fn take(&mut self, place: &EditPlace) -> std::io::Result<()> {
        let Some(edit) = read_edit(place)? else { return Ok(()) };
        if !self.is_of_file(&edit.path) {
            return Ok(());
        }
        let is_chosen = self.request.turn.is_none_or(|turn| turn == place.turn);
        let file = self.files.entry(edit.path.clone()).or_default();
        let counts = match file.replay.apply(&edit, is_chosen) {
            EditOutcome::Replayed(before, after) => {
                count_lines(text(&before).unwrap_or_default(), text(&after).unwrap_or_default())
            }
            EditOutcome::Fragment(parts) => sum(parts.iter().map(|part| count_lines(&part.old, &part.new))),
        };
        if !is_chosen {
            return Ok(());
        }
        // The edits of one turn are one line of the list.
        match file.turns.last_mut().filter(|last| last.turn == place.turn && last.subagent == place.subagent)
        {
            Some(last) => {
                last.edits += 1;
                last.added += counts.added;
                last.removed += counts.removed;
            }
            None => file.turns.push(FileTurn {
                turn: place.turn,
                line: place.line,
                subagent: place.subagent.clone(),
                edits: 1,
                added: counts.added,
                removed: counts.removed,
            }),
        }
        Ok(())
    }

    fn is_of_file(&self, path: &Path) -> bool {
        self.request.file.as_deref().is_none_or(|wanted| {
            let wanted = wanted.strip_prefix("./").unwrap_or(wanted);
            path.ends_with(wanted) || path == self.context.path(wanted)
        })
    }

    fn answer(self, session: &Session, log: &EditLog) -> Answer {
        let changed: Vec<(PathBuf, FileChanges)> =
            self.files.into_iter().filter(|(_, file)| !file.turns.is_empty()).collect();
        let root = WorkTreeRoot::find(session, changed.iter().map(|(path, _)| path.as_path()));
        let files: Vec<DiffFile> =
            changed.into_iter().map(|(path, file)| shown(self.context.secrets, &root, &path, file)).collect();
        let is_named =
            |number: usize| files.iter().any(|file| file.turns.iter().any(|turn| turn.turn == number));
        let turns = (1..).zip(&log.turns).filter(|(number, _)| is_named(*number));
        let turns = turns.map(|(number, turn)| DiffTurn {
            turn: number,
            line: turn.line,
            at: turn.at,
            prompt: self.context.secrets.redacted_beginning(turn.text.clone()),
        });
        Answer {
            session_id: session.id.clone(),
            title: None,
            root: root.path().to_owned(),
            turns: turns.collect(),
            added: files.iter().map(|file| file.added).sum(),
            removed: files.iter().map(|file| file.removed).sum(),
            files,
            shell_commands: log.shell_commands,
            too_long_lines: log.too_long_lines,
        }
    }
}

/// A file's changes, redacted.
fn shown(secrets: Secrets, root: &WorkTreeRoot, path: &Path, file: FileChanges) -> DiffFile {
    let relative = root.relative(path);
    let name = secrets.redacted(relative.unwrap_or(path).to_string_lossy());
    let (before, after) = file.replay.chosen().cloned().unwrap_or_default();
    let (before, after) = (text(&before), text(&after));
    let mut is_redacted = false;
    let mut leaving = |text: Option<&str>| {
        text.map(|text| {
            let leaving = secrets.redacted(text.into());
            is_redacted |= leaving != text;
            leaving
        })
    };
    let counts = count_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let (old, new) = (leaving(before), leaving(after));
    let unplaced = file.replay.fragments();
    let fragments: Vec<String> =
        unplaced.iter().map(|part| secrets.redacted(fragment(part).into())).collect();
    let loose = sum(unplaced.iter().map(|part| count_lines(&part.old, &part.new)));
    let patch_text = patch(name.trim_start_matches('/'), old.as_deref(), new.as_deref());
    DiffFile {
        path: name,
        is_outside: relative.is_none(),
        is_new: before.is_none() && after.is_some(),
        added: counts.added + loose.added,
        removed: counts.removed + loose.removed,
        turns: file.turns,
        patch: patch_text,
        fragments,
        taken_over: file.replay.taken_over(),
        is_redacted,
    }
}

fn text(content: &FileContent) -> Option<&str> {
    match content {
        FileContent::Text(text) => Some(text),
        FileContent::Unknown | FileContent::Absent => None,
    }
}

fn sum(all: impl Iterator<Item = LineCounts>) -> LineCounts {
    all.fold(LineCounts::default(), |sum, one| LineCounts {
        added: sum.added + one.added,
        removed: sum.removed + one.removed,
    })
}

/// The lines that a change takes away and adds, wherever in the file they are.
fn fragment(part: &Replacement) -> String {
    let patch = patch("", Some(&part.old), Some(&part.new));
    patch.lines().skip(3).filter(|line| !line.starts_with("@@") && !line.starts_with('\\')).fold(
        String::new(),
        |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        },
    )
}
