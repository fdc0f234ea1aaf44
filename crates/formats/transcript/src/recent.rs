//! Reads the latest messages of a session: the prompts and the answer that a new task would follow.

use std::collections::VecDeque;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use jiff::Timestamp;

use crate::message::{Message, Part, Role, message};
use crate::open_transcript::OpenTranscript;
use crate::reader::Reader;
use crate::record::Record;
use crate::speech::is_command;
use crate::text::{beginning, end};

/// The number of prompts that are kept.
const PROMPTS: usize = 3;
/// How much of each text is kept, in characters: the beginning of a prompt, the end of an answer.
const KEPT: usize = 3000;
/// How much of the end of a transcript is read first, in bytes.
const WINDOW: u64 = 256 << 10;
/// How much is read at a time, in bytes.
const STEP: usize = 64 << 10;
/// The most that is read where less contains no prompt, in bytes.
const MOST: u64 = 8 << 20;

/// The latest messages of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentMessages {
    /// The last prompts that a person typed, oldest first.
    pub prompts: VecDeque<Excerpt>,
    /// The last text of the model.
    pub answer: Option<Excerpt>,
}

/// A text and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text of the excerpt, without secrets.
    pub text: String,
    /// Where its line begins in the transcript, in bytes.
    pub offset: u64,
    /// When it was said.
    pub at: Option<Timestamp>,
}

/// Reads the latest messages from the end of the transcript; with `before`, those before that moment, from its
/// beginning.
pub fn recent_messages(path: &Path, before: Option<Timestamp>) -> io::Result<RecentMessages> {
    if before.is_some() {
        return gather(Reader::open(path)?, before);
    }
    let size = OpenTranscript::open(path)?.stamp()?.size;
    let mut window = WINDOW;
    loop {
        let start = line_start(path, size.saturating_sub(window))?;
        let found = gather(Reader::open_at(path, start, 0)?, None)?;
        if start == 0 || found.is_enough() || window >= MOST {
            return Ok(found);
        }
        window *= 8;
    }
}

/// The number, from 1, of the line that begins at `offset`.
pub fn line_number(path: &Path, offset: u64) -> io::Result<u64> {
    let mut file = OpenTranscript::open(path)?.take(offset);
    let (mut step, mut lines) = (vec![0; STEP], 1);
    loop {
        match file.read(&mut step)? {
            0 => return Ok(lines),
            read => lines += memchr::memchr_iter(b'\n', &step[..read]).count() as u64,
        }
    }
}

/// The beginning of the first whole line from `offset` on.
pub fn line_start(path: &Path, offset: u64) -> io::Result<u64> {
    if offset == 0 {
        return Ok(0);
    }
    let mut file = OpenTranscript::open(path)?;
    let (mut at, mut step) = (offset - 1, vec![0; STEP]);
    file.seek(SeekFrom::Start(at))?;
    loop {
        let read = file.read(&mut step)?;
        match memchr::memchr(b'\n', &step[..read]) {
            Some(end) => return Ok(at + end as u64 + 1),
            None if read == 0 => return Ok(at),
            None => at += read as u64,
        }
    }
}

/// The beginning of the first record from `offset` on, which may be the place behind another one on its line.
pub(crate) fn record_start(path: &Path, offset: u64) -> io::Result<u64> {
    let mut reader = Reader::open_at(path, offset, 0)?;
    let is_record = reader.next_line()?.is_some_and(|line| {
        line.bytes.starts_with(b"{") && line.record().is_ok_and(|record| record.kind().is_in_tree())
    });
    if is_record { Ok(offset) } else { line_start(path, offset) }
}

fn gather(mut reader: Reader, before: Option<Timestamp>) -> io::Result<RecentMessages> {
    let mut recent = RecentMessages::default();
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        if before.zip(record.timestamp()).is_some_and(|(before, at)| at >= before) {
            break;
        }
        recent.observe(&record, line.offset);
    }
    Ok(recent)
}

impl RecentMessages {
    fn observe(&mut self, record: &Record<'_>, offset: u64) {
        if record.is_sidechain() || !record.kind().is_in_tree() {
            return;
        }
        let Some(message) = message(record) else { return };
        let text = text(&message);
        if text.trim().is_empty() {
            return;
        }
        let said = |text: String| Excerpt { text, offset, at: message.at };
        match message.role {
            Role::User if !is_command(&text) => {
                if self.prompts.len() == PROMPTS {
                    self.prompts.pop_front();
                }
                self.prompts.push_back(said(beginning(&text, KEPT)));
            }
            Role::Assistant => self.answer = Some(said(end(&text, KEPT))),
            _ => {}
        }
    }

    fn is_enough(&self) -> bool {
        self.prompts.len() == PROMPTS && self.answer.is_some()
    }
}

fn text(message: &Message<'_>) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
