//! Prompts that a person typed while a turn was running, and what became of them.
//!
//! A prompt in the queue becomes a message when its turn comes, or is attached to the turn that runs. Some never do: they
//! are taken back, or thrown away with the turn, or the process ends first. They are the person's words all the same.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use memchr::memmem;

use crate::message::{Message, message, messages, unsent_message};
use crate::reader::{Line, Reader};
use crate::record::{ApiMessage, Block, Record, RecordKind};
use crate::speech::{is_housekeeping, speech};

/// The most prompts that are followed at a time; a queue that nothing leaves is no queue.
const MOST: usize = 256;

/// The prompts of a transcript that no message has taken up, record by record.
#[derive(Debug, Clone, Default)]
pub struct QueuedPrompts {
    waiting: Vec<Waiting>,
}

#[derive(Debug, Clone)]
struct Waiting {
    offset: u64,
    words: String,
    /// Whether it has left the queue.
    left: bool,
    /// Whether the model has answered since: a message that takes it up would be there by now.
    is_settled: bool,
}

impl QueuedPrompts {
    /// Takes in a line.
    pub fn observe(&mut self, line: &Line<'_>) {
        let may_queue = || memmem::find(line.bytes, b"queue-operation").is_some();
        if !self.waiting.is_empty() || may_queue() {
            let Ok(record) = line.record() else { return };
            self.observe_record(&record, line.offset);
        }
    }

    fn observe_record(&mut self, record: &Record<'_>, offset: u64) {
        match record.kind() {
            RecordKind::QueueOperation if record.operation() == Some("enqueue") => {
                self.enqueue(record, offset);
            }
            _ if self.waiting.is_empty() || record.is_sidechain() => {}
            RecordKind::QueueOperation => self.leave(record),
            RecordKind::Assistant => {
                self.waiting.iter_mut().for_each(|waiting| waiting.is_settled |= waiting.left);
            }
            // What was typed while a tool ran may stand behind its result.
            RecordKind::User => {
                let has_text =
                    |message: &ApiMessage<'_>| !record.has_tool_result() || message.may_have_text();
                let Some(message) = record.message().filter(has_text) else { return };
                for block in message.each_block() {
                    if let Block::Text(text) = block {
                        self.take_up(&text);
                    }
                }
            }
            RecordKind::Attachment => {
                if let Some(prompt) = record.queued_text() {
                    self.take_up(&prompt);
                }
            }
            RecordKind::LocalCommand => {
                if let Some(content) = record.content() {
                    self.take_up(&content);
                }
            }
            _ => {}
        }
    }

    fn enqueue(&mut self, record: &Record<'_>, offset: u64) {
        let Some(text) = record.content() else { return };
        let Some(said) = speech(&text) else { return };
        // What was pasted is written out where it is sent; a command of the terminal leaves no message.
        if said.text.contains("[Pasted text #") || is_housekeeping(&said.text) {
            return;
        }
        if self.waiting.len() == MOST {
            self.waiting.remove(0);
        }
        let words = said.text.into_owned();
        self.waiting.push(Waiting { offset, words, left: false, is_settled: false });
    }

    fn leave(&mut self, record: &Record<'_>) {
        let is_all = record.operation() == Some("popAll");
        let named = record.content().and_then(|text| speech(&text).map(|said| said.text.into_owned()));
        let mut in_queue = self.waiting.iter_mut().filter(|waiting| !waiting.left);
        if is_all {
            in_queue.for_each(|waiting| waiting.left = true);
        } else if let Some(waiting) =
            in_queue.find(|waiting| named.as_ref().is_none_or(|words| *words == waiting.words))
        {
            waiting.left = true;
        }
    }

    /// A message has these words: each prompt that stands in it, in lines of its own, has been sent.
    fn take_up(&mut self, text: &str) {
        let said = speech(text).map_or_else(|| text.trim().to_owned(), |said| said.text.into_owned());
        let has = |words: &str| {
            said == words
                || said.strip_prefix("! ") == Some(words)
                || said.match_indices(words).any(|(at, _)| {
                    let before = said[..at].chars().next_back().is_none_or(|c| c == '\n');
                    let after = said[at + words.len()..].chars().next().is_none_or(|c| c == '\n');
                    before && after
                })
        };
        // The same words may have been queued twice: each message takes one of them.
        let mut taken: HashSet<String> = HashSet::new();
        self.waiting.retain(|waiting| !has(&waiting.words) || !taken.insert(waiting.words.clone()));
    }

    /// Where the prompts stand that were not taken up.
    pub fn into_unsent(self) -> UnsentPrompts {
        UnsentPrompts(self.waiting.into_iter().map(|waiting| (waiting.offset, waiting.is_settled)).collect())
    }
}

/// Where the prompts of a transcript stand that were queued and not sent, and whether that is settled: the last ones of
/// a running session still wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnsentPrompts(HashMap<u64, bool>);

impl UnsentPrompts {
    /// Reads a transcript from its beginning.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut queued = QueuedPrompts::default();
        let mut reader = Reader::open(path)?;
        while let Some(line) = reader.next_line()? {
            queued.observe(&line);
        }
        Ok(queued.into_unsent())
    }

    /// The message of a record at an offset, also one that was not sent.
    pub fn message<'a>(&self, record: &Record<'a>, offset: u64) -> Option<Message<'a>> {
        if self.0.contains_key(&offset) { unsent_message(record) } else { message(record) }
    }

    /// The messages of a record, as [`messages`] gives them, also one that was not sent.
    pub fn messages<'a>(&self, record: &Record<'a>, offset: u64) -> impl Iterator<Item = Message<'a>> {
        let unsent = if self.0.contains_key(&offset) { unsent_message(record) } else { None };
        let others = if unsent.is_none() { Some(messages(record)) } else { None };
        unsent.into_iter().chain(others.into_iter().flatten())
    }

    /// Whether it is settled that the prompt at an offset was not sent.
    pub fn is_settled(&self, offset: u64) -> bool {
        self.0.get(&offset).copied().unwrap_or(false)
    }
}

