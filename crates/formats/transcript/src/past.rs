//! A transcript as it was at past moments, from one pass over the file as it is now.
//!
//! A transcript only grows, so its content at a moment is its beginning, up to the first record of that moment or
//! later. Records without a time go with the next timed record, because nothing says whether they were there before;
//! so later additions change nothing.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use model::{MessageUsage, SessionId};
use xxhash_rust::xxh3::xxh3_64;

use crate::reader::Reader;
use crate::summary::Summary;
use crate::usage::UsageCollector;

/// The content of one transcript before each of some moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptHistory {
    /// For each moment, in the order they were given; `None` where nothing was there yet.
    pub then: Vec<Option<PastTranscript>>,
    /// Hashes of all records' ids, in the order of the file, up to the last moment.
    pub records: Vec<u64>,
}

/// The content of a transcript before one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PastTranscript {
    /// The summary of the records.
    pub summary: Summary,
    /// The API messages in it.
    pub messages: Vec<MessageUsage>,
    /// The length of the content, in bytes.
    pub bytes: u64,
    /// The number of [`TranscriptHistory::records`] in it.
    pub records: usize,
}

/// Reads the content of the transcript of `id` before each of `moments`, which are sorted.
pub fn history(path: &Path, id: &SessionId, moments: &[Timestamp]) -> io::Result<TranscriptHistory> {
    let mut reader = Reader::open(path)?;
    let mut pass = Pass::new(id);
    let mut history = TranscriptHistory::default();
    while let Some(line) = reader.next_line()? {
        let record = line.record().ok();
        let at = record.as_ref().and_then(crate::record::Record::timestamp);
        if let Some(at) = at {
            while moments.get(history.then.len()).is_some_and(|moment| at >= *moment) {
                history.then.push(pass.so_far());
            }
            if history.then.len() == moments.len() {
                return Ok(history);
            }
        }
        if let Some(uuid) = record.as_ref().and_then(crate::record::Record::uuid) {
            history.records.push(xxh3_64(uuid.as_bytes()));
        }
        pass.take(line, at.is_some(), history.records.len());
    }
    while history.then.len() < moments.len() {
        history.then.push(pass.so_far());
    }
    Ok(history)
}

/// The pass over a file so far.
struct Pass {
    summary: Summary,
    spent: UsageCollector,
    /// The summary up to the last timed record, while untimed ones follow it.
    timed: Option<Box<Summary>>,
    bytes: u64,
    records: usize,
    has_begun: bool,
}

impl Pass {
    fn new(id: &SessionId) -> Self {
        Self {
            summary: Summary::new(id),
            spent: UsageCollector::default(),
            timed: None,
            bytes: 0,
            records: 0,
            has_begun: false,
        }
    }

    fn take(&mut self, line: crate::reader::Line<'_>, is_timed: bool, records: usize) {
        if is_timed {
            self.timed = None;
            self.has_begun = true;
            self.bytes = line.offset + line.bytes.len() as u64 + 1;
            self.records = records;
        } else if self.timed.is_none() {
            self.timed = Some(Box::new(self.summary.clone()));
        }
        self.summary.observe(line, &mut self.spent);
    }

    fn so_far(&self) -> Option<PastTranscript> {
        let summary = self.timed.as_deref().unwrap_or(&self.summary);
        self.has_begun.then(|| PastTranscript {
            summary: summary.clone(),
            messages: self.spent.messages().to_vec(),
            bytes: self.bytes,
            records: self.records,
        })
    }
}
