//! Compares the words of a task with the latest messages of a session.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fewest characters of a word that counts.
const SHORT: usize = 3;
/// Words too common to count.
const COMMON: [&str; 27] = [
    "the", "and", "for", "was", "were", "this", "that", "with", "are", "from", "you", "can", "not", "have",
    "has", "but", "what", "how", "please", "und", "der", "die", "das", "les", "des", "que", "para",
];

/// How many of a task's words occur in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Overlap {
    /// The number of words that occur.
    pub common: usize,
    /// The number of words in the task.
    pub of: usize,
}

impl Overlap {
    /// Counts the words of `task` that occur in any of `texts`.
    pub fn count<'a>(task: &HashSet<String>, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let said: HashSet<String> = texts.into_iter().flat_map(words).collect();
        Self { common: task.intersection(&said).count(), of: task.len() }
    }

    /// The share of them, between 0 and 1.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.common as f64 / self.of as f64 }
    }
}

/// The distinct words of a text that carry meaning, in lower case. In scripts without spaces, every pair of
/// characters is a word.
pub fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for run in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        if run.chars().any(is_without_spaces) {
            let letters: Vec<char> = run.chars().collect();
            words.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if run.chars().count() >= SHORT {
            let word = run.to_lowercase();
            if !COMMON.contains(&word.as_str()) {
                words.insert(word);
            }
        }
    }
    words
}

/// Whether a letter is of a script that writes no spaces between words.
pub(super) fn is_without_spaces(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> Vec<String> {
        let mut words: Vec<String> = words(text).into_iter().collect();
        words.sort();
        words
    }

    #[test]
    fn common_words_are_ignored() {
        let check = |text, expected: &[&str]| assert_eq!(sorted(text), expected, "{text}");
        check("Fix the token_refresh, and fix IT again", &["again", "fix", "token_refresh"]);
        check("Größe ändern", &["größe", "ändern"]);
        check("修复登录", &["修复", "复登", "登录"]);
        check("a b c", &[]);
        check("", &[]);
    }

    #[test]
    fn the_share_of_common_words() {
        let task = words("refresh the token rotation");
        let check = |texts: &[&str], common| {
            assert_eq!(Overlap::count(&task, texts.iter().copied()), Overlap { common, of: 3 });
        };
        check(&["Token refresh works"], 2);
        check(&["nothing", "ROTATION"], 1);
        check(&[], 0);
        assert!(Overlap::count(&words(""), ["x"]).share().abs() < f64::EPSILON);
    }
}
