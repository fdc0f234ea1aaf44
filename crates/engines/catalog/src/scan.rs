//! Reads session files, only what is new in them, several at a time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use model::SessionId;
use system::FileStamp;
use transcript::{
    FileChange, LongLines, SubagentFile, SubagentMeta, Summary, Tail, UsageCollector, task_key,
};

use crate::facts::{FileFacts, Owner, SubagentFacts};
use crate::pack::{Packed, pack};

/// How many results may wait for whoever takes them.
const WAITING: usize = 128;

/// A session's or sub-agent's file that has to be read.
#[derive(Debug)]
pub(crate) struct ScanJob {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its size, in bytes: the largest are read first, so that no thread is left alone with one.
    pub(crate) size: u64,
    /// Whose file it is.
    pub(crate) owner: Owner,
    /// What was known of it before.
    pub(crate) known: Option<FileFacts>,
}

impl ScanJob {
    /// About how many bytes there are to read.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.size.saturating_sub(self.known.as_ref().map_or(0, |known| known.mark.offset))
    }
}

/// What one read file gave.
pub(crate) struct ScanResult {
    /// The file.
    pub(crate) path: PathBuf,
    /// What it says, or why it could not be read.
    pub(crate) facts: io::Result<FileFacts>,
    /// The same as it is kept.
    pub(crate) packed: Option<Packed>,
    /// How many of its bytes were looked at.
    pub(crate) bytes: u64,
    /// It does not go on from what was known of it.
    pub(crate) replaced: bool,
}

/// Reads the files on `threads` threads, handing over each as it is done.
pub(crate) fn scan(mut jobs: Vec<ScanJob>, threads: usize, mut take: impl FnMut(ScanResult)) {
    jobs.sort_by_key(|job| std::cmp::Reverse(job.new_bytes()));
    let long_lines = LongLines::default();
    if jobs.len() <= 1 {
        jobs.iter().map(|job| read(job, &long_lines)).for_each(take);
        return;
    }
    let next = AtomicUsize::new(0);
    let (results, taken) = mpsc::sync_channel(WAITING);
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len()) {
            let (results, next, jobs, long_lines) = (results.clone(), &next, &jobs, &long_lines);
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if results.send(read(job, long_lines)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        taken.iter().for_each(&mut take);
    });
}

fn read(job: &ScanJob, long_lines: &LongLines) -> ScanResult {
    let (mut bytes, mut replaced) = (0, false);
    let facts = facts(job, long_lines, &mut bytes, &mut replaced);
    let packed = facts.as_ref().ok().and_then(pack);
    ScanResult { path: job.path.clone(), facts, packed, bytes, replaced }
}

fn facts(
    job: &ScanJob,
    long_lines: &LongLines,
    bytes: &mut u64,
    replaced: &mut bool,
) -> io::Result<FileFacts> {
    let known = job.known.as_ref();
    let mut tail = Tail::open(&job.path, known.map(|known| &known.mark))?.taking_turns(long_lines);
    *replaced = tail.change() == FileChange::Replaced;
    let known = known.filter(|_| !*replaced);
    let agent = match &job.owner {
        Owner::Session(_) => None,
        Owner::Subagent(session) => Some(agent(&job.path, session.as_ref(), known)),
    };
    let (mut summary, mut spent) = match known {
        Some(known) => (known.summary.clone(), UsageCollector::resume(known.messages.clone())),
        None => (Box::new(empty_summary(job, agent.as_ref())), UsageCollector::default()),
    };
    while let Some(line) = tail.next_line()? {
        summary.observe(line, &mut spent);
    }
    summary.lines += tail.too_long();
    summary.skipped.too_long += tail.too_long();
    *bytes = tail.bytes_read();
    let mut messages = spent.into_messages();
    if agent.is_some() {
        for message in &mut messages {
            message.subagent = true;
        }
    }
    Ok(FileFacts { stamp: tail.stamp(), mark: tail.mark()?, summary, messages, agent })
}

fn empty_summary(job: &ScanJob, agent: Option<&SubagentFacts>) -> Summary {
    let session = agent.and_then(|agent| agent.session.as_ref());
    match (&job.owner, session) {
        (Owner::Session(id), _) | (Owner::Subagent(_), Some(id)) => Summary::new(id),
        (Owner::Subagent(_), None) => Summary::default(),
    }
}

fn agent(path: &Path, session: Option<&SessionId>, known: Option<&FileFacts>) -> SubagentFacts {
    if let Some(agent) = known.and_then(|known| known.agent.clone()).filter(|agent| agent.kind.is_some()) {
        return agent;
    }
    let stamp = FileStamp::default();
    let file = SubagentFile { id: String::new(), path: path.to_owned(), stamp };
    let SubagentMeta { agent_type, description, .. } = file.meta();
    let session = session.cloned().or_else(|| file.session());
    let task = file.task();
    let is_warm_up = task.as_deref().is_some_and(|task| task.trim() == "Warmup");
    SubagentFacts { session, kind: agent_type, description, task: task.as_deref().map(task_key), is_warm_up }
}
