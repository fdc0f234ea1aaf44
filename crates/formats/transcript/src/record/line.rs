//! Parses the bytes of a line as a record, or returns the reason why it is skipped.

use std::sync::LazyLock;

use memchr::memmem;

use crate::json::{Object, raw_fields};
use crate::scan::Fields;

use super::Record;
use super::rest::without_padding;

/// Why a line gives no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// Nothing but white space.
    Blank,
    /// NUL bytes, as a crash of the machine leaves them.
    Nul,
    /// The line is not UTF-8.
    NotUtf8,
    /// The line is not a JSON object.
    NotJson,
    /// A record that is never read (`api-request…`, `prompt_snapshot`), left unparsed.
    Unread,
    /// A record that was written before in this file: id, time and text are the same.
    Copy,
}

/// The first record of a line; any bytes give a record or a reason, never a panic.
pub fn parse(line: &[u8]) -> Result<Record<'_>, SkipReason> {
    let line = after_nuls(line);
    if is_unread(line) {
        return Err(SkipReason::Unread);
    }
    let mut record = Record::empty();
    read(simdutf8::basic::from_utf8(line).map_err(|_| SkipReason::NotUtf8)?, &mut record)?;
    Ok(record)
}

/// The first record of a line that is known to be UTF-8.
#[inline]
pub(crate) fn parse_text(line: &str) -> Result<Record<'_>, SkipReason> {
    let line = &line[nuls(line.as_bytes())..];
    if is_unread(line.as_bytes()) {
        return Err(SkipReason::Unread);
    }
    let mut record = Record::empty();
    read(line, &mut record)?;
    Ok(record)
}

fn read<'a>(text: &'a str, record: &mut Record<'a>) -> Result<(), SkipReason> {
    let Some(own) = record.set(text) else {
        return Err(match text {
            text if holds_nul(text) => SkipReason::Nul,
            text if text.trim().is_empty() => SkipReason::Blank,
            _ => SkipReason::NotJson,
        });
    };
    match record {
        record if record.is_unread() => Err(SkipReason::Unread),
        _ if holds_nul(own) => Err(SkipReason::Nul),
        _ => Ok(()),
    }
}

fn holds_nul(text: &str) -> bool {
    memchr::memchr(0, text.as_bytes()).is_some()
}

/// What was written behind the NUL bytes that a crash left at the end of the file.
fn after_nuls(line: &[u8]) -> &[u8] {
    &line[nuls(line)..]
}

/// How many NUL bytes the line begins with; 0 if there is nothing else.
fn nuls(line: &[u8]) -> usize {
    line.iter().position(|byte| *byte != 0).unwrap_or_default()
}

