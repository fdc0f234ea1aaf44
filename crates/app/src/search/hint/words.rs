//! The words of a question, and which of them say nothing about what was said.

use std::ops::Range;

/// Words that lead to a day or a branch.
pub(super) const LEADING: [&str; 8] = ["on", "in", "from", "at", "during", "since", "of", "for"];

/// Words that say nothing about what was said, only that something was.
pub(super) const EMPTY: [&str; 69] = [
    "a",
    "about",
    "all",
    "an",
    "and",
    "any",
    "are",
    "at",
    "been",
    "by",
    "conversation",
    "conversations",
    "did",
    "do",
    "doing",
    "done",
    "during",
    "find",
    "for",
    "from",
    "had",
    "happened",
    "has",
    "have",
    "i",
    "in",
    "is",
    "it",
    "last",
    "latest",
    "list",
    "made",
    "me",
    "most",
    "my",
    "newest",
    "of",
    "on",
    "one",
    "ones",
    "our",
    "recent",
    "recently",
    "session",
    "sessions",
    "show",
    "since",
    "stuff",
    "that",
    "the",
    "thing",
    "things",
    "this",
    "to",
    "touched",
    "up",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "with",
    "work",
    "worked",
    "working",
    "you",
];

/// A question's words, as they are compared and as they were typed.
pub(super) struct Words<'a> {
    /// In small letters, without the marks around them.
    pub(super) bare: Vec<String>,
    pub(super) typed: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn of(question: &'a str) -> Self {
        let words = question.split_whitespace().map(|word| (bare(word), word));
        let (bare, typed) = words.filter(|(bare, _)| !bare.is_empty()).unzip();
        Self { bare, typed }
    }

    pub(super) fn bare(&self) -> Vec<&str> {
        self.bare.iter().map(String::as_str).collect()
    }

    /// Some of them as they were typed, without the marks around them.
    pub(super) fn said(&self, range: Range<usize>) -> String {
        let is_mark = |c: char| !c.is_alphanumeric() && c != '/';
        self.typed[range].join(" ").trim_matches(is_mark).to_owned()
    }

    /// The others as they were typed, without a word that only led to those that are taken.
    pub(super) fn others(&self, taken: &Range<usize>) -> String {
        let leads = |at: &usize| LEADING.contains(&self.bare[*at].as_str());
        let before = taken.start.checked_sub(1).filter(leads).unwrap_or(taken.start);
        let words: Vec<&str> = [&self.typed[..before], &self.typed[taken.end..]].concat();
        words.join(" ").trim_end_matches(['?', '.', '!', ',', ';']).to_owned()
    }

    /// Those of the others that say something, as they are compared.
    pub(super) fn telling(&self, taken: &Range<usize>) -> String {
        let others = self.bare[..taken.start].iter().chain(&self.bare[taken.end..]);
        let left: Vec<&str> = others.map(String::as_str).filter(|word| !EMPTY.contains(word)).collect();
        left.join(" ")
    }

    /// Those that say something, as they were typed; `None` where none does.
    pub(super) fn telling_words(&self) -> Option<String> {
        let says = |at: &usize| !EMPTY.contains(&self.bare[*at].as_str());
        let said: Vec<String> = (0..self.bare.len()).filter(says).map(|at| self.said(at..at + 1)).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// A word without the marks around it, in small letters.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase()
}
