//! Reads session files, only what is new in them, several at a time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use model::SessionId;
use system::FileStamp;
use transcript::{
    FileChange, LongLines, SubagentFile, SubagentMeta, Summary, Tail, UsageCollector, given_task,
};

use crate::facts::{FileFacts, Owner, SubagentFacts};
use crate::pack::{Packed, pack};

/// How many results may wait to be received.
const WAITING: usize = 128;

/// A session's or sub-agent's file that has to be read.
#[derive(Debug)]
pub(crate) struct ScanJob {
    /// The file to read.
    pub(crate) path: PathBuf,
    /// Its size, in bytes: the largest are read first, so that no thread is left alone with one.
    pub(crate) size: u64,
    /// The session or sub-agent it belongs to.
    pub(crate) owner: Owner,
    /// The facts cached for it.
    pub(crate) known: Option<FileFacts>,
}

impl ScanJob {
    /// About how many bytes there are to read.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.size.saturating_sub(self.known.as_ref().map_or(0, |known| known.mark.offset))
    }
}

/// The result of reading one file.
pub(crate) struct ScanResult {
    /// The file that was read.
    pub(crate) path: PathBuf,
    /// The facts of the file, or the error that prevented reading it.
    pub(crate) facts: io::Result<FileFacts>,
    /// The facts encoded for the cache.
    pub(crate) packed: Option<Packed>,
    /// The number of bytes read.
    pub(crate) bytes: u64,
    /// Whether the file's content was replaced, so that the cached facts could not be continued.
    pub(crate) replaced: bool,
}

/// Reads the files on `threads` threads, handing over each as it is done, until `take` returns false.
pub(crate) fn scan(mut jobs: Vec<ScanJob>, threads: usize, mut take: impl FnMut(ScanResult) -> bool) {
    jobs.sort_by_key(|job| std::cmp::Reverse(job.new_bytes()));
    let long_lines = LongLines::default();
    if jobs.len() <= 1 {
        jobs.iter().all(|job| take(read(job, &long_lines)));
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
        // What is still being read when `take` has had enough is dropped.
        let _ = taken.iter().all(&mut take);
        drop(taken);
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
    if let Some(known) = known {
        tail = tail.remembering(&job.path, known.summary.last_at);
    }
    let mut agent = match &job.owner {
        Owner::Session(_) => None,
        Owner::Subagent(session) => Some(agent(&job.path, session.as_ref(), known)),
    };
    let (mut summary, mut spent) = match known {
        Some(known) => (known.summary.clone(), UsageCollector::resume(known.messages.clone())),
        None => (Box::new(empty_summary(job, agent.as_ref())), UsageCollector::default()),
    };
    while let Some(line) = tail.next_line()? {
        if line.number == 1
            && let Some(agent) = &mut agent
        {
            agent.note_task(given_task(&line).as_deref());
        }
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
    let known = known.and_then(|known| known.agent.clone()).unwrap_or(SubagentFacts::UNKNOWN);
    if known.kind.is_some() {
        return known;
    }
    let stamp = FileStamp::default();
    let file = SubagentFile { id: String::new(), path: path.to_owned(), stamp };
    let SubagentMeta { agent_type, description, .. } = file.meta();
    let session = session.cloned().or_else(|| file.session());
    SubagentFacts { session, kind: agent_type, description, ..known }
}
