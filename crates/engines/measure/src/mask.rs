//! Blanks text that a query shares with the transcripts it was taken from, so that a search cannot find the
//! query's own words.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// Number of words in a shared run that is blanked; a shorter query is blanked as a whole.
const RUN: usize = 6;
/// Byte that replaces every blanked byte.
const BLANK: u8 = b'x';

/// Runs of words to blank, taken from a set of queries.
#[derive(Debug, Default)]
pub struct Mask {
    /// Hashes of runs of words, by the number of words in each.
    runs: HashMap<usize, HashSet<u64>>,
}

impl Mask {
    /// Collects the runs of words of some queries.
    pub fn new<'a>(questions: impl IntoIterator<Item = &'a str>) -> Self {
        let mut mask = Self::default();
        for question in questions {
            let words: Vec<u64> =
                words(question.as_bytes()).map(|word| hash(&question.as_bytes()[word])).collect();
            let length = words.len().min(RUN);
            for run in words.windows(length.max(1)) {
                mask.runs.entry(length).or_default().insert(hash_of(run.iter()));
            }
        }
        mask
    }

    /// Blanks the runs in a line and leaves the rest unchanged, JSON syntax included. Returns whether
    /// anything was blanked.
    pub fn blank(&self, line: &mut [u8]) -> bool {
        let found = self.shared(line);
        for word in &found {
            line[word.clone()].fill(BLANK);
        }
        !found.is_empty()
    }

    fn shared(&self, line: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut last: VecDeque<(Range<usize>, u64)> = VecDeque::with_capacity(RUN);
        for word in words(line) {
            if last.len() == RUN {
                last.pop_front();
            }
            let hashed = hash(&line[word.clone()]);
            last.push_back((word.clone(), hashed));
            for (length, runs) in &self.runs {
                let Some(from) = last.len().checked_sub(*length) else { continue };
                if runs.contains(&hash_of(last.range(from..).map(|(_, hash)| hash))) {
                    // Word by word, since an escape sequence may be between two words.
                    found.extend(last.range(from..).map(|(word, _)| word.clone()));
                }
            }
        }
        found
    }
}

/// The words of a text: runs of ASCII letters, digits and non-ASCII bytes. Escape sequences are not part of a
/// word, so that words match inside JSON strings too.
fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() && !is_word(text[at]) {
            at += match (text[at], text.get(at + 1)) {
                (b'\\', Some(b'u')) => 6,
                (b'\\', _) => 2,
                _ => 1,
            };
        }
        let start = at;
        while at < text.len() && is_word(text[at]) {
            at += 1;
        }
        (start < at).then_some(start..at)
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn hash(word: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for byte in word {
        byte.to_ascii_lowercase().hash(&mut hasher);
    }
    hasher.finish()
}

fn hash_of<'a>(words: impl Iterator<Item = &'a u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in words {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_question_shares_is_blanked() {
        let mask =
            Mask::new(["Keep sessions alive past the hour boundary", "Fix the parser", "größe prüfen bitte"]);
        let check = |line: &str, expected: &str| {
            let mut bytes = line.as_bytes().to_vec();
            assert_eq!(mask.blank(&mut bytes), line != expected, "{line}");
            assert_eq!(String::from_utf8(bytes).unwrap(), expected);
        };
        check("now fix: THE parser!", "now xxx: xxx xxxxxx!");
        check("fix a parser", "fix a parser");
        // Six of seven words, with another after them.
        check("keep sessions alive past the hour, then", "xxxx xxxxxxxx xxxxx xxxx xxx xxxx, then");
        check("keep sessions alive past the day", "keep sessions alive past the day");
        check("sessions alive past the hour boundary", "xxxxxxxx xxxxx xxxx xxx xxxx xxxxxxxx");
        check(r#"{"text":"so:\nfix the\tparser"}"#, r#"{"text":"so:\nxxx xxx\txxxxxx"}"#);
        check(r"\u0066fix the parser", r"\u0066xxx xxx xxxxxx");
        check("größe prüfen bitte", "xxxxxxx xxxxxxx xxxxx");
        check("", "");
        check("\\", "\\");
    }

    #[test]
    fn without_questions_nothing_is_blanked() {
        assert!(!Mask::new([]).blank(&mut b"fix the parser".to_vec()));
        assert!(!Mask::new(["", " … "]).blank(&mut b"...".to_vec()));
    }
}
