//! Where the conversation was compacted, and what stayed before the model.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::message::message;
use crate::reader::Reader;
use crate::record::RecordKind;

/// One compaction: what precedes it is no longer before the model, but for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The line that records it, from 1.
    pub line: u64,
    /// When it was.
    pub at: Option<Timestamp>,
    /// `manual` where the person asked for it, else `auto`.
    pub trigger: Option<String>,
    /// Tokens of context before it.
    pub tokens_before: Option<u64>,
    /// Tokens of context after it.
    pub tokens_after: Option<u64>,
    /// Hashes of the ids of the records that stayed as they were.
    pub preserved: HashSet<u64>,
}

/// The compactions of a transcript, in order.
///
/// Old versions recorded only the summary; where there are boundaries, summaries do not count.
pub fn compactions(file: &Path) -> io::Result<Vec<Compaction>> {
    let mut reader = Reader::open(file)?;
    let (mut boundaries, mut summaries) = (Vec::new(), Vec::new());
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        let is_boundary = record.kind() == RecordKind::CompactBoundary;
        if !is_boundary && !record.is_compact_summary() {
            continue;
        }
        let about = record.compact_metadata();
        let preserved = about.get("preservedMessages").get("uuids");
        let found = Compaction {
            line: line.number,
            at: message(&record).and_then(|message| message.at),
            trigger: about.get("trigger").text().map(Into::into),
            tokens_before: about.get("preTokens").count(),
            tokens_after: about.get("postTokens").count(),
            preserved: preserved.elements().filter_map(|id| Some(xxh3_64(id.text()?.as_bytes()))).collect(),
        };
        if is_boundary { boundaries.push(found) } else { summaries.push(found) }
    }
    Ok(if boundaries.is_empty() { summaries } else { boundaries })
}
