//! Counts what a config folder holds and checks our figures against Claude Code's own:
//! `cargo run --example census -- <config folder>…`
//!
//! Prints every type and subtype met, what is unknown, and for each session with a `cost-state` whether its
//! transcript, copies included, comes to the same tokens. Ends with 1 when something is unknown or differs.

#![allow(clippy::print_stdout, reason = "a tool for makers")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::{CostState, MessageUsage, SessionId, Usage};
use transcript::record::{RecordKind, SkipReason};
use transcript::{ConfigFolder, Reader, Summary, TranscriptFile, UsageCollector};

/// What was met.
#[derive(Default)]
struct Census {
    /// Records by type and subtype.
    records: BTreeMap<String, u64>,
    /// Types we do not know.
    unknown: BTreeMap<String, u64>,
    /// Lines that gave no record, and are not left unread on purpose.
    unreadable: u64,
    /// Sessions whose figures are Claude Code's.
    equal: usize,
    /// Those whose figures differ, with both.
    different: Vec<(PathBuf, Usage, Usage)>,
    /// Sessions without a `cost-state`.
    untold: usize,
}

fn main() -> io::Result<ExitCode> {
    let mut census = Census::default();
    for folder in std::env::args_os().skip(1) {
        let found = ConfigFolder::new(folder).find(2);
        for problem in &found.problems {
            println!("not looked at: {}: {}", problem.path.display(), problem.what);
        }
        for session in &found.transcripts {
            census.session(session)?;
        }
        for agent in &found.flat_subagents {
            census.records(&agent.path)?;
        }
    }
    census.print();
    let good = census.unknown.is_empty() && census.unreadable == 0 && census.different.is_empty();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Census {
    fn session(&mut self, session: &TranscriptFile) -> io::Result<()> {
        self.records(&session.path)?;
        let (mut messages, stated) = spent(&session.id, &session.path)?;
        for agent in &session.subagents {
            self.records(&agent.path)?;
            messages.extend(spent(&session.id, &agent.path)?.0);
        }
        let ours = each_once(messages);
        match stated.map(|stated| total(&stated)) {
            None => self.untold += 1,
            Some(theirs) if counters(ours) == counters(theirs) => self.equal += 1,
            Some(theirs) => self.different.push((session.path.to_path_buf(), ours, theirs)),
        }
        Ok(())
    }

    fn records(&mut self, path: &Path) -> io::Result<()> {
        let mut reader = Reader::open(path)?;
        while let Some(line) = reader.next_line()? {
            match line.record() {
                Ok(record) => {
                    let word = [record.type_word(), record.subtype_word()].join(" ").trim().to_owned();
                    let unknown = record.kind() == RecordKind::Unknown;
                    let counts = if unknown { &mut self.unknown } else { &mut self.records };
                    *counts.entry(word).or_default() += 1;
                }
                Err(SkipReason::Unread) => *self.records.entry("(left unread)".to_owned()).or_default() += 1,
                Err(SkipReason::Blank | SkipReason::Copy) => {}
                Err(SkipReason::Nul | SkipReason::NotUtf8 | SkipReason::NotJson) => self.unreadable += 1,
            }
        }
        Ok(())
    }

    fn print(&self) {
        for (word, count) in &self.records {
            println!("{count:>7}  {word}");
        }
        println!("unknown: {:?}; unreadable lines: {}", self.unknown, self.unreadable);
        println!(
            "cost-state: {} sessions equal, {} different, {} have none",
            self.equal,
            self.different.len(),
            self.untold
        );
        for (path, ours, theirs) in &self.different {
            println!("{}", path.display());
            println!("    (input, output, cache read, cache write) ours {:?}", counters(*ours));
            println!("                                         theirs {:?}", counters(*theirs));
        }
    }
}

fn spent(id: &SessionId, path: &Path) -> io::Result<(Vec<MessageUsage>, Option<CostState>)> {
    let (mut summary, mut spent) = (Summary::new(id), UsageCollector::default());
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        summary.observe(line, &mut spent);
    }
    Ok((spent.into_messages(), summary.cost_state))
}

/// The sum of messages, one that is in several files counted once.
fn each_once(messages: Vec<MessageUsage>) -> Usage {
    let mut once = BTreeMap::<u64, Usage>::new();
    for message in messages {
        let known = once.entry(message.key).or_default();
        *known = known.max(message.usage);
    }
    once.into_values().fold(Usage::default(), |sum, usage| sum + usage)
}

fn total(stated: &CostState) -> Usage {
    stated.models.iter().fold(Usage::default(), |sum, (_, usage)| sum + *usage)
}

fn counters(usage: Usage) -> (u64, u64, u64, u64) {
    (usage.input, usage.output, usage.cache_read, usage.cache_write())
}
