//! What a transcript holds that the next session needs, each with its line.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use transcript::record::{parse, result_text};
use transcript::{HistoryEventKind, Message, Part, Raw, Reader, Role, each_history_event, message, speech};

use super::sentences::{decides, is_open, sentences};

/// How much an answer of the person and an approved plan weigh among decisions.
const ANSWERED: u32 = 9;
const APPROVED: u32 = 8;

/// A text and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotation {
    /// The line of the transcript, from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

/// What was found in a session, in the order of its lines.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What the person asked.
    pub(super) prompts: Vec<Quotation>,
    /// Sentences that decide something, and how much.
    pub(super) decisions: Vec<(u32, Quotation)>,
    /// How often each file was changed, and the line of the last change.
    pub(super) files: BTreeMap<PathBuf, (u64, u64)>,
    /// Commits: the hash and the subject.
    pub(super) commits: Vec<Quotation>,
    /// Tasks of its own list that are not completed.
    pub(super) tasks: Vec<Quotation>,
    /// Sentences of the last answer that say what is left.
    pub(super) open: Vec<Quotation>,
    /// What failed and was not done again with success.
    pub(super) errors: Vec<Quotation>,
    /// The last thing that the model said.
    pub(super) last_answer: Option<Quotation>,
}

impl Findings {
    /// Reads a transcript; of its sub-agents' files only the changes count.
    pub(super) fn read(file: &Path, subagents: &[PathBuf]) -> io::Result<Self> {
        let mut found = Self::default();
        each_history_event(file, |event| match event.what {
            HistoryEventKind::Prompt(text) if !text.trim().is_empty() => {
                found.prompts.push(Quotation { line: event.line, text });
            }
            HistoryEventKind::Answered(text) => {
                found.chosen(ANSWERED, event.line, format!("The person answered: {text}"));
            }
            HistoryEventKind::Approved(plan) => {
                let heading = plan
                    .lines()
                    .map(|line| line.trim_start_matches('#').trim())
                    .find(|line| !line.is_empty());
                let text = format!("Plan approved: {}", heading.unwrap_or("(without a heading)"));
                found.chosen(APPROVED, event.line, text);
            }
            HistoryEventKind::Changed(path) => found.changed(path, event.line),
            HistoryEventKind::Commit { hash, subject } => {
                // An amended or cherry-picked commit is reported again.
                found.commits.retain(|known| !known.text.starts_with(&hash));
                found.commits.push(Quotation { line: event.line, text: format!("{hash} {subject}") });
            }
            HistoryEventKind::Prompt(_) | HistoryEventKind::Other => {}
        })?;
        for agent in subagents {
            // What the main transcript says of a sub-agent is enough where its own file is gone.
            let _ = each_history_event(agent, |event| {
                if let HistoryEventKind::Changed(path) = event.what {
                    found.changed(path, 0);
                }
            });
        }
        Conversation::default().read(file, &mut found)?;
        Ok(found)
    }

    fn chosen(&mut self, weight: u32, line: u64, text: String) {
        self.decisions.push((weight, Quotation { line, text }));
    }

    fn changed(&mut self, path: PathBuf, line: u64) {
        let (edits, last) = self.files.entry(path).or_default();
        (*edits, *last) = (*edits + 1, line.max(*last));
    }
}

/// What is open while a conversation is read.
#[derive(Debug, Default)]
struct Conversation {
    /// The calls without an answer yet: the tool, and what it works on.
    calls: HashMap<String, Call>,
    /// What failed, by what it worked on.
    failed: Vec<(String, Quotation)>,
    tasks: TaskList,
    last_answer: Option<Quotation>,
}

#[derive(Debug)]
struct Call {
    tool: String,
    /// What it works on: a command, a file.
    subject: String,
}

