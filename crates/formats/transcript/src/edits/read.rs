//! Reads one change of a file: from the tool's own record of its result, else from what it was called with.

use std::io;
use std::path::{Path, PathBuf};

use super::EditPlace;
use crate::json::Raw;
use crate::reader::Reader;
use crate::record::{Block, Record, result_text};
use crate::recorded_path::joined;

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file; absolute, by the directory of the record where the tool was given a part of its path.
    pub path: PathBuf,
    /// What was in it.
    pub before: FileContent,
    /// What was done to it.
    pub change: TextChange,
}

/// What is in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FileContent {
    /// Nobody recorded it.
    #[default]
    Unknown,
    /// There was no such file.
    Absent,
    /// This text.
    Text(String),
}

/// What a tool does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextChange {
    /// The whole file has this text now.
    Whole(String),
    /// Parts of it are replaced, one after the other.
    Parts(Vec<Replacement>),
    /// A cell of a notebook has this text; what surrounds it is not recorded.
    Cell(String),
}

/// A text that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What is replaced.
    pub old: String,
    /// What replaces it.
    pub new: String,
    /// Whether it is replaced wherever it is, not only the first time.
    pub everywhere: bool,
}

/// Reads a change; `None` where its records are gone or say nothing of a file.
pub fn read_edit(place: &EditPlace) -> io::Result<Option<FileEdit>> {
    let mut edit = Draft::default();
    with_record(&place.transcript, place.result_offset, |record| edit.result(record, &place.call.id))?;
    if edit.change.is_none() || edit.path.is_none() {
        with_record(&place.transcript, place.call.offset, |record| edit.call(record, &place.call.id))?;
    }
    if edit.begins_empty()
        && let Some(offset) = place.backups_offset
    {
        with_record(&place.transcript, offset, |record| edit.backups(record))?;
    }
    Ok(edit.finish())
}

fn with_record(file: &Path, offset: u64, take: impl FnOnce(&Record<'_>)) -> io::Result<()> {
    let mut reader = Reader::open_at(file, offset, 0)?;
    if let Some(line) = reader.next_line()?
        && let Ok(record) = line.record()
    {
        // From 2.1.12 to 2.1.76 a sub-agent's records are inside records of progress, too.
        match record.agent_progress() {
            Some((_, inner)) => take(&inner),
            None => take(&record),
        }
    }
    Ok(())
}

/// A change of which not all is read.
#[derive(Debug, Default)]
struct Draft {
    path: Option<PathBuf>,
    before: FileContent,
    change: Option<TextChange>,
    /// Where the tool was called: a backup is named from there.
    directory: PathBuf,
    /// Whether the tool's answer says that there was no such file.
    is_created: bool,
    /// Whether there was a file to back up.
    is_backed_up: bool,
}

impl Draft {
    /// Takes what the tool's own record of its result says; older sub-agents' have none.
    fn result(&mut self, record: &Record<'_>, id: &str) {
        let kept = record.tool_use_result();
        let answer = answer(record, id);
        self.is_created = kept.get("type").is("create") || answer.starts_with("File created");
        let text = |name: &str| kept.get(name).text().map(std::borrow::Cow::into_owned);
        self.place(record, kept, ["filePath", "notebook_path"]);
        let original = ["originalFile", "originalFileContents", "original_file"].into_iter().find_map(text);
        self.change = if let Some(whole) = text("updated_file") {
            Some(TextChange::Whole(whole))
        } else if let Some(old) = text("oldString") {
            let everywhere = kept.get("replaceAll").is_true();
            Some(TextChange::Parts(vec![Replacement {
                old,
                new: text("newString").unwrap_or_default(),
                everywhere,
            }]))
        } else if kept.get("edits").is_array() {
            Some(TextChange::Parts(replacements(kept)))
        } else {
            text("content").map(TextChange::Whole)
        };
        self.before = match original {
            Some(text) => FileContent::Text(text),
            None => FileContent::Unknown,
        };
    }

    /// Takes what the tool was called with.
    fn call(&mut self, record: &Record<'_>, id: &str) {
        let mut blocks = record.message().into_iter().flat_map(|message| message.each_block());
        let input = blocks.find_map(|block| match block {
            Block::ToolUse { id: called, input, .. } if called == id => Some(input),
            _ => None,
        });
        let Some(input) = input else { return };
        if self.path.is_none() {
            self.place(record, input, ["file_path", "notebook_path"]);
        }
        if self.change.is_none() {
            let text = |name: &str| input.get(name).text().map(std::borrow::Cow::into_owned);
            self.change = if input.get("edits").is_array() || input.get("old_string").is_text() {
                Some(TextChange::Parts(replacements(input)))
            } else {
                text("content").map(TextChange::Whole).or_else(|| text("new_source").map(TextChange::Cell))
            };
        }
    }

    /// Takes from Claude Code's backups whether there was a file.
    fn backups(&mut self, record: &Record<'_>) {
        let path = self.path.as_deref();
        let is_it = |name: &str| path.is_some_and(|path| joined(&self.directory, name) == path);
        self.is_backed_up = record.file_backups().any(|(name, existed)| existed && is_it(&name));
    }

    fn place(&mut self, record: &Record<'_>, fields: Raw<'_>, names: [&str; 2]) {
        self.directory = record.cwd().map_or_else(PathBuf::new, |cwd| PathBuf::from(cwd.as_ref()));
        let written = names.into_iter().find_map(|name| fields.get(name).text());
        self.path = written.map(|written| joined(&self.directory, &written));
    }

    /// Whether there was nothing in the file. An empty file and none are recorded alike.
    fn begins_empty(&self) -> bool {
        let is_filled = match &self.change {
            Some(TextChange::Parts(parts)) => parts.first().is_some_and(|part| part.old.is_empty()),
            Some(TextChange::Whole(_)) => self.is_created,
            Some(TextChange::Cell(_)) | None => false,
        };
        is_filled && !matches!(&self.before, FileContent::Text(text) if !text.is_empty())
    }

    fn finish(self) -> Option<FileEdit> {
        let before = match self.begins_empty() {
            true if self.is_backed_up => FileContent::Text(String::new()),
            true => FileContent::Absent,
            false => self.before,
        };
        Some(FileEdit { path: self.path?, before, change: self.change? })
    }
}

fn answer<'a>(record: &Record<'a>, id: &str) -> std::borrow::Cow<'a, str> {
    let mut blocks = record.message().into_iter().flat_map(|message| message.each_block());
    let content = blocks.find_map(|block| match block {
        Block::ToolResult { id: answered, content, .. } if answered == id => Some(content),
        _ => None,
    });
    content.map(result_text).unwrap_or_default()
}

