//! A small world of transcripts: what Claude Code writes, and what relays, crashes, people and their programs make of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

/// Something that happens. Numbers choose among what there is then.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A new session, whose answers come from the API, or over a relay that gives every answer one id.
    Begin { relay: bool },
    /// A prompt and its answer in a file.
    Turn { file: usize },
    /// A fork without marks, as old versions made it, and a turn in it.
    Fork { file: usize },
    /// The conversation is compacted; some of its first records are written again before that.
    Compact { file: usize, again: usize },
    /// The last lines are written again by a second writer.
    Twice { file: usize, lines: usize },
    /// The file is copied to another folder, cut after some of its lines, and has the newer time.
    Copy { file: usize, kept: usize },
    /// One prompt is delivered to two sessions, and each answers.
    Both { one: usize, other: usize },
    /// A side question, whose file repeats the session's answers under other requests.
    Aside { file: usize },
    /// The newline between the last two lines is lost.
    Join { file: usize },
    /// A crash leaves NUL bytes behind the last record, and half a record.
    Crash { file: usize },
    /// A record is its own parent.
    Own { file: usize },
}

pub(crate) fn a_step() -> impl Strategy<Value = Step> {
    let file = || 0..20_usize;
    prop_oneof![
        2 => any::<bool>().prop_map(|relay| Step::Begin { relay }),
        6 => file().prop_map(|file| Step::Turn { file }),
        2 => file().prop_map(|file| Step::Fork { file }),
        2 => (file(), 0..6_usize).prop_map(|(file, again)| Step::Compact { file, again }),
        1 => (file(), 1..4_usize).prop_map(|(file, lines)| Step::Twice { file, lines }),
        2 => (file(), 1..9_usize).prop_map(|(file, kept)| Step::Copy { file, kept }),
        2 => (file(), file()).prop_map(|(one, other)| Step::Both { one, other }),
        1 => file().prop_map(|file| Step::Aside { file }),
        1 => file().prop_map(|file| Step::Join { file }),
        1 => file().prop_map(|file| Step::Crash { file }),
        1 => file().prop_map(|file| Step::Own { file }),
    ]
}

/// A transcript.
#[derive(Debug, Clone)]
struct Conversation {
    id: String,
    folder: usize,
    relay: bool,
    forked_from: Option<String>,
    /// The lines with what is at their ends.
    lines: Vec<(String, &'static str)>,
    /// What is said in it, in order.
    said: Vec<String>,
    last: Option<String>,
    /// Answers by the API, with their tokens.
    answers: Vec<(String, u64)>,
    /// The lines of side files, by their names.
    asides: BTreeMap<String, Vec<String>>,
    /// The second at which it was written last.
    written: u64,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    files: Vec<Conversation>,
    number: u64,
    output_tokens: u64,
}

/// The true answer.
pub(crate) struct Truth {
    pub(crate) output_tokens: u64,
    forked_from: BTreeMap<String, Option<String>>,
    /// What is said in each session's files, which are one where they did not diverge.
    pub(crate) said: BTreeMap<String, Vec<Vec<String>>>,
}

impl Truth {
    /// The session that a session was forked from, the one that was forked from, and so on.
    pub(crate) fn ancestors(&self, id: &str) -> Vec<String> {
        let parent = |id: &String| self.forked_from.get(id).cloned().flatten();
        std::iter::successors(parent(&id.to_owned()), parent).collect()
    }
}

impl World {
    pub(crate) fn take(&mut self, step: &Step) {
        if self.files.is_empty() {
            self.begin(false);
        }
        let count = self.files.len();
        match *step {
            Step::Begin { relay } => self.begin(relay),
            Step::Turn { file } => self.turn(file % count),
            Step::Fork { file } => self.fork(file % count),
            Step::Compact { file, again } => self.compact(file % count, again),
            Step::Twice { file, lines } => self.twice(file % count, lines),
            Step::Copy { file, kept } => self.copy(file % count, kept),
            Step::Both { one, other } => self.both(one % count, other % count),
            Step::Aside { file } => self.aside(file % count),
            Step::Join { file } => self.join(file % count),
            Step::Crash { file } => self.crash(file % count),
            Step::Own { file } => self.own(file % count),
        }
    }

    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn begin(&mut self, relay: bool) {
        let number = self.next();
        self.files.push(Conversation {
            id: format!("5e550000-0000-4000-8000-{number:012}"),
            folder: 0,
            relay,
            forked_from: None,
            lines: Vec::new(),
            said: Vec::new(),
            last: None,
            answers: Vec::new(),
            asides: BTreeMap::new(),
            written: number,
        });
        self.turn(self.files.len() - 1);
    }

    fn turn(&mut self, file: usize) {
        let number = self.next();
        let text = format!("prompt {number}");
        self.prompt(file, number, &text);
        self.answer(file);
    }

