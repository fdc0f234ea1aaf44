//! Splits text into the words that are indexed and searched for; both use it, so they always agree.
//!
//! An identifier is found whole and by its parts (`refreshToken` → `refreshtoken`, `refresh`, `token`), the parts in
//! sequence, so that the phrase "refresh token" matches it too. English words are stemmed, accents are removed, Chinese,
//! Japanese and Korean are cut into pairs of characters, and each emoji is a word.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::scripts::{Composed, Script, is_emoji, scripts};

/// Longer runs are keys, hashes and encoded data, not words.
const LONGEST_RUN: usize = 96;
/// The number of runs whose words are cached; text repeats itself.
const RUNS_KEPT: usize = 1 << 14;

/// A word and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// The word in lower case and stemmed, as it is indexed.
    pub(crate) text: &'a str,
    /// Counted in words; a whole identifier shares the place of its first part.
    pub(crate) position: usize,
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Where it ends in the text, in bytes.
    pub(crate) end: usize,
    /// Whether it is an identifier of several parts, taken whole.
    pub(crate) is_whole: bool,
}

/// Splits text into words; reuse one, because it caches runs.
pub(crate) struct Splitter {
    stemmer: Stemmer,
    known: HashMap<Box<str>, Cut, FxBuildHasher>,
}

impl Default for Splitter {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), known: HashMap::default() }
    }
}

/// The words of one run of letters and digits.
#[derive(Debug, Default)]
struct Cut {
    /// The words without gaps; `words` has their ends.
    text: String,
    words: Vec<CutWord>,
}

#[derive(Debug, Clone, Copy)]
struct CutWord {
    text_end: u16,
    /// Where it begins in the run, in bytes.
    start: u16,
    end: u16,
    is_whole: bool,
}

impl Cut {
    fn push(&mut self, text: &str, start: usize, end: usize, is_whole: bool) {
        self.text.push_str(text);
        let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let (text_end, start, end) = (small(self.text.len()), small(start), small(end));
        self.words.push(CutWord { text_end, start, end, is_whole });
    }

