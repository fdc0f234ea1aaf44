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
        if let Some(key) = self.0.compact_key() {
            return Some(key);
        }
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

    /// Once all fields are taken: the text behind the object.
    pub(crate) fn rest(&self) -> &'a str {
        self.0.rest
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
    /// The text from here on.
    rest: &'a str,
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
        let mut walk = Self { rest: json, state: State::Opened };
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
        let rest = (self.peek()? == b'{').then(|| self.rest.get(1..))??;
        Some(Fields(Self { rest, state: State::Opened }))
    }

    /// Continues after an object at this position whose fields are all taken.
    pub(crate) fn skip_object(&mut self, object: &Fields<'a>) {
        self.rest = object.0.rest;
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.rest.as_bytes().first()? {
                byte if byte > b' ' => return Some(byte),
                byte if byte.is_ascii_whitespace() => self.rest = self.rest.get(1..)?,
                byte => return Some(byte),
            }
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.take(1))?.map(|_| ())
    }

    /// The next so many bytes.
    #[inline]
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next key where no white space is around it, as Claude Code writes; otherwise nothing is taken.
    #[inline]
    fn compact_key(&mut self) -> Option<&'a str> {
        let rest = match self.state {
            State::Opened => self.rest,
            State::Between => self.rest.strip_prefix(',')?,
            State::Closed | State::Broken => return None,
        };
        if !rest.starts_with('"') {
            return None;
        }
        let (key, rest) = rest.split_at_checked(length_of_string(rest.as_bytes())?)?;
        self.rest = rest.strip_prefix(':')?;
        self.state = State::Between;
        Some(key)
    }

    /// A key with its quotes, and the colon behind it.
    fn key(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let key = self.take(length_of_string(self.rest.as_bytes())?)?;
        self.expect(b':')?;
        Some(key)
    }

    /// Skips any value and returns its text.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        let first = self.peek()?;
        let bytes = self.rest.as_bytes();
        let length = match first {
            b'"' => length_of_string(bytes)?,
            b'{' | b'[' => length_of_nested(bytes)?,
            _ => length_of_word(bytes)?,
        };
        self.take(length)
    }
}

/// The length of the string at the beginning of the text, with its quotes.
///
/// Most strings are short and have no escapes: they are searched in smaller pieces.
#[inline]
fn length_of_string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    let (pieces, _) = text.get(at..)?.as_chunks();
    for piece in pieces.iter().take(SHORT_STRING / Piece::BYTES) {
        match Piece::new(piece).first_quote_or_backslash() {
            None => at += Piece::BYTES,
            Some((quote, true)) => return Some(at + quote + 1),
            Some((backslash, false)) => {
                at += backslash;
                break;
            }
        }
    }
    length_of_long_string(text, at)
}

/// The same, searched from `at`, an unescaped position inside the string.
#[inline(never)]
fn length_of_long_string(text: &[u8], mut at: usize) -> Option<usize> {
    let mut carry = Carry::default();
    while at < text.len() {
        let quotes = Block::first_of(&text[at..]).quotes(&mut carry);
        if quotes != 0 {
            return Some(at + quotes.trailing_zeros() as usize + 1);
        }
        at += BLOCK;
    }
    None
}

/// The length of the object or array at the beginning of the text, with its brackets.
#[inline(never)]
fn length_of_nested(text: &[u8]) -> Option<usize> {
    let mut carry = Carry::default();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let Brackets { open, close } = Block::first_of(&text[at..]).brackets(&mut carry);
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

/// The length of a number, `true`, `false` or `null`.
fn length_of_word(text: &[u8]) -> Option<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = text.iter().take_while(is_part).count();
    (length > 0).then_some(length)
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
                assert_eq!(length_of_string(text.as_bytes()), Some(closing), "{text}");
                assert_eq!(length_of_string(&text.as_bytes()[..=length + escapes]), None);
            }
        }
    }

    /// As a person would do it: byte by byte.
    fn length_by_byte(text: &[u8]) -> Option<usize> {
        let (mut depth, mut inside, mut escaped) = (0, false, false);
        for (at, byte) in text.iter().enumerate() {
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
            proptest::prop_assert_eq!(length_of_nested(text.as_bytes()), length_by_byte(text.as_bytes()));
        }

        #[test]
        fn any_text_is_walked_without_a_panic(text in "[\\[\\]{}\",:\\\\a1 ]{0,60}") {
            let mut fields = Fields::new(&text);
            fields.by_ref().count();
            Elements::new(&text).count();
        }
    }
}
