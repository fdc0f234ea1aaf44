//! Walking over JSON text without decoding it: where each field of an object or element of an array ends.
//!
//! Strings and nested values are skipped a block of bytes at a time, and brackets are counted, so any depth
//! costs no stack. The structure of the walked object is checked; the inside of a skipped value is only
//! checked as far as finding its end needs.

use crate::block::{BLOCK, Block, Brackets, Carry, Piece};

/// How many bytes of a string are searched before the general search.
const SHORT_STRING: usize = 48;

/// The keys (with their quotes) and values of an object.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a>(Walk<'a>);

/// The elements of an array.
#[derive(Debug, Clone)]
pub(crate) struct Elements<'a>(Walk<'a>);

impl<'a> Fields<'a> {
    /// The fields of `json`; none when it is no object.
    pub(crate) fn new(json: &'a str) -> Self {
        Self(Walk::begin(json, b'{'))
    }

    /// The next key, with its quotes; its value must be taken before the next.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Option<&'a str> {
        self.0.member(b'}')?;
        self.0.or_invalid(Walk::key)
    }

    /// Takes the value of the last key by `take`.
    #[inline]
    pub(crate) fn value<T>(&mut self, take: impl FnOnce(&mut Walk<'a>) -> Option<T>) -> Option<T> {
        self.0.or_invalid(take)
    }

    /// Once all fields are taken: whether the object ended as it should.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.state == State::Closed
    }

    /// Once all fields are taken: whether the object was whole, with nothing behind it.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_closed() && self.0.clone().peek().is_none()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.next_key()?, self.value(Walk::value)?))
    }
}

impl<'a> Elements<'a> {
    /// The elements of `json`; none when it is no array.
    pub(crate) fn new(json: &'a str) -> Self {
        Self(Walk::begin(json, b'['))
    }
}

impl<'a> Elements<'a> {
    /// Takes the next element by `take`.
    pub(crate) fn next_by<T>(&mut self, take: impl FnOnce(&mut Walk<'a>) -> Option<T>) -> Option<T> {
        self.0.member(b']')?;
        self.0.or_invalid(take)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_by(Walk::value)
    }
}

/// A place in JSON text, inside an object or array.
#[derive(Debug, Clone)]
pub(crate) struct Walk<'a> {
    json: &'a str,
    at: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Behind the opening bracket.
    Opened,
    /// Behind a member, or in one.
    Between,
    /// Behind the closing bracket.
    Closed,
    /// The text is not valid here.
    Broken,
}

impl<'a> Walk<'a> {
    fn begin(json: &'a str, open: u8) -> Self {
        let mut walk = Self { json, at: 0, state: State::Opened };
        if walk.expect(open).is_none() {
            walk.state = State::Broken;
        }
        walk
    }

    /// Goes to the next member, or notes why there is none.
    #[inline]
    fn member(&mut self, close: u8) -> Option<()> {
        if matches!(self.state, State::Closed | State::Broken) {
            return None;
        }
        if self.expect(close).is_some() {
            self.state = State::Closed;
            return None;
        }
        if self.state == State::Opened {
            self.state = State::Between;
            return Some(());
        }
        self.or_invalid(|walk| walk.expect(b','))
    }

    #[inline]
    fn or_invalid<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let taken = take(self);
        if taken.is_none() {
            self.state = State::Broken;
        }
        taken
    }

    /// The fields of the object at this position; `None` where there is none.
    pub(crate) fn object(&mut self) -> Option<Fields<'a>> {
        (self.peek()? == b'{')
            .then(|| Fields(Self { json: self.json, at: self.at + 1, state: State::Opened }))
    }

    /// Continues after an object at this position whose fields are all taken.
    pub(crate) fn skip_object(&mut self, object: &Fields<'a>) {
        self.at = object.0.at;
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.json.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                byte if byte > b' ' => return Some(byte),
                byte if byte.is_ascii_whitespace() => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A key with its quotes, and the colon behind it.
    #[inline]
    fn key(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at;
        self.at = end_of_string(self.json.as_bytes(), start)?;
        let key = self.json.get(start..self.at)?;
        self.expect(b':')?;
        Some(key)
    }

    /// Skips any value and returns its text.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        let first = self.peek()?;
        let start = self.at;
        self.at = match first {
            b'"' => end_of_string(self.json.as_bytes(), start)?,
            b'{' | b'[' => end_of_nested(self.json.as_bytes(), start)?,
            _ => end_of_word(self.json.as_bytes(), start)?,
        };
        self.json.get(start..self.at)
    }
}

/// The position after the closing quote of the string that opens at `start`.
///
/// Most strings are short and have no escapes: they are searched in smaller pieces.
#[inline]
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    for _ in 0..SHORT_STRING / Piece::BYTES {
        let Some(piece) = bytes.get(at..).and_then(Piece::first_of) else { break };
        match piece.first_quote_or_backslash() {
            None => at += Piece::BYTES,
            Some((quote, true)) => return Some(at + quote + 1),
            Some((backslash, false)) => {
                at += backslash;
                break;
            }
        }
    }
    end_of_long_string(bytes, at)
}

/// The position after the closing quote, from `at`, an unescaped position inside the string.
#[inline(never)]
fn end_of_long_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut carry = Carry::default();
    while at < bytes.len() {
        let quotes = Block::first_of(&bytes[at..]).quotes(&mut carry);
        if quotes != 0 {
            return Some(at + quotes.trailing_zeros() as usize + 1);
        }
        at += BLOCK;
    }
    None
}

