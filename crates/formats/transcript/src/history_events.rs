//! The main events of a session: the person's prompts, the files that were changed and the commits that were made,
//! each with its line.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::commit_command::{hash_in, may_commit, subject_of};
use crate::edits::WRITERS;
use crate::json::Raw;
use crate::message::{Message, Part, Role};
use crate::queue::UnsentPrompts;
use crate::reader::Reader;
use crate::speech::is_housekeeping;
use crate::walk::subagents_of;
use crate::work_log::{commits_in, works_on_repository};

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEvent {
    /// The line that records it, from 1.
    pub line: u64,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// A hash of the record's id: a fork's copy has the same.
    pub record: Option<u64>,
    /// What happened.
    pub what: HistoryEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryEventKind {
    /// A prompt of the person; empty for a picture alone.
    Prompt(String),
    /// The person answered questions, each as a question and its answer in a line.
    Answered(String),
    /// The person approved a plan.
    Approved(String),
    /// A tool changed a file.
    Changed(PathBuf),
    /// Git reported a commit.
    Commit {
        /// The beginning of its hash.
        hash: String,
        /// The subject.
        subject: String,
    },
    /// A commit was made by a command that printed nothing of it; this is the subject that the command gave it.
    UnreportedCommit(String),
    /// Anything else that a person would read, or that a tool answered.
    Other,
}

/// Calls `take` for each event in a transcript or a sub-agent's file, in order; what cannot be read is skipped. Returns
/// how many lines were too long to be read.
///
/// Prompts in a sub-agent's file are left out: no person wrote them.
pub fn each_history_event(file: &Path, mut take: impl FnMut(HistoryEvent)) -> io::Result<u64> {
    let takes_progress = subagents_of(file).is_empty();
    let unsent = UnsentPrompts::read(file)?;
    let mut reader = Reader::open(file)?;
    let mut open: HashMap<String, (u64, PathBuf)> = HashMap::new();
    let mut plans: HashMap<String, String> = HashMap::new();
    // Calls whose output says nothing of this repository.
    let mut elsewhere: HashSet<String> = HashSet::new();
    // The subjects that calls give to commits.
    let mut committed: HashMap<String, String> = HashMap::new();
    let mut last = None;
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        // From 2.1.12 to 2.1.76 a sub-agent's records are inside records of progress, too.
        let inner = record.agent_progress().filter(|_| takes_progress).map(|(_, inner)| inner);
        let is_inner = inner.is_some();
        let record = inner.unwrap_or(record);
        let Some(message) = unsent.message(&record, line.offset) else { continue };
        last = message.at.or(last);
        let id = record.uuid().map(|uuid| xxh3_64(uuid.as_bytes()));
        let mut say = |line, what| take(HistoryEvent { line, at: last, record: id, what });
        let prompt = prompt(&message).filter(|_| !is_inner);
        if prompt.is_none() {
            say(line.number, HistoryEventKind::Other);
        }
        for part in &message.parts {
            match part {
                Part::ToolUse { id, name, input } if WRITERS.contains(name) => {
                    let path = input.get("file_path").text().or_else(|| input.get("notebook_path").text());
                    let Some(path) = path else { continue };
                    open.insert((*id).to_owned(), (line.number, record.path_of(&path)));
                }
                Part::ToolUse { id, name: "Bash", input } => {
                    let command = input.get("command").text().unwrap_or_default();
                    let directory = record.cwd().map_or_else(PathBuf::new, |cwd| PathBuf::from(cwd.as_ref()));
                    if !works_on_repository(&command, &directory) {
                        elsewhere.insert((*id).to_owned());
                    } else if let Some(subject) = subject_of(&command) {
                        committed.insert((*id).to_owned(), subject.to_owned());
                    }
                }
                Part::ToolUse { id, name, input } if PLANNERS.contains(name) => {
                    let plan = input.get("plan").text().unwrap_or_default();
                    plans.insert((*id).to_owned(), plan.into_owned());
                }
                Part::ToolResult { id, is_error, kept, .. } => {
                    if let Some((called, path)) = open.remove(*id).filter(|_| !is_error) {
                        say(called, HistoryEventKind::Changed(path));
                    }
                    if let Some(plan) = plans.remove(*id).filter(|_| !is_error) {
                        say(line.number, HistoryEventKind::Approved(plan));
                    }
                    if let Some(answers) = answers(*kept).filter(|_| !is_error) {
                        say(line.number, HistoryEventKind::Answered(answers));
                    }
                    if elsewhere.remove(*id) {
                        continue;
                    }
                    let output = kept.get("stdout").text().unwrap_or_default();
                    let mut unreported = committed.remove(*id).filter(|_| !is_error && may_commit(&output));
                    for (hash, subject) in commits_in(&output) {
                        unreported = None;
                        let (hash, subject) = (hash.to_owned(), subject.to_owned());
                        say(line.number, HistoryEventKind::Commit { hash, subject });
                    }
                    if let Some(subject) = unreported {
                        let what = match hash_in(&output, &subject) {
                            Some(hash) => HistoryEventKind::Commit { hash: hash.to_owned(), subject },
                            None => HistoryEventKind::UnreportedCommit(subject),
                        };
                        say(line.number, what);
                    }
                }
                _ => {}
            }
        }
        // The results in a message came before what was said in it.
        if let Some(prompt) = prompt {
            say(line.number, prompt);
        }
    }
    Ok(reader.too_long())
}

/// The tools that ask whether a plan is to be carried out.
const PLANNERS: [&str; 2] = ["ExitPlanMode", "exit_plan_mode"];

/// What the person answered, where a tool asked them.
fn answers(result: Raw<'_>) -> Option<String> {
    if !result.get("questions").is_array() {
        return None;
    }
    let answers = result.get("answers");
    let answers: Vec<String> = answers
        .entries()
        .filter_map(|(question, answer)| Some(format!("{question} {}", answer.text()?)))
        .collect();
    (!answers.is_empty()).then(|| answers.join("\n"))
}

/// The person's prompt, unless it was for the terminal alone.
fn prompt(message: &Message<'_>) -> Option<HistoryEventKind> {
    if message.role != Role::User || message.sidechain {
        return None;
    }
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if is_housekeeping(&text) {
        return None;
    }
    Some(HistoryEventKind::Prompt(text))
}
