//! What is on a line behind its first record: two writers lose a newline between them, a crash leaves NUL bytes or half a
//! record, and the next record follows on the same line.
//!
//! Claude Code gives up the whole line; here it is read as far as it can be.

use memchr::memmem;

use crate::json::{Object as _, raw_fields};
use crate::scan::Fields;

use super::RecordKind;

/// How many objects that do not end are looked at behind a torn record: as deep as one nests, and some.
const TORN: usize = 64;

raw_fields! {
    struct Head {
        kind = "type",
        subtype = "subtype",
        uuid = "uuid",
        timestamp = "timestamp",
        session = "sessionId",
        leaf = "leafUuid",
        message = "messageId",
    }
}

impl Head<'_> {
    /// Whether these are fields of a record, not of something inside one.
    fn is_record(self) -> bool {
        let kind = RecordKind::from_names(self.kind.plain(), self.subtype.plain());
        match kind {
            RecordKind::Unknown => self.uuid.is_text() && self.timestamp.is_present(),
            kind if kind.is_in_tree() => self.uuid.is_text(),
            _ => [self.uuid, self.session, self.leaf, self.message].iter().any(|field| field.is_text()),
        }
    }
}

/// Where the next record begins behind one that is whole and leaves so many bytes of the line.
pub(crate) fn behind_whole(line: &[u8], behind: usize) -> Option<usize> {
    let from = line.len() - behind;
    let padding = line[from..].iter().position(|byte| !is_padding(*byte))?;
    Some(from + padding)
}

/// Where the first whole record begins on a line that begins with something else.
pub(crate) fn behind_torn(line: &[u8]) -> Option<usize> {
    let text = line.utf8_chunks().filter(|chunk| chunk.invalid().is_empty()).last()?.valid();
    let begins = line.len() - text.len();
    let open = memmem::Finder::new(b"{\"");
    // An object at the beginning of the line would have been read.
    let (mut from, mut torn) = (usize::from(begins == 0), 0);
    while torn < TORN {
        let at = from + open.find(text.as_bytes().get(from..)?)?;
        let (mut head, mut fields) = (Head::default(), Fields::new(&text[at..]));
        if !head.fill(&mut fields) {
            torn += 1;
            from = at + 1;
            continue;
        }
        let behind = without_padding(fields.rest());
        if head.is_record() && (behind.is_empty() || behind.starts_with('{')) {
            return Some(begins + at);
        }
        from = text.len() - fields.rest().len();
    }
    None
}

/// The text without what may stand between two records.
pub(super) fn without_padding(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_padding(c as u8))
}

fn is_padding(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"type":"user","uuid":"b","message":{"content":"x"}}"#;

    fn check(torn: &str, is_found: bool) {
        let line = format!("{torn}{WHOLE}");
        assert_eq!(behind_torn(line.as_bytes()), is_found.then_some(torn.len()), "{line}");
    }

    #[test]
    fn a_whole_record_is_found_behind_a_torn_one() {
        check(r#"{"type":"attachment","attachment":{"type":"queued_command","pro"#, true);
        check(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hel"#, true);
        check(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hello"},"#, true);
        check(r#"{"type":"user","uuid":"a","message":{"content":"x"}"#, true);
        check("half a line, and ", true);
        check("\0\0half\0", true);
        check(&r#"{"a":"#.repeat(TORN + 1), false);
    }

    #[test]
    fn what_is_inside_a_torn_record_is_none_of_its_own() {
        let inside =
            r#"{"type":"progress","data":{"message":{"type":"user","uuid":"c","timestamp":"t"},"pro"#;
        assert_eq!(behind_torn(inside.as_bytes()), None);
        check(inside, true);
        assert_eq!(behind_torn(br#"{"type":"user","message":{"content":[{"type":"text","text":"x"}]"#), None);
    }

    proptest::proptest! {
        #[test]
        fn a_record_torn_anywhere_does_not_hide_the_next_one(at in 0_usize..90, text in "[a-z{}\\[\\] é漢]{0,12}") {
            let torn = serde_json::json!({
                "type": "assistant", "message": {"content": [{"type": "text", "text": text}], "id": "m"}, "uuid": "a",
            }).to_string();
            let torn = &torn[..torn.floor_char_boundary(at.min(torn.len() - 1))];
            let line = format!("{torn}{WHOLE}");
            proptest::prop_assert_eq!(behind_torn(line.as_bytes()), Some(torn.len()).filter(|at| *at > 0));
        }

        #[test]
        fn any_bytes_are_looked_through(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            behind_torn(&bytes);
        }
    }
}