/// The prompts of a transcript that were not sent, looked for when the first queued one is met: a page of a transcript
/// without any costs its own bytes.
#[derive(Debug)]
pub struct SettledPrompts<'a> {
    transcript: &'a Path,
    unsent: OnceCell<UnsentPrompts>,
}

impl<'a> SettledPrompts<'a> {
    /// Those of a transcript.
    pub fn new(transcript: &'a Path) -> Self {
        Self { transcript, unsent: OnceCell::new() }
    }

    /// The message of a record at an offset, also one of which it is settled that it was not sent.
    pub fn message<'r>(&self, record: &Record<'r>, offset: u64) -> Option<Message<'r>> {
        let unsent = || self.unsent.get_or_init(|| UnsentPrompts::read(self.transcript).unwrap_or_default());
        match unsent_message(record) {
            Some(queued) => unsent().is_settled(offset).then_some(queued),
            None => message(record),
        }
    }

    /// The messages of a record, likewise.
    pub fn messages<'r>(&self, record: &Record<'r>, offset: u64) -> impl Iterator<Item = Message<'r>> {
        self.message(record, offset).into_iter().flat_map(Message::by_speaker)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::message::Part;

    fn queued(operation: &str, words: &str) -> String {
        format!(r#"{{"type":"queue-operation","operation":"{operation}","content":"{words}"}}"#)
    }

    fn user(words: &str) -> String {
        format!(r#"{{"type":"user","uuid":"u","message":{{"content":"{words}"}}}}"#)
    }

    fn attached(words: &str) -> String {
        format!(
            r#"{{"type":"attachment","uuid":"u","attachment":{{"type":"queued_command","prompt":"{words}"}}}}"#
        )
    }

    /// Everything a person said in a transcript of these lines, in order.
    fn said(lines: &[String]) -> Vec<(String, bool)> {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("s.jsonl");
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let unsent = UnsentPrompts::read(&file).unwrap();
        let (mut reader, mut said) = (Reader::open(&file).unwrap(), Vec::new());
        while let Some(line) = reader.next_line().unwrap() {
            let Some(message) = unsent.message(&line.record().unwrap(), line.offset) else { continue };
            for part in message.parts {
                let Part::Text(text) = part else { continue };
                said.push((text.into_owned(), message.how.is_some()));
            }
        }
        said
    }

    #[test]
    fn what_was_queued_is_said_once() {
        let check = |lines: &[String], expected: &[(&str, bool)]| {
            let found = said(lines);
            let found: Vec<_> = found.iter().map(|(text, unsent)| (text.as_str(), *unsent)).collect();
            assert_eq!(found, expected, "{lines:?}");
        };
        let (put, taken) = (queued("enqueue", "go"), queued("dequeue", ""));
        check(&[put.clone(), taken.clone(), user("go")], &[("go", false)]);
        check(&[put.clone(), queued("remove", "go"), attached("go")], &[("go", false)]);
        check(&[put.clone(), taken.clone(), user("no")], &[("go", true), ("no", false)]);
        check(&[put.clone(), queued("remove", "")], &[("go", true)]);
        check(
            &[put.clone(), queued("popAll", "go"), user("go and run")],
            &[("go", true), ("go and run", false)],
        );
        check(&[put.clone(), put.clone(), user("go")], &[("go", true), ("go", false)]);
        check(&[put.clone(), queued("enqueue", "now"), user(r"go\nnow")], &[("go\nnow", false)]);
        check(&[queued("enqueue", "/compact"), taken.clone()], &[]);
        check(&[queued("enqueue", "ls"), user("<bash-input>ls</bash-input>")], &[("! ls", false)]);
        check(&[queued("enqueue", r#"<teammate-message teammate_id=\"x\">go</teammate-message>"#)], &[]);
        let result = r#"{"type":"user","uuid":"u","toolUseResult":"x","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"go"}]}}"#;
        check(&[put, result.to_owned()], &[("go", false)]);
    }

    proptest! {
        /// Whatever happens to the queue, every prompt is said exactly as often as it was typed.
        #[test]
        fn no_prompt_is_lost_or_doubled(fates in prop::collection::vec((0_usize..5, 0_usize..3), 1..12)) {
            let (mut lines, mut typed) = (Vec::new(), Vec::new());
            for (at, (fate, delay)) in fates.into_iter().enumerate() {
                let words = format!("prompt number {at} please");
                lines.push(queued("enqueue", &words));
                lines.extend((0..delay).map(|turn| user(&format!("turn {at} {turn}"))));
                match fate {
                    0 => lines.extend([queued("dequeue", ""), user(&words)]),
                    1 => lines.extend([queued("remove", &words), attached(&words)]),
                    2 => lines.push(queued("remove", "")),
                    3 => lines.push(queued("popAll", &words)),
                    _ => {}
                }
                typed.push(words);
            }
            let mut found: Vec<String> = said(&lines).into_iter().map(|(text, _)| text).filter(|text| text.starts_with("prompt")).collect();
            found.sort();
            typed.sort();
            prop_assert_eq!(found, typed);
        }
    }
}
