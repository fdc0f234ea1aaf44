//! Finds the positions of the members in the text of a JSON object, using `serde_json`.

use std::cell::RefCell;
use std::fmt;
use std::io::Read;
use std::ops::Range;

use serde::de::{self, Deserializer as _, IgnoredAny};
use serde_json::value::RawValue;

use super::skimming_reader::{Skimmer, SkimmingReader};

/// A member, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberRange {
    pub(super) key: String,
    /// From behind the bracket or comma before it to the comma or white space behind it.
    pub(super) whole: Range<u64>,
    pub(super) value: Range<u64>,
}

/// Where the parts of an object are, in bytes from the beginning of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectRanges {
    /// Behind the opening bracket.
    pub(super) open: u64,
    pub(super) members: Vec<MemberRange>,
    /// The white space before the first member, and behind the last.
    pub(super) inner: Range<u64>,
    pub(super) outer: Range<u64>,
    /// The closing bracket.
    pub(super) close: u64,
    /// The whole text.
    pub(super) length: u64,
}

/// Why a text is not a JSON object.
#[derive(Debug)]
pub(crate) struct NoObject {
    /// What is wrong. The place that it names is not to be trusted, as the parser did not see all.
    pub(super) error: serde_json::Error,
    /// How far the text was read.
    pub(super) position: u64,
}

impl fmt::Display for NoObject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.error.to_string();
        let place = format!(" at line {} column {}", self.error.line(), self.error.column());
        write!(out, "{} at byte {}", text.strip_suffix(&place).unwrap_or(&text), self.position)
    }
}

impl ObjectRanges {
    /// Reads a text in memory.
    pub(crate) fn of_text(text: &str) -> serde_json::Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let found = reader.deserialize_map(RawMembers)?;
        reader.end()?;
        let begin = text.as_ptr().addr();
        let open = text.find('{').map_or(0, |at| at + 1);
        let close = text.rfind('}').unwrap_or(text.len());
        let mut start = open;
        let mut members: Vec<MemberRange> = Vec::with_capacity(found.len());
        for (key, raw) in found {
            let from = raw.get().as_ptr().addr() - begin;
            let value = from..from + raw.get().len();
            // Between a value and the next member there are white space and a comma alone.
            let comma = text[value.end..].find(|c: char| !c.is_ascii_whitespace());
            let comma = comma.map_or(text.len(), |at| value.end + at);
            members.push(MemberRange { key, whole: range(start..comma), value: range(value) });
            start = comma + 1;
        }
        let behind = text[open..].find(|c: char| !c.is_ascii_whitespace());
        let first = behind.map_or(text.len(), |at| open + at);
        Ok(Self::new(range(open..first), members, close as u64, text.len() as u64))
    }

    /// Reads a text of any size to its end, without holding more of it than the keys.
    pub(crate) fn of_reader(from: impl Read) -> Result<Self, NoObject> {
        let skimmer = RefCell::new(Skimmer::new(from));
        let mut reader = serde_json::Deserializer::from_reader(SkimmingReader(&skimmer));
        let found = reader.deserialize_map(SkimmedMembers(&skimmer));
        let found = found.and_then(|found| reader.end().map(|()| found));
        let position = skimmer.borrow().position();
        match found {
            Ok((inner, members, close)) => Ok(Self::new(inner, members, close, position)),
            Err(error) => Err(NoObject { error, position }),
        }
    }

    /// The ranges, given members that each end at the comma or closing bracket after them.
    fn new(inner: Range<u64>, mut members: Vec<MemberRange>, close: u64, length: u64) -> Self {
        let open = inner.start;
        let end = members.last_mut().map(|last| {
            last.whole.end = last.value.end;
            last.whole.end
        });
        Self { open, members, inner, outer: end.unwrap_or(close)..close, close, length }
    }
}

fn range(range: Range<usize>) -> Range<u64> {
    range.start as u64..range.end as u64
}

/// The members of an object in memory, without parsing their values.
struct RawMembers;

impl<'de> de::Visitor<'de> for RawMembers {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// The same of one that is skimmed: the white space before the members, these, and the place of the closing bracket.
struct SkimmedMembers<'a, R>(&'a RefCell<Skimmer<R>>);

impl<'de, R: Read> de::Visitor<'de> for SkimmedMembers<'_, R> {
    type Value = (Range<u64>, Vec<MemberRange>, u64);

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // The parser has read up to behind the opening bracket, and no further.
        let open = self.0.borrow().position();
        self.0.borrow_mut().skip_white_space();
        let inner = open..self.0.borrow().position();
        let mut start = open;
        let mut members = Vec::new();
        loop {
            self.0.borrow_mut().begin_key();
            let Some(key) = map.next_key()? else { break };
            let value = map.next_value_seed(SkimmedValue(self.0))?;
            let comma = self.separator_after(&value);
            members.push(MemberRange { key, whole: start..comma, value });
            start = comma + 1;
        }
        // To see that there is no further member the parser has read the closing bracket.
        Ok((inner, members, self.0.borrow().position().saturating_sub(1)))
    }
}

impl<R: Read> SkimmedMembers<'_, R> {
    /// The position of the comma or closing bracket after a value.
    fn separator_after(&self, value: &Range<u64>) -> u64 {
        let mut skimmer = self.0.borrow_mut();
        let is_read = skimmer.position() > value.end && !skimmer.last().is_ascii_whitespace();
        if is_read {
            return value.end;
        }
        skimmer.skip_white_space();
        skimmer.position()
    }
}