    fn prompt(&mut self, file: usize, number: u64, text: &str) {
        let file = &mut self.files[file];
        file.add("user", number, &json!({"role": "user", "content": text}), &json!({}));
        file.said.push(text.to_owned());
    }

    /// An answer of two records, the second complete.
    fn answer(&mut self, file: usize) {
        let (first, second) = (self.next(), self.next());
        let (text, tokens) = (format!("answer {first}"), 1000 + first);
        let file = &mut self.files[file];
        let (id, more) = if file.relay {
            ("relay".to_owned(), json!({}))
        } else {
            (format!("msg_{first:08}"), json!({"requestId": format!("req_{first:08}")}))
        };
        let message = |content: Value, output: u64| {
            json!({
                "id": id, "role": "assistant", "model": "claude-opus-5-5", "content": [content],
                "usage": {"input_tokens": 5, "output_tokens": output},
            })
        };
        file.add("assistant", first, &message(json!({"type": "text", "text": text}), 1), &more);
        let call = json!({"type": "tool_use", "id": format!("t{second}"), "name": "Read", "input": {}});
        file.add("assistant", second, &message(call, tokens), &more);
        file.said.push(text);
        if !file.relay {
            file.answers.push((id, tokens));
        }
        self.output_tokens += tokens;
    }

    fn fork(&mut self, from: usize) {
        let number = self.next();
        let mut fork = self.files[from].clone();
        // A fork of a copy in another folder has no parent there.
        if fork.folder > 0 {
            return;
        }
        let old = std::mem::replace(&mut fork.id, format!("5e550000-0000-4000-8000-{number:012}"));
        fork.forked_from = Some(old.clone());
        fork.asides.clear();
        for (line, end) in &mut fork.lines {
            *line = line.replace(&old, &fork.id);
            *end = "\n";
        }
        fork.lines.retain(|(line, _)| serde_json::from_str::<Value>(line).is_ok());
        fork.written = number;
        self.files.push(fork);
        self.turn(self.files.len() - 1);
    }

    fn compact(&mut self, at: usize, again: usize) {
        let number = self.next();
        let file = &mut self.files[at];
        let whole: Vec<_> = file.lines.iter().filter(|(line, _)| is_message(line)).cloned().collect();
        let again = &whole[..again.min(whole.len())];
        file.lines.extend(again.iter().map(|(line, _)| (line.clone(), "\n")));
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["uuid"].clone();
        let logical = again.last().map_or_else(|| json!(file.last), |(line, _)| id(line));
        let uuid = uuid(number);
        let boundary = json!({
            "parentUuid": null, "logicalParentUuid": logical, "type": "system", "subtype": "compact_boundary",
            "uuid": uuid, "timestamp": time(number), "sessionId": file.id, "isSidechain": false,
            "cwd": "/home/ana/shop", "content": "Conversation compacted", "compactMetadata": {"trigger": "manual"},
        });
        file.lines.push((boundary.to_string(), "\n"));
        file.said.push("The conversation was compacted here.".to_owned());
        (file.last, file.written) = (Some(uuid), number);
        self.turn(at);
    }

    fn twice(&mut self, file: usize, lines: usize) {
        // Bytes tell whether one file begins with another: a copy that was only written twice counts as one that goes on.
        if self.files.iter().filter(|other| other.id == self.files[file].id).count() > 1 {
            return;
        }
        let number = self.next();
        let file = &mut self.files[file];
        let from = file.lines.len().saturating_sub(lines);
        let again: Vec<_> = file.lines[from..].iter().filter(|(line, _)| is_message(line)).cloned().collect();
        file.lines.extend(again.into_iter().map(|(line, _)| (line, "\n")));
        file.written = number;
    }

    /// A copy in a folder of its own. It is a session's second file until somebody continues it.
    fn copy(&mut self, file: usize, kept: usize) {
        let number = self.next();
        let mut copy = self.files[file].clone();
        let is_clean = copy.lines.iter().all(|(line, end)| *end == "\n" && is_message(line));
        let is_plain = copy.lines.len() == copy.said.len() / 2 * 3;
        // Only of one in which nothing else happened it is plain what a cut copy says.
        if copy.folder > 0 || !is_clean || !is_plain || copy.forked_from.is_some() {
            return;
        }
        let turns = kept.min(copy.lines.len() / 3).max(1);
        copy.lines.truncate(turns * 3);
        copy.said.truncate(turns * 2);
        copy.answers.truncate(turns);
        copy.asides.clear();
        copy.last = copy.lines.last().map(|(line, _)| {
            serde_json::from_str::<Value>(line).unwrap()["uuid"].as_str().unwrap().to_owned()
        });
        (copy.folder, copy.written) = (usize::try_from(number).unwrap(), number);
        self.files.push(copy);
    }

