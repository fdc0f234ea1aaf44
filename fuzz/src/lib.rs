//! What must hold for any bytes; asked by the fuzz targets, and by a plain test of the transcript crate.

use std::hint::black_box;
use std::io::{self, Read};

use transcript::record::{ApiMessage, Block, Record, link, parse, result_text};
use transcript::{Raw, Reader, Summary, UsageCollector, message, speech};

/// Any bytes as a line: all that can be asked of it is asked, and nothing panics.
pub fn line(bytes: &[u8]) {
    black_box(link(bytes));
    if let Ok(record) = parse(bytes) {
        ask(&record);
        if let Some((_, inner)) = record.agent_progress() {
            ask(&inner);
        }
    }
}

/// Any bytes as a file: read whole and in pieces it has the same lines, and its summary is the same too
/// when it is taken up again in the middle.
pub fn file(bytes: &[u8], piece: usize) {
    let (whole, end) = lines(Reader::new(bytes));
    let in_pieces = lines(Reader::new(Pieces { bytes, size: piece.max(1) }));
    assert_eq!((&whole, end), (&in_pieces.0, in_pieces.1), "pieces of {piece} bytes");
    let middle = if whole.is_empty() { 0 } else { piece % whole.len() };
    assert_eq!(summary(&whole, None), summary(&whole, Some(middle)), "taken up at line {middle}");
}

fn ask(record: &Record<'_>) {
    let words = [
        record.uuid(),
        record.parent(),
        record.logical_parent(),
        record.agent(),
        record.session(),
        record.request_session(),
        record.version(),
        record.entrypoint(),
        record.session_kind(),
        record.nickname(),
        record.permission_mode(),
        record.request(),
        record.operation(),
        record.leaf(),
    ];
    let texts = [
        record.cwd(),
        record.branch(),
        record.content(),
        record.queued_prompt(),
        record.custom_title(),
        record.ai_title(),
        record.summary(),
        record.last_prompt(),
        record.tag(),
        record.relocated_cwd(),
        record.worktree_origin(),
        record.pr_url(),
    ];
    let flags = [
        record.is_sidechain(),
        record.is_meta(),
        record.is_compact_summary(),
        record.is_api_error(),
        record.has_tool_result(),
        record.may_be_human(),
        record.is_synthetic(),
    ];
    black_box((words, flags, record.kind(), record.type_word(), record.subtype_word()));
    black_box((record.forked_from(), record.timestamp(), record.duration_ms(), record.tracked_files()));
    for text in texts.into_iter().flatten() {
        black_box(speech(&text));
    }
    for value in [record.attachment(), record.tool_use_result(), record.compact_metadata()] {
        walk(value, 3);
    }
    if let Some((total, models)) = record.cost_state() {
        black_box(total.number());
        walk(models, 3);
    }
    if let Some(message) = record.message() {
        ask_message(&message);
    }
    black_box(message(record));
}

fn ask_message(message: &ApiMessage<'_>) {
    black_box((message.id(), message.role(), message.model(), message.stop_reason(), message.is_plain()));
    black_box((message.usage(), message.terms()));
    for block in message.each_block() {
        match block {
            Block::Text(text) | Block::Thinking(text) => drop(black_box(speech(&text))),
            Block::ToolUse { input, .. } => walk(input, 3),
            Block::ToolResult { content, .. } => drop(black_box(result_text(content))),
            Block::Image | Block::Other => {}
        }
    }
}

/// A value, and what it is made of to some depth.
fn walk(value: Raw<'_>, depth: usize) {
    black_box((value.text(), value.plain(), value.count(), value.number(), value.get("type").json()));
    if depth > 0 {
        value.elements().take(50).for_each(|element| walk(element, depth - 1));
        value.entries().take(50).for_each(|(_, value)| walk(value, depth - 1));
    }
}

/// A line as it was given out: its offset, its number, its bytes.
type Line = (u64, u64, Vec<u8>);

fn lines<R: Read>(mut reader: Reader<R>) -> (Vec<Line>, u64) {
    let mut all = Vec::new();
    while let Ok(Some(line)) = reader.next_line() {
        all.push((line.offset, line.number, line.bytes.to_vec()));
    }
    (all, reader.offset())
}

/// The summary of these lines, stored and taken up again before one of them.
fn summary(lines: &[Line], again_at: Option<usize>) -> (Summary, UsageCollector) {
    let id = "0f0e0d0c-0b0a-4908-8706-050403020100".parse().expect("an id");
    let (mut summary, mut spent) = (Summary::new(&id), UsageCollector::default());
    for (at, (_, _, bytes)) in lines.iter().enumerate() {
        if again_at == Some(at) {
            spent = UsageCollector::resume(spent.into_messages());
        }
        summary.observe(transcript::Line::of(bytes), &mut spent);
    }
    (summary, spent)
}

/// Gives out at most so many bytes at once.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(out.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(size);
        out[..size].copy_from_slice(piece);
        self.bytes = rest;
        Ok(size)
    }
}