/// Behind the bracket that closes the object or array which opens at `start`.
#[inline(never)]
fn end_of_nested(bytes: &[u8], start: usize) -> Option<usize> {
    let mut carry = Carry::default();
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        let Brackets { open, close } = Block::first_of(&bytes[at..]).brackets(&mut carry);
        let mut rest = open | close;
        while rest != 0 {
            let next = rest.trailing_zeros();
            if open >> next & 1 == 1 {
                depth += 1;
            } else if depth == 1 {
                return Some(at + next as usize + 1);
            } else {
                depth -= 1;
            }
            rest &= rest - 1;
        }
        at += BLOCK;
    }
    None
}

/// Behind a number, `true`, `false` or `null`.
fn end_of_word(bytes: &[u8], start: usize) -> Option<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = bytes[start..].iter().take_while(is_part).count();
    (length > 0).then_some(start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &[(&str, &str)], whole: bool) {
        let mut fields = Fields::new(json);
        let found: Vec<_> = fields.by_ref().collect();
        assert_eq!((found.as_slice(), fields.is_whole()), (expected, whole), "{json}");
    }

    #[test]
    fn fields_of_an_object() {
        check("{}", &[], true);
        check(r#" { "a" : 1 , "b":[1,{"c":"]"}] } "#, &[("\"a\"", "1"), ("\"b\"", r#"[1,{"c":"]"}]"#)], true);
        check(r#"{"a":"x\"y\\","b":null}"#, &[("\"a\"", r#""x\"y\\""#), ("\"b\"", "null")], true);
        check(r#"{"a":1"#, &[("\"a\"", "1")], false);
        check(r#"{"a":1}x"#, &[("\"a\"", "1")], false);
        check(r#"{"a":1,}"#, &[("\"a\"", "1")], false);
        check(r#"{"a" 1}"#, &[], false);
        check("{a:1}", &[], false);
        check(r#"{"a":"torn"#, &[], false);
        check(r#"{"a":[[[}"#, &[], false);
        check("[1]", &[], false);
        check("", &[], false);
    }

    #[test]
    fn elements_of_an_array() {
        let elements = |json| Elements::new(json).collect::<Vec<_>>();
        assert_eq!(elements(r#"[1, "a]", {"b":2}, []]"#), ["1", "\"a]\"", "{\"b\":2}", "[]"]);
        assert_eq!(elements("[]"), [""; 0]);
        assert_eq!(elements("{}"), [""; 0]);
    }

    #[test]
    fn strings_end_at_the_first_quote_that_is_not_escaped() {
        for length in 0..200 {
            for escapes in 0..5 {
                let text = format!("\"{}{}\"!\" \"", "x".repeat(length), "\\".repeat(escapes));
                let closing = 1 + length + escapes + if escapes % 2 == 0 { 1 } else { 3 };
                assert_eq!(end_of_string(text.as_bytes(), 0), Some(closing), "{text}");
                assert_eq!(end_of_string(&text.as_bytes()[..=length + escapes], 0), None);
            }
        }
    }

    /// As a person would do it: byte by byte.
    fn end_by_byte(bytes: &[u8], start: usize) -> Option<usize> {
        let (mut depth, mut inside, mut escaped) = (0, false, false);
        for (at, byte) in bytes.iter().enumerate().skip(start) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if inside => escaped = true,
                b'"' => inside = !inside,
                b'{' | b'[' if !inside => depth += 1,
                b'}' | b']' if !inside => depth -= 1,
                _ => {}
            }
            if depth == 0 && !inside {
                return Some(at + 1);
            }
        }
        None
    }

    proptest::proptest! {
        #[test]
        fn text_written_by_serde_json_is_walked(keys in proptest::collection::vec("\\PC{0,12}", 0..8), text in "\\PC{0,30}") {
            let object: serde_json::Map<_, _> = keys.iter().map(|key| (key.clone(), serde_json::json!([text, {"x": text}]))).collect();
            let json = serde_json::to_string(&object).unwrap();
            let mut fields = Fields::new(&json);
            for ((key, value), (expected_key, expected_value)) in fields.by_ref().zip(&object) {
                proptest::prop_assert_eq!(&serde_json::from_str::<String>(key).unwrap(), expected_key);
                proptest::prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(value).unwrap(), expected_value);
            }
            proptest::prop_assert!(fields.next().is_none() && fields.is_whole());
        }

        #[test]
        fn nested_values_end_where_a_byte_by_byte_walk_ends(inner in "([\\[\\]{}x]|\"([^\"\\\\]|\\\\.){0,40}\"|\"[^\"\\\\]{60,90}\"){0,40}", open in 0_usize..2) {
            let text = ["[", "{"][open].to_owned() + &inner;
            proptest::prop_assert_eq!(end_of_nested(text.as_bytes(), 0), end_by_byte(text.as_bytes(), 0));
        }

        #[test]
        fn any_text_is_walked_without_a_panic(text in "[\\[\\]{}\",:\\\\a1 ]{0,60}") {
            let mut fields = Fields::new(&text);
            fields.by_ref().count();
            Elements::new(&text).count();
        }
    }
}
