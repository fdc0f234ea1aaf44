//! The changes that a session's tools made to files, its sub-agents' among them, in the order in which they were made.
//!
//! [`edit_log`] finds them and keeps only where they are; [`read_edit`] reads one again, because a record may hold a
//! whole file. What shell commands changed is not recorded: they are counted.

mod read;
mod replay;
mod shell;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::message::{Message, Part, Role, message};
use crate::reader::Reader;
use crate::record::{Record, RecordKind};
use crate::speech::is_housekeeping;
use crate::text::preview;
use crate::walk::subagents_of;

pub use read::{FileContent, FileEdit, Replacement, TextChange, read_edit};
pub use replay::{EditOutcome, FileReplay};
pub use shell::may_change_files;

/// The tools that change files.
pub(crate) const WRITERS: [&str; 5] = ["Edit", "MultiEdit", "Write", "NotebookEdit", "Update"];

/// What a session did to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditLog {
    /// The changes that succeeded, in order of time.
    pub edits: Vec<EditPlace>,
    /// What the person asked, in order.
    pub turns: Vec<EditTurn>,
    /// The successful shell commands that may have changed files, too.
    pub shell_commands: u64,
    /// How many lines were too long to be read: what they changed is missing.
    pub too_long_lines: u64,
}

/// What a person asked: it begins a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditTurn {
    /// The line of the transcript, from 1.
    pub line: u64,
    /// When it was asked.
    pub at: Option<Timestamp>,
    /// How it begins.
    pub text: String,
}

/// Where a change is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlace {
    /// The file that records it: the transcript, or a sub-agent's.
    pub transcript: PathBuf,
    /// The sub-agent that made it; empty where it has no name.
    pub subagent: Option<String>,
    /// The line of the call in that file, from 1.
    pub line: u64,
    /// When the tool answered.
    pub at: Option<Timestamp>,
    /// The turn, from 1; 0 before the first prompt.
    pub turn: usize,
    call: Call,
    result_offset: u64,
    /// The last record before it of what Claude Code backed up.
    backups_offset: Option<u64>,
}

/// A call whose answer has not come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    id: String,
    name: String,
    line: u64,
    offset: u64,
    may_change_files: bool,
}

/// Finds what a session's tools changed; what cannot be read is skipped.
pub fn edit_log(transcript: &Path) -> io::Result<EditLog> {
    let mut log = EditLog::default();
    let agents = subagents_of(transcript);
    log.add(transcript, None, agents.is_empty())?;
    for agent in agents {
        // A sub-agent's file can go between two looks; the session itself is still worth reading.
        let _ = log.add(&agent.path, Some(&agent.id), false);
    }
    let turns: Vec<Option<Timestamp>> = log.turns.iter().map(|turn| turn.at).collect();
    for edit in log.edits.iter_mut().filter(|edit| edit.transcript != transcript) {
        edit.turn = turns.partition_point(|began| *began <= edit.at);
    }
    log.edits.sort_by_key(|edit| edit.at);
    Ok(log)
}

impl EditLog {
    /// Adds what one file records; with `takes_progress` also what its records of progress do, where sub-agents have no
    /// files of their own.
    fn add(&mut self, file: &Path, subagent: Option<&str>, takes_progress: bool) -> io::Result<()> {
        let mut reader = Reader::open(file)?;
        let (mut open, mut done) = (HashMap::new(), HashSet::new());
        let (mut last, mut backups_offset) = (None, None);
        while let Some(line) = reader.next_line()? {
            let Ok(record) = line.record() else { continue };
            if record.kind() == RecordKind::FileHistory {
                backups_offset = Some(line.offset);
            }
            let inner = record.agent_progress().filter(|_| takes_progress).map(|(_, inner)| inner);
            let is_inner = inner.is_some();
            let record = inner.unwrap_or(record);
            let Some(message) = message(&record) else { continue };
            last = message.at.or(last);
            for part in &message.parts {
                match part {
                    Part::ToolUse { id, name, input } if is_watched(name) => {
                        let command = input.get("command").text().unwrap_or_default();
                        let call = Call {
                            id: (*id).to_owned(),
                            name: (*name).to_owned(),
                            line: line.number,
                            offset: line.offset,
                            may_change_files: may_change_files(&command),
                        };
                        open.insert((*id).to_owned(), call);
                    }
                    Part::ToolResult { id, is_error: false, .. } => {
                        let Some(call) = open.remove(*id) else { continue };
                        if !done.insert(call.id.clone()) {
                            continue;
                        }
                        if call.name == SHELL {
                            self.shell_commands += u64::from(call.may_change_files);
                            continue;
                        }
                        let inline = || (is_inner || message.sidechain).then(String::new);
                        self.edits.push(EditPlace {
                            transcript: file.to_owned(),
                            subagent: subagent.map(ToOwned::to_owned).or_else(inline),
                            line: call.line,
                            at: last,
                            turn: self.turns.len(),
                            call,
                            result_offset: line.offset,
                            backups_offset,
                        });
                    }
                    _ => {}
                }
            }
            // The results in a message came before what was said in it.
            if subagent.is_none() && !is_inner {
                self.turn(&record, &message, line.number);
            }
        }
        self.too_long_lines += reader.too_long();
        Ok(())
    }

    /// Begins a turn where a person asks something.
    fn turn(&mut self, record: &Record<'_>, message: &Message<'_>, line: u64) {
        if message.role != Role::User || message.sidechain || record.is_compact_summary() {
            return;
        }
        let text = message.parts.iter().find_map(|part| match part {
            Part::Text(text) => Some(text.as_ref()),
            _ => None,
        });
        if text.is_some_and(is_housekeeping) {
            return;
        }
        self.turns.push(EditTurn { line, at: message.at, text: preview(text.unwrap_or("(a picture)")) });
    }
}

/// The tool that runs shell commands.
const SHELL: &str = "Bash";

fn is_watched(tool: &str) -> bool {
    tool == SHELL || WRITERS.contains(&tool)
}