/// The replacements of a call: its list, or the one that it is.
fn replacements(fields: Raw<'_>) -> Vec<Replacement> {
    let listed: Vec<Raw<'_>> = fields.get("edits").elements().collect();
    let all = if listed.is_empty() { vec![fields] } else { listed };
    let text = |edit: Raw<'_>, name: &str| edit.get(name).text().unwrap_or_default().into_owned();
    all.into_iter()
        .map(|edit| Replacement {
            old: text(edit, "old_string"),
            new: text(edit, "new_string"),
            everywhere: edit.get("replace_all").is_true(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::edits::edit_log;

    /// What was in a file before an edit that found nothing to replace, with records before it.
    fn before(records: &[Value]) -> FileContent {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        let input = json!({"file_path": "/w/src/a", "old_string": "", "new_string": "x\n"});
        let call = json!({"type": "tool_use", "id": "t", "name": "Edit", "input": input});
        let kept = json!({"filePath": "/w/src/a", "oldString": "", "newString": "x\n", "originalFile": ""});
        let edit = [
            json!({"type": "assistant", "cwd": "/w", "message": {"role": "assistant", "content": [call]}}),
            json!({"type": "user", "cwd": "/w", "toolUseResult": kept, "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "The file has been updated."},
            ]}}),
        ];
        let lines: Vec<String> = records.iter().chain(&edit).map(|record| format!("{record}\n")).collect();
        std::fs::write(&file, lines.concat()).unwrap();
        read_edit(&edit_log(&file).unwrap().edits[0]).unwrap().unwrap().before
    }

    #[test]
    fn a_backup_tells_an_empty_file_from_none() {
        let backup = |path: &str, name: Value| {
            let backups = json!({path: {"backupFileName": name, "version": 1}});
            json!({"type": "file-history-snapshot", "isSnapshotUpdate": true, "snapshot": {"trackedFileBackups": backups}})
        };
        let empty = FileContent::Text(String::new());
        assert_eq!(before(&[]), FileContent::Absent);
        assert_eq!(before(&[backup("src/a", Value::Null)]), FileContent::Absent);
        assert_eq!(before(&[backup("a", json!("5f@v1"))]), FileContent::Absent);
        assert_eq!(before(&[backup("src/a", json!("5f@v1"))]), empty);
        assert_eq!(before(&[backup("/w/src/a", json!("5f@v1"))]), empty);
    }
}