/// The fast path: large records that are never read begin like this in every version that writes them. Others of
/// their kind, with keys in another order, are recognized after parsing.
fn is_unread(line: &[u8]) -> bool {
    static SNAPSHOT: LazyLock<memmem::Finder<'_>> =
        LazyLock::new(|| memmem::Finder::new(br#""attachment":{"type":"prompt_snapshot""#));
    let head = &line[..line.len().min(256)];
    head.starts_with(br#"{"type":"api-request"#) || (line.len() > 4096 && SNAPSHOT.find(head).is_some())
}

/// A record's place in the tree: its id and its parent's. Also for records that [`parse`] leaves unread,
/// because chains of parents run through them.
pub fn link(line: &[u8]) -> Option<(&str, Option<&str>)> {
    let text = simdutf8::basic::from_utf8(after_nuls(line)).ok()?;
    let (fields, _) = first::<Link<'_>>(text)?;
    Some((fields.uuid.plain()?, fields.parent.plain()))
}

/// Whether a line is a whole JSON object, also with bytes that are no UTF-8, or several of them.
pub(crate) fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_begun = line.first() == Some(&b'{') && matches!(line.last(), Some(&(b'}' | 0)));
    if !is_begun {
        return false;
    }
    let text = String::from_utf8_lossy(line);
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        let Some((_, behind)) = first::<Link<'_>>(rest) else { return false };
        rest = without_padding(behind);
    }
    true
}

/// The fields of the object that the text begins with, and what is behind it.
fn first<'a, T: Object<'a>>(text: &'a str) -> Option<(T, &'a str)> {
    let (mut object, mut fields) = (T::default(), Fields::new(text));
    object.fill(&mut fields).then(|| (object, fields.rest()))
}

raw_fields! {
    struct Link { uuid = "uuid", parent = "parentUuid" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordKind;

    fn check(line: &str, expected: Result<RecordKind, SkipReason>) {
        check_bytes(line.as_bytes(), expected);
    }

    fn check_bytes(line: &[u8], expected: Result<RecordKind, SkipReason>) {
        let kind = parse(line).map(|record| record.kind());
        assert_eq!(kind, expected, "{}", String::from_utf8_lossy(line));
        if let Ok(text) = std::str::from_utf8(line) {
            assert_eq!(parse_text(text).map(|record| record.kind()), expected, "{text}");
        }
    }

    #[test]
    fn hostile_lines_are_skipped_with_a_reason() {
        check("", Err(SkipReason::Blank));
        check(" \t ", Err(SkipReason::Blank));
        check("null", Err(SkipReason::NotJson));
        check("12", Err(SkipReason::NotJson));
        check("[]", Err(SkipReason::NotJson));
        check("not json {", Err(SkipReason::NotJson));
        check(r#"{"type":"user""#, Err(SkipReason::NotJson));
        check(r#"{"type":"user"} x"#, Ok(RecordKind::User));
        check("{}", Ok(RecordKind::Unknown));
        check(r#"{"silly":"this"}"#, Ok(RecordKind::Unknown));
        check(r#"{"type":"a-new-type","uuid":"x"}"#, Ok(RecordKind::Unknown));
        check(r#"{"type":["user"]}"#, Ok(RecordKind::Unknown));
        check(r#"{"type":"user","type":"system"}"#, Ok(RecordKind::System));
        check(r#"{"type":"user","message":"\ud83d","timestamp":1e400}"#, Ok(RecordKind::User));
        check("{\"type\":\"user\",\"content\":\"a\tb\"}", Ok(RecordKind::User));
        check_bytes(b"\0\0\0\0", Err(SkipReason::Nul));
        check_bytes(b"\0\0\0\0{\"type\":\"user\"}", Ok(RecordKind::User));
        check_bytes(b"{\"type\":\"user\"}\0\0\0\0", Ok(RecordKind::User));
        check_bytes(b"{\"type\":\"user\",\"x\":\"\0\"}", Err(SkipReason::Nul));
        check_bytes(b"{\"type\":\"user\",\"x\":\"\xff\xfe\"}", Err(SkipReason::NotUtf8));
        let deep =
            format!("{{\"type\":\"user\",\"message\":{}}}", "[".repeat(200_000) + &"]".repeat(200_000));
        check(&deep, Ok(RecordKind::User));
        check(&"[".repeat(200_000), Err(SkipReason::NotJson));
    }

    #[test]
    fn large_records_that_nobody_reads_are_left_unparsed() {
        check(r#"{"type":"api-request","params":{ torn"#, Err(SkipReason::Unread));
        check(r#"{"id":"x","type":"api-request-blob"}"#, Err(SkipReason::Unread));
        let filler = "x".repeat(5000);
        let snapshot = format!(
            r#"{{"parentUuid":"p","attachment":{{"type":"prompt_snapshot","text":"{filler}"}},"type":"attachment","uuid":"u"}}"#
        );
        check(&snapshot, Err(SkipReason::Unread));
        assert_eq!(link(snapshot.as_bytes()), Some(("u", Some("p"))));
        check(r#"{"type":"attachment","attachment":{"type":"date"},"uuid":"u"}"#, Ok(RecordKind::Attachment));
    }

    #[test]
    fn records_are_linked_by_uuid() {
        assert_eq!(link(br#"{"uuid":"a","parentUuid":null}"#), Some(("a", None)));
        assert_eq!(link(br#"{"type":"mode"}"#), None);
        assert_eq!(link(b"junk"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_a_record_or_a_reason(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn any_text_in_any_field_is_carried(text in "\\PC{0,40}") {
            let line = serde_json::json!({"type": "user", "gitBranch": text, "unknown": {"deep": [text]}}).to_string();
            let branch = parse(line.as_bytes()).unwrap().branch().unwrap_or_default();
            proptest::prop_assert_eq!(branch, text);
        }
    }
}