    fn both(&mut self, one: usize, other: usize) {
        if self.files[one].id == self.files[other].id {
            return;
        }
        let number = self.next();
        let text = format!("prompt {number}");
        for file in [one, other] {
            self.prompt(file, number, &text);
            self.answer(file);
        }
    }

    fn aside(&mut self, file: usize) {
        let number = self.next();
        let file = &mut self.files[file];
        if file.answers.is_empty() || file.forked_from.is_some() {
            return;
        }
        let agent = format!("aside_question-{number:016}");
        let own = (format!("msg_{number:08}"), 1000 + number);
        self.output_tokens += own.1;
        let lines = file.answers.iter().chain([&own]).enumerate().map(|(at, (id, tokens))| {
            json!({
                "type": "assistant", "isSidechain": true, "agentId": agent, "sessionId": file.id,
                "uuid": format!("a51de000-{number:04}-4000-8000-{at:012}"), "timestamp": time(number),
                "requestId": format!("req_side_{number}_{at}"), "cwd": "/home/ana/shop",
                "message": {
                    "id": id, "role": "assistant", "model": "claude-opus-5-5",
                    "content": [{"type": "text", "text": "repeated"}],
                    "usage": {"input_tokens": 5, "output_tokens": tokens},
                },
            })
            .to_string()
        });
        let lines = lines.collect();
        file.asides.insert(agent, lines);
    }

    fn join(&mut self, file: usize) {
        if let Some((_, end)) = self.files[file].lines.last_mut() {
            *end = "";
        }
        self.turn(file);
    }

    fn crash(&mut self, at: usize) {
        let number = self.next();
        let file = &mut self.files[at];
        if let Some((_, end)) = file.lines.last_mut() {
            *end = "\0\0\0\0";
        }
        let torn = r#"{"type":"attachment","attachment":{"type":"queued_command","pro"#;
        file.lines.push((torn.to_owned(), ""));
        file.written = number;
        self.turn(at);
    }

    fn own(&mut self, file: usize) {
        let number = self.next();
        let text = format!("prompt {number}");
        self.files[file].last = Some(uuid(number));
        self.prompt(file, number, &text);
        self.answer(file);
    }

    /// Writes all files anew, with the times at which they were written.
    pub(crate) fn write(&self, root: &Path) {
        for file in &self.files {
            let folder = root.join(format!("projects/-home-ana-shop{}", file.folder));
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(format!("{}.jsonl", file.id));
            let content: String = file.lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
            let known = system::read_small(&path, 1 << 24).unwrap_or_default();
            match content.as_bytes().strip_prefix(&*known) {
                Some(more) => append(&path, more),
                None => fs::write(&path, &content).unwrap(),
            }
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_000 + file.written);
            fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
            let beside = folder.join(&file.id).join("subagents");
            for (agent, lines) in &file.asides {
                fs::create_dir_all(&beside).unwrap();
                fs::write(beside.join(format!("agent-{agent}.jsonl")), lines.join("\n") + "\n").unwrap();
            }
        }
    }

    pub(crate) fn truth(&self) -> Truth {
        let mut said: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        let mut longest_first: Vec<_> = self.files.iter().collect();
        longest_first.sort_by_key(|file| std::cmp::Reverse(file.said.len()));
        for file in longest_first {
            let known = said.entry(file.id.clone()).or_default();
            if !known.iter().any(|longer| longer.starts_with(&file.said)) {
                known.push(file.said.clone());
            }
        }
        let forked_from = self.files.iter().map(|file| (file.id.clone(), file.forked_from.clone())).collect();
        Truth { output_tokens: self.output_tokens, forked_from, said }
    }
}

impl Conversation {
    fn add(&mut self, kind: &str, number: u64, message: &Value, more: &Value) {
        let uuid = uuid(number);
        let mut record = json!({
            "parentUuid": self.last, "isSidechain": false, "type": kind, "uuid": uuid, "timestamp": time(number),
            "sessionId": self.id, "cwd": "/home/ana/shop", "version": "2.1.300", "message": message,
        });
        for (key, value) in more.as_object().unwrap() {
            record[key] = value.clone();
        }
        self.lines.push((record.to_string(), "\n"));
        (self.last, self.written) = (Some(uuid), number);
    }
}

fn is_message(line: &str) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|record| record["type"] == "user" || record["type"] == "assistant")
}

fn append(path: &Path, content: &[u8]) {
    fs::File::options().create(true).append(true).open(path).unwrap().write_all(content).unwrap();
}

fn uuid(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Later than now: who was first is told by when files were made, except where that was after their last record.
fn time(number: u64) -> String {
    let (minutes, seconds) = (number / 60, number % 60);
    format!("2099-11-20T{:02}:{:02}:{seconds:02}.000Z", 8 + minutes / 60, minutes % 60)
}