    /// Gives out the words for a run that begins at `start`; returns the position behind it.
    fn give(&self, start: usize, position: usize, each: &mut impl FnMut(Word<'_>)) -> usize {
        let mut position = position;
        let mut from = 0;
        for word in &self.words {
            let to = usize::from(word.text_end);
            each(Word {
                text: &self.text[from..to],
                position,
                start: start + usize::from(word.start),
                end: start + usize::from(word.end),
                is_whole: word.is_whole,
            });
            from = to;
            position += usize::from(!word.is_whole);
        }
        position
    }
}

impl Splitter {
    /// Calls `each` with every word of `text`, in order.
    pub(crate) fn split(&mut self, text: &str, mut each: impl FnMut(Word<'_>)) {
        let mut position = 0;
        for (start, run) in runs(text) {
            position = if run.len() <= LONGEST_RUN {
                self.short(run, start, position, &mut each)
            } else if run.is_ascii() {
                position
            } else {
                self.long(run, start, position, &mut each)
            };
        }
    }

    fn short(&mut self, run: &str, start: usize, position: usize, each: &mut impl FnMut(Word<'_>)) -> usize {
        if let Some(cut) = self.known.get(run) {
            return cut.give(start, position, each);
        }
        let cut = self.cut(run);
        let position = cut.give(start, position, each);
        if self.known.len() >= RUNS_KEPT {
            self.known.clear();
        }
        self.known.insert(run.into(), cut);
        position
    }

    /// A long run without a gap, as CJK text is written, piece by piece.
    fn long(&mut self, run: &str, start: usize, position: usize, each: &mut impl FnMut(Word<'_>)) -> usize {
        let mut position = position;
        for (at, piece, script) in scripts(run) {
            if script == Script::Letters {
                if piece.len() <= 4 * LONGEST_RUN {
                    position = self.cut(piece).give(start + at, position, each);
                }
                continue;
            }
            let composed = Composed::of(piece);
            for (from, to) in script.words(&composed.text) {
                let (first, last) = composed.original(from, to);
                let (start, end) = (start + at + first, start + at + last);
                each(Word { text: &composed.text[from..to], position, start, end, is_whole: false });
                position += 1;
            }
        }
        position
    }

    fn cut(&self, run: &str) -> Cut {
        let mut cut = Cut::default();
        if run.is_ascii() {
            self.identifier(run, run, 0, &mut cut);
            return cut;
        }
        for (at, piece, script) in scripts(run) {
            if script == Script::Letters {
                let folded: String = piece.nfkd().filter(|c| !is_combining_mark(*c)).collect();
                self.identifier(&folded, piece, at, &mut cut);
                continue;
            }
            let composed = Composed::of(piece);
            for (from, to) in script.words(&composed.text) {
                let (start, end) = composed.original(from, to);
                cut.push(&composed.text[from..to], at + start, at + end, false);
            }
        }
        cut
    }

    fn identifier(&self, run: &str, original: &str, start: usize, cut: &mut Cut) {
        let end = start + original.len();
        // Offsets inside folded text do not exist in the original: its words span the whole run.
        let exact = run == original;
        for (at, part) in (Parts { run, at: 0 }) {
            if at == first_letter(run) && part.len() < run.len() {
                cut.push(lower(run).trim_matches('_'), start, end, true);
            }
            let (from, to) = if exact { (start + at, start + at + part.len()) } else { (start, end) };
            cut.push(&self.stem(part), from, to, false);
        }
    }

    fn stem(&self, part: &str) -> String {
        let lower = lower(part);
        let is_english = lower.len() > 2 && lower.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_english { self.stemmer.stem(&lower).into_owned() } else { lower }
    }
}

fn first_letter(run: &str) -> usize {
    run.bytes().take_while(|byte| *byte == b'_').count()
}

fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

/// Runs of letters, digits and underscores, with their offsets.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = skip(text, at, false);
        at = skip(text, start, true);
        (at > start).then(|| (start, &text[start..at]))
    })
}

/// The first place from `at` on that is no part of a word (`words`), or is one.
#[inline]
fn skip(text: &str, mut at: usize, words: bool) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match IS_WORD.get(usize::from(*byte)) {
            Some(is_word) if *is_word == words => at += 1,
            Some(_) => break,
            None => match text[at..].chars().next() {
                Some(c) if (c.is_alphanumeric() || is_combining_mark(c) || is_emoji(c)) == words => {
                    at += c.len_utf8();
                }
                _ => break,
            },
        }
    }
    at
}

/// The ASCII bytes that are parts of words.
const IS_WORD: [bool; 128] = {
    let mut table = [false; 128];
    let mut at = 0;
    while at < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let byte = at as u8;
        table[at] = byte.is_ascii_alphanumeric() || byte == b'_';
        at += 1;
    }
    table
};

/// The parts of an identifier: `HTTPServer2` → `HTTP`, `Server`, `2`.
struct Parts<'a> {
    run: &'a str,
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Other,
    Gap,
}

fn class(byte: u8) -> Class {
    match byte {
        b'A'..=b'Z' => Class::Upper,
        b'a'..=b'z' => Class::Lower,
        b'0'..=b'9' => Class::Digit,
        b'_' => Class::Gap,
        _ => Class::Other,
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.run.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| class(*byte) == Class::Gap) {
            self.at += 1;
        }
        let start = self.at;
        let first = class(*bytes.get(start)?);
        let same = |at: usize, wanted: Class| bytes.get(at).is_some_and(|byte| class(*byte) == wanted);
        let mut at = start + 1;
        while same(at, first) {
            at += 1;
        }
        if first == Class::Upper && same(at, Class::Lower) {
            // The last capital begins the next word, unless it is the only one.
            if at - start > 1 {
                at -= 1;
            } else {
                while same(at, Class::Lower) {
                    at += 1;
                }
            }
        }
        self.at = at;
        Some((start, &self.run[start..at]))
    }
}

