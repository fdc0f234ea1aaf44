//! Finds the files a session recently wrote to, by its tool calls.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::edits::WRITERS;
use crate::open_transcript::OpenTranscript;
use crate::reader::Reader;
use crate::record::Block;

/// How much of the end of a transcript is read, in bytes.
const END: u64 = 8 << 20;

/// The files that a transcript's tools wrote to since a moment, each with the last time.
///
/// A path is absolute, by the directory of the record where the tool was given a part of one. Only the end of a
/// large transcript is looked at.
pub fn files_written(transcript: &Path, since: Timestamp) -> io::Result<BTreeMap<PathBuf, Timestamp>> {
    let length = OpenTranscript::open(transcript)?.stamp()?.size;
    let start = length.saturating_sub(END);
    let mut reader = Reader::open_at(transcript, start, 0)?;
    let mut touched = BTreeMap::new();
    // In the middle of a file the first line is the rest of one.
    let mut is_whole = start == 0;
    while let Some(line) = reader.next_line()? {
        if !std::mem::replace(&mut is_whole, true) {
            continue;
        }
        let Ok(record) = line.record() else { continue };
        let Some(at) = record.timestamp().filter(|at| *at >= since) else { continue };
        let Some(message) = record.message() else { continue };
        for block in message.each_block() {
            let Block::ToolUse { name, input, .. } = block else { continue };
            let path = input.get("file_path").text().or_else(|| input.get("notebook_path").text());
            let Some(path) = path.filter(|_| WRITERS.contains(&name)) else { continue };
            touched.insert(record.path_of(&path), at);
        }
    }
    Ok(touched)
}
