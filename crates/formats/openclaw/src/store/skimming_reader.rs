//! Gives a JSON parser a reduced view of a file, to find where values begin and end: the plain text within the
//! strings of values is left out, and the position in the file is known at any time.
//!
//! The parser still sees everything that may be invalid or end a string, so its result is the same; without this, it
//! would be too slow.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read};

/// How much is read at once.
const PIECE: usize = 1 << 16;
/// No key of a store is longer; it is held in memory.
const LONGEST_KEY: u64 = 1 << 20;

/// Reads from a file, skims it and knows its position.
#[derive(Debug)]
pub(super) struct Skimmer<R> {
    from: R,
    buffer: Vec<u8>,
    /// What of the buffer is next, and up to where it is filled.
    at: usize,
    filled: usize,
    /// Where in the file the buffer begins.
    base: u64,
    place: JsonPosition,
    /// What the parser reads now.
    part: Part,
    /// The last byte that was handed out.
    last: u8,
}

/// Where in JSON the next byte is.
#[derive(Debug, Clone, Copy)]
enum JsonPosition {
    OutsideStrings,
    InString,
    /// Behind a backslash.
    Escaped,
    /// Before so many digits of an escape.
    Digits(u8),
}

#[derive(Debug, Clone, Copy)]
enum Part {
    /// A key and what is between members, since here.
    Key(u64),
    Value,
}

impl<R: Read> Skimmer<R> {
    pub(super) fn new(from: R) -> Self {
        let (place, part) = (JsonPosition::OutsideStrings, Part::Key(0));
        Self { from, buffer: vec![0; PIECE], at: 0, filled: 0, base: 0, place, part, last: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The last byte that was handed out.
    pub(super) fn last(&self) -> u8 {
        self.last
    }

    /// A key follows: every byte is handed out.
    pub(super) fn begin_key(&mut self) {
        self.part = Part::Key(self.position());
    }

    /// A value follows: the text of strings is left out.
    pub(super) fn begin_value(&mut self) {
        self.part = Part::Value;
    }

    /// Skips white space; returns the byte after it. Where the file cannot be read, that is said to the parser when
    /// it reads on.
    pub(super) fn skip_white_space(&mut self) -> Option<u8> {
        while let Ok(Some(byte)) = self.peek() {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        match self.part {
            Part::Value if matches!(self.place, JsonPosition::InString) => self.skip_plain_text()?,
            Part::Key(start) if self.position() - start > LONGEST_KEY => {
                return Err(io::Error::new(ErrorKind::FileTooLarge, "a key is longer than 1 MiB"));
            }
            _ => {}
        }
        let Some(byte) = self.peek()? else { return Ok(None) };
        self.at += 1;
        self.last = byte;
        self.place = match (self.place, byte) {
            (JsonPosition::Escaped, b'u') => JsonPosition::Digits(4),
            (JsonPosition::OutsideStrings, b'"') | (JsonPosition::Digits(1) | JsonPosition::Escaped, _) => {
                JsonPosition::InString
            }
            (JsonPosition::InString, b'"') => JsonPosition::OutsideStrings,
            (JsonPosition::InString, b'\\') => JsonPosition::Escaped,
            (JsonPosition::Digits(left), _) => JsonPosition::Digits(left.saturating_sub(1)),
            (place, _) => place,
        };
        Ok(Some(byte))
    }

    /// Leaves out plain text and the escapes of single characters.
    fn skip_plain_text(&mut self) -> io::Result<()> {
        while self.peek()?.is_some() {
            self.at += plain_length(&self.buffer[self.at..self.filled]);
            match &self.buffer[self.at..self.filled] {
                [] => {}
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                _ => break,
            }
        }
        Ok(())
    }

    /// The next byte, where there is one.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.filled {
            let read = loop {
                match self.from.read(&mut self.buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            self.base += self.filled as u64;
            (self.at, self.filled) = (0, read);
        }
        Ok(self.buffer[..self.filled].get(self.at).copied())
    }
}

/// The reader for a parser; the skimmer itself stays available for its position.
#[derive(Debug)]
pub(super) struct SkimmingReader<'a, R>(pub(super) &'a RefCell<Skimmer<R>>);

impl<R: Read> Read for SkimmingReader<'_, R> {
    #[inline]
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(first) = out.first_mut() else { return Ok(0) };
        Ok(match self.0.borrow_mut().next()? {
            Some(byte) => {
                *first = byte;
                1
            }
            None => 0,
        })
    }
}

/// How many bytes at the beginning of this are neither quotes, backslashes nor control characters.
fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes[at..].first_chunk() {
        let special = special_bytes(u64::from_le_bytes(*eight));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    at + bytes[at..].iter().position(is_special).unwrap_or(bytes.len() - at)
}

/// The highest bit of the first of eight bytes, in the order of little endian, that is a quote, a backslash or a
/// control character; bits of higher bytes say nothing.
fn special_bytes(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes;
    let equal = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    (below(eight, 0x20) | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(skimmer: &RefCell<Skimmer<impl Read>>) -> io::Result<Option<u8>> {
        let mut byte = [0];
        let read = SkimmingReader(skimmer).read(&mut byte)?;
        Ok((read > 0).then_some(byte[0]))
    }

    #[test]
    fn values_are_skipped_and_their_bytes_counted() {
        let text = r#"{"plain \n text ü": ["plain \"text\" \u00e9x\\", 12]}"#;
        let skimmer = RefCell::new(Skimmer::new(text.as_bytes()));
        let mut seen = Vec::new();
        while let Some(byte) = next(&skimmer).unwrap() {
            seen.push(byte);
            if seen.ends_with(b":") {
                skimmer.borrow_mut().begin_value();
                assert_eq!(skimmer.borrow().position(), text.find(':').unwrap() as u64 + 1);
            }
        }
        let expected = r#"{"plain \n text ü": ["\u00e9", 12]}"#;
        assert_eq!(String::from_utf8(seen).unwrap(), expected);
        assert_eq!(skimmer.borrow().position(), text.len() as u64);
    }

    #[test]
    fn a_key_without_an_end_does_not_fill_the_memory() {
        let endless = io::repeat(b'"').take(1).chain(io::repeat(b'x'));
        let skimmer = RefCell::new(Skimmer::new(endless));
        let failed = std::iter::repeat_with(|| next(&skimmer)).find_map(Result::err).unwrap();
        assert_eq!(failed.kind(), ErrorKind::FileTooLarge);
    }

    proptest::proptest! {
        #[test]
        fn the_end_of_plain_text_is_found(bytes: Vec<u8>, tail: Vec<u8>) {
            let bytes: Vec<u8> = bytes.into_iter().chain(b"a plain text".repeat(3)).chain(tail).collect();
            let expected = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            proptest::prop_assert_eq!(plain_length(&bytes), expected.unwrap_or(bytes.len()));
        }
    }
}
