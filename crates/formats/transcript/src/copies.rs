//! Tells copies of records within one file: compactions of the desktop app write what they keep again, and two writers
//! write the same lines.
//!
//! A record is another one's copy when id, time and text agree. An id alone does not say it: programs reuse ids.

use std::io;
use std::path::Path;

use memchr::memmem;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::open_transcript::OpenTranscript;
use crate::record::Record;

/// The records of a file so far.
#[derive(Debug, Default)]
pub(crate) struct WrittenRecords {
    known: FxHashSet<u64>,
    /// Whether the last record of the tree was a copy.
    after_copies: bool,
    /// The latest record that was looked at, by its place in the file, and what it was: it may be asked for again.
    latest: Option<(u64, Written)>,
}

/// How a record relates to those before it in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is new.
    New,
    /// It is new, and those directly before it are copies.
    BehindCopies,
    /// It is a copy of one before it.
    Again,
}

impl WrittenRecords {
    /// Takes the record at this place in the file.
    pub(crate) fn take(&mut self, record: &Record<'_>, place: u64) -> Written {
        if let Some((_, written)) = self.latest.filter(|(at, _)| *at == place) {
            return written;
        }
        let Some(identity) = identity(record) else { return Written::New };
        let is_new = self.known.insert(identity);
        let written = match (is_new, self.after_copies) {
            (true, false) => Written::New,
            (true, true) => Written::BehindCopies,
            (false, _) => Written::Again,
        };
        self.after_copies = !is_new;
        self.latest = Some((place, written));
        written
    }

    /// Adds the records of the part of the file before.
    pub(crate) fn add_earlier(&mut self, earlier: Self) {
        self.after_copies |= self.latest.is_none() && earlier.after_copies;
        self.known.extend(earlier.known);
    }
}

/// A hash of what makes a record what it is: its id, its time and its text; `None` for records without id or time.
pub(crate) fn identity(record: &Record<'_>) -> Option<u64> {
    let is_timed = !record.moment().is_empty();
    let uuid = record.uuid().filter(|_| is_timed && record.kind().is_in_tree())?;
    let id = xxh3_64_with_seed(record.moment().as_bytes(), xxh3_64(uuid.as_bytes()));
    Some(xxh3_64_with_seed(record.said().as_bytes(), id))
}

/// Whether a record with this id is in the first `end` bytes of a file. Only bytes are compared, so that it costs little.
pub(crate) fn is_written_before(path: &Path, uuid: &str, end: u64) -> io::Result<bool> {
    const STEP: usize = 1 << 20;
    let wanted = [format!("\"uuid\":\"{uuid}\""), format!("\"uuid\": \"{uuid}\"")];
    let finders = wanted.each_ref().map(|wanted| memmem::Finder::new(wanted.as_bytes()));
    let (mut file, mut step, mut at) = (OpenTranscript::open(path)?, vec![0; STEP], 0);
    while at < end {
        let read = file.read_at(&mut step, at)?;
        let part = &step[..read.min(usize::try_from(end - at).unwrap_or(usize::MAX))];
        if finders.iter().any(|finder| finder.find(part).is_some()) {
            return Ok(true);
        }
        if part.len() < STEP {
            break;
        }
        at += (STEP - wanted[1].len()) as u64;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    fn check(lines: &[&str], expected: &str) {
        let mut written = WrittenRecords::default();
        let found: String = (0..)
            .zip(lines)
            .map(|(place, line)| {
                let record = parse(line.as_bytes()).unwrap();
                let first = written.take(&record, place);
                assert_eq!(written.take(&record, place), first, "asked twice");
                match first {
                    Written::New => 'n',
                    Written::BehindCopies => 'b',
                    Written::Again => 'a',
                }
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_copy_has_the_same_id_time_and_text() {
        let one =
            r#"{"type":"user","uuid":"a","timestamp":"2026-01-01T10:00:00Z","message":{"content":"one"}}"#;
        let later = one.replace("10:00", "11:00");
        let other = one.replace("one", "two");
        let renamed = one.replace("\"a\"", "\"b\"");
        let moved = one.replace("\"uuid\"", "\"parentUuid\":\"x\",\"uuid\"");
        check(&[one, one], "na");
        check(&[one, &later, &other, &renamed], "nnnn");
        check(&[one, &moved, &other, &later], "nabn");
        let note = r#"{"type":"mode","uuid":"a","mode":"vim"}"#;
        check(&[note, note], "nn");
    }
}
