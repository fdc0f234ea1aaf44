//! What is said at a line of a transcript that somebody names, whether or not it is indexed.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use transcript::record::{Record, parse, result_text};
use transcript::{Part, Reader, message};

use crate::kind::ChunkKind;
use crate::snippet::{Snippet, beginning_of, text_of, units_of};
use crate::unit::Unit;

/// A line of a transcript, as a hit cites it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedLine {
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// The record's id.
    pub uuid: Option<String>,
    /// What its text is; the output of a tool counts as a command's.
    pub kind: ChunkKind,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// The beginning of its text; absent for a picture.
    pub snippet: Option<Snippet>,
}

/// What is said at this line, from 1; `None` where nothing is.
pub fn cited_line(file: &Path, line: u64, shows_secrets: bool) -> io::Result<Option<CitedLine>> {
    let mut reader = Reader::open(file)?;
    while let Some(found) = reader.next_line()? {
        if found.number < line {
            continue;
        }
        let record = parse(found.bytes).ok().filter(|_| found.number == line);
        return Ok(record.and_then(|record| cited(&record, found.offset, shows_secrets)));
    }
    Ok(None)
}

fn cited(record: &Record<'_>, offset: u64, shows_secrets: bool) -> Option<CitedLine> {
    let units = units_of(record, false, shows_secrets);
    let said = message(record);
    // What the person typed while a tool ran says more than what the tool printed.
    let by_person = units.iter().find(|unit| unit.kind == ChunkKind::Prompt);
    let (kind, text) = if let Some(unit) = by_person.or(units.first()) {
        (unit.kind, text_of(unit, 0))
    } else {
        let output = said.as_ref()?.parts.iter().find_map(|part| output(part, shows_secrets));
        (ChunkKind::Command, output)
    };
    Some(CitedLine {
        offset,
        uuid: record.uuid().map(ToOwned::to_owned),
        kind,
        at: said.and_then(|said| said.at),
        snippet: text.as_deref().map(beginning_of),
    })
}

/// The output of a tool, which is not indexed.
fn output(part: &Part<'_>, shows_secrets: bool) -> Option<String> {
    let Part::ToolResult { content, .. } = part else { return None };
    let unit = Unit::new(ChunkKind::Command, result_text(*content));
    text_of(&if shows_secrets { unit } else { unit.redacted() }, 0)
}