/// Words too common to be searched for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "and"
            | "are"
            | "as"
            | "at"
            | "be"
            | "by"
            | "do"
            | "does"
            | "for"
            | "from"
            | "has"
            | "have"
            | "how"
            | "i"
            | "if"
            | "in"
            | "into"
            | "is"
            | "it"
            | "its"
            | "not"
            | "of"
            | "on"
            | "or"
            | "that"
            | "the"
            | "their"
            | "then"
            | "there"
            | "these"
            | "this"
            | "to"
            | "was"
            | "we"
            | "were"
            | "what"
            | "when"
            | "will"
            | "with"
            | "you"
            | "your"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut words = Vec::new();
        Splitter::default().split(text, |word| words.push(format!("{}@{}", word.text, word.position)));
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn words_are_lower_case_and_stemmed() {
        check("Fix the leaking connections!", "fix@0 the@1 leak@2 connect@3");
        check("", "");
        check("— … !", "");
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        check("refreshToken", "refreshtoken@0 refresh@0 token@1");
        check("HTTPServer2 x", "httpserver2@0 http@0 server@1 2@2 x@3");
        check("MAX_RETRY_COUNT", "max_retry_count@0 max@0 retri@1 count@2");
        check("__init__", "init@0 init@0");
        check("v2", "v2@0 v@0 2@1");
        check("src/auth/token_store.rs", "src@0 auth@1 token_store@2 token@2 store@3 rs@4");
    }

    #[test]
    fn accents_are_folded() {
        check("Café naïve", "cafe@0 naiv@1");
        check("ünïcode", "unicod@0");
        check("Ошибка", "ошибка@0");
        check("¼ cup", "1⁄4@0 1@0 ⁄@1 4@2 cup@3");
    }

    #[test]
    fn cjk_is_cut_into_pairs() {
        check("数据库连接", "数据@0 据库@1 库连@2 连接@3");
        check("修复auth错误", "修复@0 auth@1 错误@2");
        check("锁", "锁@0");
        check("テスト", "テス@0 スト@1");
    }

    #[test]
    fn every_emoji_is_a_word() {
        check("ship 🚀 it", "ship@0 🚀@1 it@2");
        check("⭐\u{fe0f}⭐ a🚀b", "⭐@0 ⭐@1 a@2 🚀@3 b@4");
        check("\u{2705}", "\u{2705}@0");
        check(&"🚀".repeat(30), &(0..30).map(|at| format!("🚀@{at}")).collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn characters_in_parts_are_the_same_words() {
        let words = |text: &str| {
            let mut words = Vec::new();
            Splitter::default().split(text, |word| words.push((word.text.to_owned(), word.position)));
            words
        };
        let long = "バグを直してください".repeat(5);
        for text in ["バグを直して", "데이터베이스", "修复ガス auth", "Café", &long] {
            let in_parts: String = text.nfd().collect();
            assert_eq!(words(&in_parts), words(text), "{text}");
        }
        let in_parts: String = "バグ".nfd().collect();
        let mut places = Vec::new();
        Splitter::default().split(&in_parts, |word| places.push((word.start, word.end)));
        assert_eq!(places, [(0, in_parts.len())]);
    }

    #[test]
    fn keys_and_encoded_data_are_no_words() {
        check(&"a1".repeat(60), "");
    }

    proptest::proptest! {
        #[test]
        fn what_was_cut_before_makes_no_difference(runs in proptest::collection::vec("[a-cA-C1_é㍿株会]{1,6}", 1..8)) {
            let words = |splitter: &mut Splitter, run: &str| {
                let mut words = Vec::new();
                splitter.split(run, |word| words.push((word.text.to_owned(), word.position)));
                words
            };
            let mut used = Splitter::default();
            used.split(&"many ".repeat(1000), |_| ());
            for run in &runs {
                proptest::prop_assert_eq!(words(&mut used, run), words(&mut Splitter::default(), run), "{}", run);
            }
        }

        #[test]
        fn places_lie_inside_the_text_in_order(text in "\\PC{0,80}") {
            let mut last = 0;
            Splitter::default().split(&text, |word| {
                assert!(word.start < word.end && word.end <= text.len());
                assert!(text.is_char_boundary(word.start) && text.is_char_boundary(word.end));
                assert!(word.position >= last && word.position <= last + 1);
                assert!(!word.text.is_empty() || word.is_whole);
                last = word.position;
            });
        }
    }
}
