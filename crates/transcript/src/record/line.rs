//! From the bytes of a line to a record, or to the reason why it is passed over.

use std::borrow::Cow;

use memchr::memmem;

use crate::json::raw_fields;

use super::{Fields, Kind, Record};

/// Why a line gives no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Nothing but white space.
    Blank,
    /// NUL bytes, as a crash of the machine leaves them.
    Nul,
    /// Not UTF-8.
    NotUtf8,
    /// Not a JSON object.
    NotJson,
    /// A record that is never read (`api-request…`, `prompt_snapshot`), left unparsed.
    Unread,
}

/// Calls `then` with the record of a line; any bytes give a record or a reason, never a panic.
///
/// A callback, because a line with raw control characters is repaired in a buffer of its own first.
pub fn parse<T>(line: &[u8], then: impl FnOnce(Result<Record<'_>, Passed>) -> T) -> T {
    if is_unread(line) {
        return then(Err(Passed::Unread));
    }
    let Ok(text) = simdutf8::basic::from_utf8(line) else {
        return then(Err(if line.contains(&0) { Passed::Nul } else { Passed::NotUtf8 }));
    };
    match serde_json::from_str::<Fields<'_>>(text) {
        Ok(fields) => then(known(&fields)),
        Err(_) if text.trim().is_empty() => then(Err(Passed::Blank)),
        Err(_) if line.contains(&0) => then(Err(Passed::Nul)),
        Err(_) => match without_control_characters(text) {
            Cow::Borrowed(_) => then(Err(Passed::NotJson)),
            Cow::Owned(repaired) => match serde_json::from_str::<Fields<'_>>(&repaired) {
                Ok(fields) => then(known(&fields)),
                Err(_) => then(Err(Passed::NotJson)),
            },
        },
    }
}

fn known<'a>(fields: &Fields<'a>) -> Result<Record<'a>, Passed> {
    let record = Record::new(fields);
    let unread = match record.kind() {
        Kind::ApiRequest => true,
        Kind::Attachment => record.subtype_word() == "prompt_snapshot",
        _ => false,
    };
    if unread { Err(Passed::Unread) } else { Ok(record) }
}

/// The fast path: the large records that nobody reads begin like this in every version that writes them.
/// Others of their kind, with their keys in another order, are recognised after parsing.
fn is_unread(line: &[u8]) -> bool {
    let head = &line[..line.len().min(256)];
    head.starts_with(br#"{"type":"api-request"#)
        || (line.len() > 4096 && memmem::find(head, br#""attachment":{"type":"prompt_snapshot""#).is_some())
}

/// A record's place in the tree: its id and its parent's. Also for records that [`parse`] leaves unread,
/// because chains of parents run through them.
pub fn link(line: &[u8]) -> Option<(&str, Option<&str>)> {
    let fields: Link<'_> = serde_json::from_str(simdutf8::basic::from_utf8(line).ok()?).ok()?;
    Some((fields.uuid.plain()?, fields.parent.plain()))
}

raw_fields! {
    struct Link { uuid = "uuid", parent = "parentUuid" }
}

/// Raw tabs and the like are not allowed inside JSON strings, yet some programs write them.
fn without_control_characters(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte < 0x20) {
        Cow::Owned(text.replace(|c: char| c < '\u{20}', " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Kind, Passed>) {
        check_bytes(line.as_bytes(), expected);
    }

    fn check_bytes(line: &[u8], expected: Result<Kind, Passed>) {
        parse(line, |outcome| {
            assert_eq!(outcome.map(|record| record.kind()), expected, "{}", String::from_utf8_lossy(line));
        });
    }

    #[test]
    fn hostile_lines() {
        check("", Err(Passed::Blank));
        check(" \t ", Err(Passed::Blank));
        check("null", Err(Passed::NotJson));
        check("12", Err(Passed::NotJson));
        check("[]", Err(Passed::NotJson));
        check("not json {", Err(Passed::NotJson));
        check(r#"{"type":"user""#, Err(Passed::NotJson));
        check(r#"{"type":"user"} x"#, Err(Passed::NotJson));
        check("{}", Ok(Kind::Unknown));
        check(r#"{"silly":"this"}"#, Ok(Kind::Unknown));
        check(r#"{"type":"a-new-type","uuid":"x"}"#, Ok(Kind::Unknown));
        check(r#"{"type":["user"]}"#, Ok(Kind::Unknown));
        check(r#"{"type":"user","type":"system"}"#, Ok(Kind::System));
        check(r#"{"type":"user","message":"\ud83d","timestamp":1e400}"#, Ok(Kind::User));
        check("{\"type\":\"user\",\"content\":\"a\tb\"}", Ok(Kind::User));
        check_bytes(b"\0\0\0\0", Err(Passed::Nul));
        check_bytes(b"{\"type\":\"user\",\"x\":\"\0\"}", Err(Passed::Nul));
        check_bytes(b"{\"type\":\"user\",\"x\":\"\xff\xfe\"}", Err(Passed::NotUtf8));
        let deep =
            format!("{{\"type\":\"user\",\"message\":{}}}", "[".repeat(200_000) + &"]".repeat(200_000));
        check(&deep, Ok(Kind::User));
        check(&"[".repeat(200_000), Err(Passed::NotJson));
    }

    #[test]
    fn large_records_that_nobody_reads_are_left_unparsed() {
        check(r#"{"type":"api-request","params":{ torn"#, Err(Passed::Unread));
        check(r#"{"id":"x","type":"api-request-blob"}"#, Err(Passed::Unread));
        let filler = "x".repeat(5000);
        let snapshot = format!(
            r#"{{"parentUuid":"p","attachment":{{"type":"prompt_snapshot","text":"{filler}"}},"type":"attachment","uuid":"u"}}"#
        );
        check(&snapshot, Err(Passed::Unread));
        assert_eq!(link(snapshot.as_bytes()), Some(("u", Some("p"))));
        check(r#"{"type":"attachment","attachment":{"type":"date"},"uuid":"u"}"#, Ok(Kind::Attachment));
    }

    #[test]
    fn the_tree_hangs_by_uuids() {
        assert_eq!(link(br#"{"uuid":"a","parentUuid":null}"#), Some(("a", None)));
        assert_eq!(link(br#"{"type":"mode"}"#), None);
        assert_eq!(link(b"junk"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_a_record_or_a_reason(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            parse(&bytes, |_| ());
        }

        #[test]
        fn any_text_in_any_field_is_carried(text in "\\PC{0,40}") {
            let line = serde_json::json!({"type": "user", "cwd": text, "unknown": {"deep": [text]}}).to_string();
            parse(line.as_bytes(), |record| {
                let cwd = record.unwrap().cwd().unwrap_or_default().into_owned();
                proptest::prop_assert_eq!(cwd, text);
                Ok(())
            })?;
        }
    }
}
