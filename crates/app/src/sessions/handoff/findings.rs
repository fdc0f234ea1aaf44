//! What a transcript holds that the next session needs, each with its line. Texts are redacted before a line or a sentence is taken
//! from them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use transcript::record::result_text;
use transcript::{HistoryEventKind, Message, Part, Raw, Reader, Role, each_history_event, message, speech};

use super::sentences::{decision_weight, is_open, sentences};
use crate::Secrets;

/// How much an answer of the person and an approved plan weigh among decisions.
const ANSWERED: u32 = 9;
const APPROVED: u32 = 8;

/// In how many of the last turns a failure still matters: a session that went on after it has dealt with it.
const LAST_TURNS: usize = 3;
/// After how many calls of tools that did not fail it matters no more, however long a turn is.
const STEPS: usize = 20;
/// How much of a text is looked at, in characters: it is held several times, and may have tens of megabytes.
const MAX_TEXT: usize = 1 << 18;

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
    /// What failed in the last turns and was not done again with success.
    pub(super) errors: Vec<Quotation>,
    /// The last thing that the model said.
    pub(super) last_answer: Option<Quotation>,
}

impl Findings {
    /// Reads a transcript; of its sub-agents' files only the changes count.
    pub(super) fn read(file: &Path, subagents: &[PathBuf], secrets: Secrets) -> io::Result<Self> {
        let mut found = Self::default();
        each_history_event(file, |event| match event.what {
            HistoryEventKind::Prompt(text) if !text.trim().is_empty() => {
                found.prompts.push(Quotation { line: event.line, text: secrets.beginning(&text, MAX_TEXT) });
            }
            HistoryEventKind::Answered(text) => {
                found.chosen(ANSWERED, event.line, format!("The person answered: {text}"));
            }
            HistoryEventKind::Approved(plan) => {
                let plan = secrets.shown(&plan);
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
            HistoryEventKind::UnreportedCommit(subject) => {
                let text = format!("{subject} (its hash was not printed)");
                found.commits.push(Quotation { line: event.line, text });
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
        Conversation { secrets, ..Conversation::default() }.read(file, &mut found)?;
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
    secrets: Secrets,
    /// The calls without an answer yet: the tool, and what it works on.
    calls: HashMap<String, Call>,
    /// What failed last.
    failed: Vec<Failure>,
    /// How many calls did not fail so far.
    steps: usize,
    tasks: TaskList,
    last_answer: Option<Quotation>,
}

#[derive(Debug)]
struct Call {
    /// The tool and what it works on: a command, a file.
    what: String,
    /// By what it is recognized when it is done again.
    dedup_key: String,
}

/// A call that failed.
#[derive(Debug)]
struct Failure {
    /// By what it is recognized when it is done again.
    dedup_key: String,
    /// How many calls had not failed before it.
    steps: usize,
    said: Quotation,
}

impl Conversation {
    fn read(mut self, file: &Path, found: &mut Findings) -> io::Result<()> {
        let mut reader = Reader::open(file)?;
        while let Some(line) = reader.next_line()? {
            let Ok(record) = line.record() else { continue };
            let Some(message) = message(&record).filter(|message| !message.sidechain) else { continue };
            self.message(&message, line.number, found);
        }
        let since = found.prompts.iter().rev().nth(LAST_TURNS - 1).map_or(0, |prompt| prompt.line);
        let matters = |one: &Failure| one.said.line >= since && self.steps - one.steps < STEPS;
        found.errors = self.failed.into_iter().filter(matters).map(|failed| failed.said).collect();
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
                    let text = self.secrets.beginning(text, MAX_TEXT);
                    decided(&text, line, false, found);
                    if !text.trim().is_empty() {
                        self.last_answer = Some(Quotation { line, text });
                    }
                }
                Part::Text(text) if message.role == Role::User => {
                    if let Some(said) = speech(text) {
                        decided(&self.secrets.beginning(&said.text, MAX_TEXT), line, true, found);
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
        let command = input.get("command").text();
        let others = ["file_path", "notebook_path", "pattern", "url"];
        let subject = command.clone().or_else(|| others.iter().find_map(|field| input.get(field).text()));
        let subject = subject.unwrap_or_default();
        let subject = self.secrets.shown(&subject);
        let what = format!("{name} {}", subject.lines().next().unwrap_or_default());
        let dedup_key =
            command.map_or_else(|| what.clone(), |command| format!("{name} {}", program(&command)));
        self.calls.insert(id.to_owned(), Call { what, dedup_key });
    }

    fn result(&mut self, id: &str, text: &str, (is_error, is_refused): (bool, bool), line: u64) {
        self.tasks.result(id, text);
        let Some(Call { what: done, dedup_key }) = self.calls.remove(id) else { return };
        self.failed.retain(|failed| failed.dedup_key != dedup_key);
        if !is_error {
            self.steps += 1;
        } else if !is_refused {
            let text = self.secrets.shown(text);
            let what = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3);
            let text = format!("{done}: {}", what.collect::<Vec<_>>().join(" · "));
            let said = Quotation { line, text };
            self.failed.push(Failure { dedup_key, steps: self.steps, said });
        }
    }
}

/// The program that a command runs first and the word after it, such as `cargo test`: with other arguments it is done
/// again. A change of the directory and variables before it do not count.
fn program(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let is_change = |part: &&str| part.trim_start().starts_with("cd ");
    let first = line.split("&&").find(|part| !is_change(part)).unwrap_or(line);
    let words =
        first.split_whitespace().skip_while(|word| word.contains('=')).filter(|word| !word.starts_with('-'));
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// The sentences of a text that decide something.
fn decided(text: &str, line: u64, is_persons: bool, found: &mut Findings) {
    let scored =
        sentences(text).into_iter().map(|sentence| (decision_weight(&sentence, is_persons), sentence));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognized_with_other_arguments() {
        let check = |command: &str, expected: &str| assert_eq!(program(command), expected, "{command}");
        check("cargo test", "cargo test");
        check(
            "cd /home/sam/shop && RUST_LOG=debug cargo -q test refresh -- --nocapture | tail -5",
            "cargo test",
        );
        check("go test ./...\ngo vet", "go test");
        check("cd /work", "cd /work");
        check("", "");
    }
}
