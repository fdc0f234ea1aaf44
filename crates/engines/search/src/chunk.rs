//! What of a record is indexed, and cut into which pieces.
//!
//! Stateless: the same line always gives the same units and pieces, so that a hit's text can be had again
//! from the transcript and need not be kept.

use std::borrow::Cow;

use transcript::record::{Kind as RecordKind, Record};
use transcript::{Part, Role, is_command, message};

use crate::facts;
use crate::kind::Kind;

/// About how long a piece is, in bytes of text.
const PIECE: usize = 1600;
/// How much of a piece stands in the next one again.
const OVERLAP: usize = 64;
/// The longest text of one unit that is indexed, in bytes; what is longer is data.
const UNIT_CAP: usize = 200_000;
/// The same for code that was written: its beginning tells what it is.
const CODE_CAP: usize = 2400;
/// The most texts of one record that are indexed; what has more is data.
const MOST_UNITS: usize = 10_000;
/// How far behind the cap a secret may reach that begins before it, in bytes.
const LONGEST_SECRET: usize = 8 << 10;

/// A text of a record with what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit<'a> {
    /// What it is.
    pub(crate) kind: Kind,
    /// The text.
    pub(crate) text: Cow<'a, str>,
    /// The file it is about.
    pub(crate) path: Option<Cow<'a, str>>,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(kind: Kind, text: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, text: text.into(), path: None }
    }

    pub(crate) fn about(kind: Kind, path: Cow<'a, str>, text: impl Into<Cow<'a, str>>) -> Self {
        Self { kind, text: text.into(), path: Some(path) }
    }

    /// Without secrets. Before it is cut into pieces, so that none is parted by a cut and overlooked.
    pub(crate) fn redacted(self) -> Self {
        let end = self.text.floor_char_boundary(self.cap() + LONGEST_SECRET);
        let text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
            Cow::Owned(mut text) => {
                text.truncate(end);
                Cow::Owned(text)
            }
        };
        Self { text: redact::redacted(text), path: self.path.map(redact::redacted), ..self }
    }

    fn cap(&self) -> usize {
        if self.kind.is_change() { CODE_CAP } else { UNIT_CAP }
    }

    /// How much of it is indexed, in bytes.
    pub(crate) fn indexed_length(&self) -> u64 {
        self.indexed().len() as u64 + self.path.as_ref().map_or(0, |path| path.len() as u64)
    }

    /// The text in overlapping pieces, cut where a line or a word ends.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        pieces(self.indexed())
    }

    /// The part of the text that is indexed.
    fn indexed(&self) -> &str {
        &self.text[..self.text.floor_char_boundary(self.cap())]
    }
}

/// The indexed texts of a record, without secrets; `subagent` says that it stands in a sub-agent's file.
pub(crate) fn units<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    original_units(record, subagent).into_iter().map(Unit::redacted).collect()
}

/// The same as they were said.
pub(crate) fn original_units<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    let mut units = match record.kind() {
        RecordKind::Summary => title(record.summary()),
        RecordKind::CustomTitle => title(record.custom_title()),
        RecordKind::AiTitle => title(record.ai_title()),
        RecordKind::FileHistory => facts::backups(record),
        RecordKind::QueueOperation if record.operation() == Some("enqueue") => queued(record),
        _ => spoken(record, subagent),
    };
    units.retain(|unit| unit.path.as_ref().map_or(!unit.text.trim().is_empty(), |path| !path.is_empty()));
    for unit in units.iter_mut().filter(|unit| unit.kind.is_change()) {
        name_file(unit, record.cwd().as_deref());
    }
    units
}

/// The texts of a record as far as they are indexed, with the secrets that indexing takes out: for measuring
/// what it takes out.
pub fn texts(record: &Record<'_>, subagent: bool) -> Vec<String> {
    let units = original_units(record, subagent);
    units.iter().map(|unit| unit.text[..unit.text.floor_char_boundary(unit.cap())].to_owned()).collect()
}

/// Puts the path, as seen from the working directory, before a change's text: its words are part of what is
/// remembered of it.
fn name_file(unit: &mut Unit<'_>, cwd: Option<&str>) {
    let path = unit.path.as_deref().unwrap_or("");
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd)).filter(|rest| rest.starts_with('/'));
    unit.text = Cow::Owned(format!("{}\n{}", inside.unwrap_or(path).trim_start_matches('/'), unit.text));
}

fn title(text: Option<Cow<'_, str>>) -> Vec<Unit<'_>> {
    text.into_iter().map(|text| Unit::new(Kind::Title, text)).collect()
}

/// A prompt that waits: the person's words even when the turn never takes them up.
fn queued<'a>(record: &Record<'a>) -> Vec<Unit<'a>> {
    let Some(text) = record.content() else { return Vec::new() };
    let said = transcript::speech(&text).map(|said| said.text.into_owned());
    said.into_iter().map(|text| Unit::new(Kind::Prompt, text)).collect()
}

