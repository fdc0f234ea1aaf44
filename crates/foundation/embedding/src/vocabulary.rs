//! The tokens of a model and their numbers.

use std::borrow::Cow;

use crate::packing::{HEADER, NUMBER_BITS, hash_of, pack, slot_of};

/// The numbered tokens a text can be cut into.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    packed: Cow<'static, [u8]>,
    words: HashTable,
    pieces: HashTable,
    unknown: u32,
}

/// One of the two hash tables.
#[derive(Debug, Clone, Copy)]
struct HashTable {
    /// The offset of the first slot in the bytes.
    start: usize,
    bits: u64,
}

/// Whether a token starts or continues a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordPosition {
    Beginning,
    Within,
}

impl Vocabulary {
    /// The vocabulary of the built-in table: that of bert-base-uncased.
    pub fn built_in() -> Self {
        let packed: &'static [u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.bin"));
        Self::from_packed(Cow::Borrowed(packed))
    }

    /// Reads a vocabulary of one token per line, as in `vocab.txt`; `None` if it has over a million.
    pub fn from_lines(lines: &str) -> Option<Self> {
        Some(Self::from_packed(Cow::Owned(pack(lines)?)))
    }

    fn from_packed(packed: Cow<'static, [u8]>) -> Self {
        let words = HashTable { start: 8 * HEADER, bits: number_at(&packed, 16) };
        let pieces = HashTable { start: words.start + (8 << words.bits), bits: number_at(&packed, 24) };
        let mut vocabulary = Self { packed, words, pieces, unknown: 0 };
        vocabulary.unknown = vocabulary.number("[UNK]").unwrap_or(0);
        vocabulary
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        usize::try_from(number_at(&self.packed, 0)).unwrap_or_default()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a token that begins a word, or of a special one such as `[CLS]`.
    pub fn number(&self, token: &str) -> Option<u32> {
        self.find(hash_of(token.as_bytes()), WordPosition::Beginning)
    }

    /// The length of the longest token in bytes.
    pub(crate) fn longest(&self) -> usize {
        usize::try_from(number_at(&self.packed, 8)).unwrap_or_default()
    }

    /// The number of the token for unknown words.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The number of the token with this hash.
    pub(crate) fn find(&self, hash: u64, place: WordPosition) -> Option<u32> {
        let table = match place {
            WordPosition::Beginning => self.words,
            WordPosition::Within => self.pieces,
        };
        let (mut at, tag) = slot_of(hash, table.bits);
        loop {
            let slot = number_at(&self.packed, table.start + 8 * at);
            let number = (slot & ((1 << NUMBER_BITS) - 1)).checked_sub(1)?;
            if slot >> NUMBER_BITS == tag >> NUMBER_BITS {
                return u32::try_from(number).ok();
            }
            at = (at + 1) & ((1 << table.bits) - 1);
        }
    }
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_of_the_built_in_vocabulary_has_the_number_of_its_line() {
        let vocabulary = Vocabulary::built_in();
        let lines = include_str!("../table/vocab.txt");
        assert_eq!(vocabulary.len(), lines.lines().count());
        for (number, token) in (0..).zip(lines.lines()) {
            let (text, place) = match token.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => (rest, WordPosition::Within),
                None => (token, WordPosition::Beginning),
            };
            assert_eq!(vocabulary.find(hash_of(text.as_bytes()), place), Some(number), "{token}");
        }
    }

    #[test]
    fn what_is_not_in_it_has_no_number() {
        let vocabulary = Vocabulary::from_lines("[UNK]\none\n##s").expect("a small vocabulary");
        assert_eq!(vocabulary.number("one"), Some(1));
        assert_eq!(vocabulary.number("s"), None);
        assert_eq!(vocabulary.number(""), None);
        assert!(Vocabulary::from_lines("").is_some_and(|nothing| nothing.is_empty()));
    }
}