/// The place of a value.
struct SkimmedValue<'a, R>(&'a RefCell<Skimmer<R>>);

impl<'de, R: Read> de::DeserializeSeed<'de> for SkimmedValue<'_, R> {
    type Value = Range<u64>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Range<u64>, D::Error> {
        // The parser has read up to behind the colon, and no further.
        let first = self.0.borrow_mut().skip_white_space();
        self.0.borrow_mut().begin_value();
        let start = self.0.borrow().position();
        from.deserialize_ignored_any(IgnoredAny)?;
        // To see the end of a number the parser has read the byte behind it.
        let is_number = first.is_some_and(|byte| byte == b'-' || byte.is_ascii_digit());
        let end = self.0.borrow().position();
        Ok(start..end.saturating_sub(u64::from(is_number)).max(start))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufRead as _, BufReader};

    use proptest::prelude::*;

    use super::*;

    /// Both ways to read find the same, however little is read at once.
    #[track_caller]
    fn check(text: &str, piece: usize) -> Result<(), TestCaseError> {
        let by_pieces = Pieces(BufReader::with_capacity(piece, text.as_bytes()));
        match (ObjectRanges::of_text(text), ObjectRanges::of_reader(by_pieces)) {
            (Ok(whole), Ok(read)) => prop_assert_eq!(whole, read, "{}", text),
            (Err(whole), Err(read)) => {
                prop_assert_eq!(whole.classify(), read.error.classify(), "{}: {} or {}", text, whole, read);
            }
            (whole, read) => prop_assert!(false, "{text}: {whole:?} or {read:?}"),
        }
        Ok(())
    }

    struct Pieces<'a>(BufReader<&'a [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.fill_buf()?;
            let length = piece.len().min(out.len());
            out[..length].copy_from_slice(&piece[..length]);
            self.0.consume(length);
            Ok(length)
        }
    }

    #[test]
    fn odd_texts_give_the_same_ranges_either_way() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        let texts = [
            "",
            " ",
            "{",
            "{}",
            " {\n} \n",
            "[]",
            "null",
            "7",
            "\"a\"",
            "{} x",
            "{},",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1",
            "{\"a\":1 ",
            "{\"a\":12}",
            "{\"a\": -1.5e+3 , \"b\":0}",
            "{\"a\":01}",
            "{\"a\":1x}",
            "{\"a\":1,}",
            "{,}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":true,\"a\":false}",
            "{\"a\":tru}",
            "{a:1}",
            "{\"a\":\"",
            "{\"a\":\"\\",
            "{\"a\":\"\\u00",
            "{\"a\":\"\\u00e9\"}",
            "{\"a\":\"\\u0\"\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"\\ud800\":1}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"line\nbreak\"}",
            "{\"a\":\"tab\t\"}",
            "{\"a\n\":1}",
            "{\"\\u00e9\\\"\":{\"b\":\"}\"}}",
            "{\"é\":\"ü\" , \"\":[ ] }",
            "{\"a\":{\"b\":[1,{}]}}",
            "{\"a\":[1}}",
            "{\"a\":\"\\\\\"}",
            "// c\n{}",
            "{'a':1}",
            "{\"a\":/**/1}",
            "\u{feff}{}",
            &deep,
        ];
        for text in texts {
            for piece in [1, 2, 7, 1 << 16] {
                check(text, piece).unwrap();
            }
        }
    }

    #[test]
    fn errors_name_the_byte() {
        let failed = ObjectRanges::of_reader(&b"{\"a\": \"long text\", x"[..]).unwrap_err();
        assert_eq!(failed.to_string(), "key must be a string at byte 20");
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
            Just("true".to_owned()),
            Just("null".to_owned()),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            "\"([a-zé ]|\\\\u[0-9a-f]{4}|\\\\[nt\"\\\\/]){0,20}\"",
        ];
        let gap = || "[ \t\r\n]{0,3}";
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let member = (gap(), "[a-c\"é]{0,2}", gap(), inner.clone(), gap());
            let member = member.prop_map(|(before, key, middle, value, behind)| {
                format!("{before}{}{middle}:{middle}{value}{behind}", serde_json::to_string(&key).unwrap())
            });
            prop_oneof![
                (gap(), prop::collection::vec(inner, 0..4))
                    .prop_map(|(gap, values)| format!("[{gap}{}{gap}]", values.join(","))),
                (gap(), prop::collection::vec(member, 0..5)).prop_map(|(gap, members)| {
                    let is_empty = members.is_empty();
                    format!("{gap}{{{}{}}}{gap}", if is_empty { gap.as_str() } else { "" }, members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn valid_json_gives_the_same_ranges_either_way(text in value(), piece in 1_usize..40) {
            check(&text, piece)?;
        }

        #[test]
        fn damaged_json_gives_the_same_result_either_way(text in value(), cut: prop::sample::Index, at: prop::sample::Index,
                                              byte in "[\"\\\\{}:, 0u\n\\]é]", piece in 1_usize..40) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            check(&text[..*cut.get(&places)], piece)?;
            let mut spoilt = text.clone();
            spoilt.insert_str(*at.get(&places), &byte);
            check(&spoilt, piece)?;
        }
    }
}