fn spoken<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    let Some(message) = message(record) else { return Vec::new() };
    let subagent = subagent || message.sidechain;
    let mut units = Vec::new();
    for part in message.parts {
        if units.len() >= MOST_UNITS {
            break;
        }
        match part {
            Part::Text(text) => units.push(Unit::new(text_kind(message.role, record, &text, subagent), text)),
            Part::Thinking(text) => units.push(Unit::new(Kind::Thinking, text)),
            Part::ToolUse { name, input, .. } => facts::of_tool_use(name, input, &mut units),
            Part::ToolResult { content, is_refused: true, .. } => facts::of_refusal(content, &mut units),
            Part::ToolResult { content, is_error, kept, .. } => {
                facts::of_tool_result(content, is_error, kept, &mut units);
            }
            Part::Image => {}
        }
    }
    units
}

fn text_kind(role: Role, record: &Record<'_>, text: &str, subagent: bool) -> Kind {
    match role {
        Role::User if subagent => Kind::AgentPrompt,
        Role::User if text.starts_with("! ") => Kind::Command,
        Role::User if is_command(text) => Kind::Slash,
        Role::User => Kind::Prompt,
        Role::Assistant => Kind::Answer,
        Role::Note if record.is_compact_summary() => Kind::Summary,
        Role::Note | Role::Tool => Kind::Error,
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let end = if text.len() - start <= PIECE + OVERLAP { text.len() } else { good_end(text, start) };
        let piece = &text[start..end];
        done = end == text.len();
        start = text.ceil_char_boundary(end.saturating_sub(OVERLAP));
        Some(piece)
    })
}

/// The end of a line or word in the last fifth of a piece, else its full length.
fn good_end(text: &str, start: usize) -> usize {
    let end = text.floor_char_boundary(start + PIECE);
    let from = text.floor_char_boundary(start + PIECE * 4 / 5);
    let tail = &text[from..end];
    tail.rfind('\n').or_else(|| tail.rfind(' ')).map_or(end, |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::record::parse;

    fn check(line: &str, subagent: bool, expected: &[(Kind, &str)]) {
        let record = parse(line.as_bytes()).unwrap();
        let units = units(&record, subagent);
        let found: Vec<_> = units.iter().map(|unit| (unit.kind, unit.text.as_ref())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn what_of_a_record_is_indexed() {
        let prompt = r#"{"type":"user","message":{"content":"[openclaw:agent=main]\n\nFix it"}}"#;
        check(prompt, false, &[(Kind::Prompt, "Fix it")]);
        check(prompt, true, &[(Kind::AgentPrompt, "Fix it")]);
        check(
            r#"{"type":"user","message":{"content":"<bash-input>ls</bash-input>"}}"#,
            false,
            &[(Kind::Command, "! ls")],
        );
        check(r#"{"type":"user","isMeta":true,"message":{"content":"x"}}"#, false, &[]);
        check(r#"{"type":"custom-title","customTitle":"Tour"}"#, false, &[(Kind::Title, "Tour")]);
        check(
            r#"{"type":"queue-operation","operation":"enqueue","content":"and then?"}"#,
            false,
            &[(Kind::Prompt, "and then?")],
        );
        check(r#"{"type":"queue-operation","operation":"remove","content":"and then?"}"#, false, &[]);
        check(
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"}]}}"#,
            false,
            &[(Kind::Thinking, "hm"), (Kind::Answer, "ok")],
        );
        check(
            r#"{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}"#,
            false,
            &[(Kind::Summary, "so far")],
        );
    }

    #[test]
    fn pieces_overlap_and_lose_nothing() {
        let text = "word and another line\n".repeat(400);
        let all: Vec<_> = pieces(&text).collect();
        assert!(all.len() > 4);
        assert!(all.iter().all(|piece| piece.len() <= PIECE + OVERLAP));
        let mut covered = 0;
        for piece in all {
            let at = piece.as_ptr() as usize - text.as_ptr() as usize;
            assert!(at <= covered);
            covered = at + piece.len();
        }
        assert_eq!(covered, text.len());
    }

    proptest::proptest! {
        #[test]
        fn pieces_of_any_text_end(text in "\\PC{0,300}", times in 1_usize..30) {
            let text = text.repeat(times);
            proptest::prop_assert_eq!(pieces(&text).last().is_some_and(|piece| !piece.is_empty()), !text.is_empty());
        }
    }
}