impl Conversation {
    fn read(mut self, file: &Path, found: &mut Findings) -> io::Result<()> {
        let mut reader = Reader::open(file)?;
        while let Some(line) = reader.next_line()? {
            let Ok(record) = parse(line.bytes) else { continue };
            let Some(message) = message(&record).filter(|message| !message.sidechain) else { continue };
            self.message(&message, line.number, found);
        }
        found.errors = self.failed.into_iter().map(|(_, quotation)| quotation).collect();
        found.tasks = self.tasks.open();
        if let Some(answer) = &self.last_answer {
            let open = sentences(&answer.text).into_iter().filter(|sentence| is_open(sentence));
            found.open = open.map(|text| Quotation { line: answer.line, text }).collect();
        }
        found.last_answer = self.last_answer;
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, line: u64, found: &mut Findings) {
        for part in &message.parts {
            match part {
                Part::Text(text) if message.role == Role::Assistant => {
                    decided(text, line, false, found);
                    if !text.trim().is_empty() {
                        self.last_answer = Some(Quotation { line, text: text.clone().into_owned() });
                    }
                }
                Part::Text(text) if message.role == Role::User => {
                    if let Some(said) = speech(text) {
                        decided(&said.text, line, true, found);
                    }
                }
                Part::ToolUse { id, name, input } => self.call(id, name, *input, line),
                Part::ToolResult { id, content, is_error, is_refused, .. } => {
                    self.result(id, &result_text(*content), (*is_error, *is_refused), line);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: Raw<'_>, line: u64) {
        self.tasks.call(id, name, input, line);
        let subject = ["command", "file_path", "notebook_path", "pattern", "url"]
            .iter()
            .find_map(|field| input.get(field).text())
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_default();
        self.calls.insert(id.to_owned(), Call { tool: name.to_owned(), subject });
    }

    fn result(&mut self, id: &str, text: &str, (is_error, is_refused): (bool, bool), line: u64) {
        self.tasks.result(id, text);
        let Some(Call { tool, subject }) = self.calls.remove(id) else { return };
        let key = format!("{tool} {}", subject.lines().next().unwrap_or_default());
        self.failed.retain(|(known, _)| *known != key);
        if is_refused {
            return;
        }
        if is_error {
            let what = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3);
            let text = format!("{key}: {}", what.collect::<Vec<_>>().join(" · "));
            self.failed.push((key, Quotation { line, text }));
        }
    }
}

/// The sentences of a text that decide something.
fn decided(text: &str, line: u64, is_persons: bool, found: &mut Findings) {
    let scored = sentences(text).into_iter().map(|sentence| (decides(&sentence, is_persons), sentence));
    let scored = scored.filter(|(score, _)| *score > 0);
    found.decisions.extend(scored.map(|(score, text)| (score, Quotation { line, text })));
}

/// The session's own list of tasks, by either of the tools that keep it.
#[derive(Debug, Default)]
struct TaskList {
    /// Of `TodoWrite`, which writes the whole list each time.
    whole: Vec<Quotation>,
    /// Of `TaskCreate` and `TaskUpdate`, by the task's id.
    single: BTreeMap<u64, (Quotation, bool)>,
    /// Tasks that are being created, by the call's id.
    creating: HashMap<String, Quotation>,
}

impl TaskList {
    fn call(&mut self, id: &str, name: &str, input: Raw<'_>, line: u64) {
        match name {
            "TodoWrite" => {
                let open = input.get("todos").elements().filter(|todo| !todo.get("status").is("completed"));
                let text =
                    |todo: Raw<'_>| Some(Quotation { line, text: todo.get("content").text()?.into_owned() });
                self.whole = open.filter_map(text).collect();
            }
            "TaskCreate" => {
                let text = input.get("subject").text().unwrap_or_default().into_owned();
                self.creating.insert(id.to_owned(), Quotation { line, text });
            }
            "TaskUpdate" => {
                let known = input.get("taskId").text().and_then(|id| self.single.get_mut(&id.parse().ok()?));
                if let Some((_, is_done)) = known {
                    let status = input.get("status");
                    *is_done =
                        status.is("completed") || status.is("deleted") || (*is_done && !status.is_present());
                }
            }
            _ => {}
        }
    }

    /// `TaskCreate` answers with the number of the task.
    fn result(&mut self, id: &str, text: &str) {
        let Some(created) = self.creating.remove(id) else { return };
        let digits = text.split('#').nth(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let next = self.single.keys().next_back().map_or(1, |last| last + 1);
        let number = digits.flatten().and_then(|digits| digits.parse().ok()).unwrap_or(next);
        self.single.insert(number, (created, false));
    }

    fn open(self) -> Vec<Quotation> {
        let single = self.single.into_values().filter(|(_, is_done)| !is_done).map(|(task, _)| task);
        self.whole.into_iter().chain(single).collect()
    }
}
