//! From text to tokens, exactly as BERT's uncased models were taught: accents off, lower case, Chinese
//! characters and punctuation apart, each word cut into the longest tokens that are known.
//!
//! What looks like a special token (`[CLS]`) is plain text here: text never steers a model.

use unicode_normalization::UnicodeNormalization;

use crate::characters::{Ascii, Class, ascii, class, is_removed};
use crate::packing::{EMPTY, hash_on};
use crate::vocabulary::{Vocabulary, WordPosition};

/// A word of more characters is one unknown token.
const LONGEST_WORD: usize = 100;

/// Cuts texts into tokens; reuse one, it keeps its buffers.
#[derive(Debug)]
pub struct Tokenizer<'v> {
    vocabulary: &'v Vocabulary,
    word: Vec<u8>,
    characters: usize,
    /// The hash of each prefix of the rest of the word.
    hashes: Vec<u64>,
}

impl<'v> Tokenizer<'v> {
    /// A tokenizer for a vocabulary.
    pub fn new(vocabulary: &'v Vocabulary) -> Self {
        Self { vocabulary, word: Vec::new(), characters: 0, hashes: Vec::new() }
    }

    /// Adds the tokens of `text` to `tokens`, by their numbers.
    pub fn cut(&mut self, text: &str, tokens: &mut Vec<u32>) {
        let mut rest = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = rest.first() {
            let length = match ascii(*byte) {
                Ascii::Letter(_) => self.push_letters(rest),
                Ascii::Removed => 1,
                Ascii::Space => {
                    self.end_word(tokens);
                    1
                }
                Ascii::Punctuation => {
                    self.alone(*byte as char, tokens);
                    1
                }
                Ascii::Beyond => {
                    let length = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
                    self.beyond_ascii(&text[at..at + length], tokens);
                    length
                }
            };
            at += length;
            rest = &rest[length..];
        }
        self.end_word(tokens);
    }

    fn beyond_ascii(&mut self, run: &str, tokens: &mut Vec<u32>) {
        for character in run.chars().filter(|character| !is_removed(*character)).nfd() {
            match class(character) {
                Class::Accent => {}
                Class::Space => self.end_word(tokens),
                Class::Alone => self.alone(character, tokens),
                Class::Letter => self.lower(character, tokens),
            }
        }
    }

    /// Lower case can be several characters, and the second an accent that stays.
    fn lower(&mut self, character: char, tokens: &mut Vec<u32>) {
        for lower in character.to_lowercase() {
            if lower == character || class(lower) != Class::Alone {
                self.push_character(lower);
            } else {
                self.alone(lower, tokens);
            }
        }
    }

    fn alone(&mut self, character: char, tokens: &mut Vec<u32>) {
        self.end_word(tokens);
        self.push_character(character);
        self.end_word(tokens);
    }

    /// Appends the ASCII letters at the start of `rest` and returns their number.
    fn push_letters(&mut self, rest: &[u8]) -> usize {
        let lower = rest.iter().map_while(|byte| match ascii(*byte) {
            Ascii::Letter(lower) => Some(lower),
            _ => None,
        });
        // Of a word that is too long nothing is kept but that it is.
        let room = LONGEST_WORD.saturating_sub(self.characters);
        let before = self.word.len();
        self.word.extend(lower.clone().take(room));
        let taken = self.word.len() - before;
        let length = if taken < room { taken } else { lower.count() };
        self.characters += length;
        length
    }

    fn push_character(&mut self, character: char) {
        self.characters += 1;
        if self.characters <= LONGEST_WORD {
            self.word.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn end_word(&mut self, tokens: &mut Vec<u32>) {
        if self.characters > 0 {
            let before = tokens.len();
            let is_known = self.characters <= LONGEST_WORD && self.cut_word(tokens);
            if !is_known {
                tokens.truncate(before);
                tokens.push(self.vocabulary.unknown());
            }
            self.word.clear();
            self.characters = 0;
        }
    }

    /// The longest known beginning, then the longest of the rest; false when some rest has none.
    fn cut_word(&mut self, tokens: &mut Vec<u32>) -> bool {
        let mut start = 0;
        let mut place = WordPosition::Beginning;
        while start < self.word.len() {
            let Some((token, length)) = self.longest(start, place) else { return false };
            tokens.push(token);
            start += length;
            place = WordPosition::Within;
        }
        true
    }

    fn longest(&mut self, start: usize, place: WordPosition) -> Option<(u32, usize)> {
        let rest = &self.word[start..];
        let rest = &rest[..rest.len().min(self.vocabulary.longest())];
        self.hashes.clear();
        let mut hash = EMPTY;
        self.hashes.extend(rest.iter().map(|byte| {
            hash = hash_on(hash, *byte);
            hash
        }));
        let prefixes = self.hashes.iter().enumerate().rev();
        let mut known = prefixes.map(|(last, hash)| (self.vocabulary.find(*hash, place), last + 1));
        known.find_map(|(token, length)| Some((token?, length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[u32]) {
        let vocabulary = Vocabulary::built_in();
        let mut tokens = Vec::new();
        Tokenizer::new(&vocabulary).cut(text, &mut tokens);
        assert_eq!(tokens, expected, "{text:?}");
    }

    #[test]
    fn words_are_cut_into_the_longest_known_tokens() {
        check("Hello, World!", &[7592, 1010, 2088, 999]);
        check("unaffable", &[14477, 20961, 3468]);
        check("", &[]);
        check(" \t\r\n", &[]);
    }

    #[test]
    fn accents_and_controls_are_removed_and_cjk_is_split() {
        check("café", &[7668]);
        check("cafe\u{301}", &[7668]);
        check("ca\u{0}f\u{200b}e", &[7668]);
        check("你好", &[100, 100]);
    }

    #[test]
    fn what_looks_special_is_text() {
        check("[CLS]", &[1031, 18856, 2015, 1033]);
    }

    #[test]
    fn a_word_is_unknown_whole_or_when_too_long() {
        check("\u{1f980}", &[100]);
        check(&"a".repeat(101), &[100]);
        check(&format!("{} a", "é".repeat(101)), &[100, 1037]);
    }

    proptest::proptest! {
        #[test]
        fn pieces_cut_at_spaces_give_the_same_tokens(texts in proptest::collection::vec("\\PC{0,30}", 0..5)) {
            let vocabulary = Vocabulary::built_in();
            let mut tokenizer = Tokenizer::new(&vocabulary);
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            tokenizer.cut(&texts.join(" "), &mut whole);
            for text in &texts {
                tokenizer.cut(text, &mut parts);
            }
            assert_eq!(whole, parts);
        }
    }
}
