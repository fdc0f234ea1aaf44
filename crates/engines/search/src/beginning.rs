//! The last word of a question that is still being typed: which indexed words it may become.
//!
//! With each letter that is added there are fewer of them, never another one, so whatever is counted by them falls.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::schema::Field;
use tantivy::{Searcher as Text, Term};

/// With more words that it may become, a beginning tells no sessions apart.
const MOST_WORDS: usize = 512;
/// The share of the texts with any of these words from which the word itself stands for what is typed.
const MOSTLY_ITSELF: f32 = 0.25;
/// What is added to a word in English, and its stem stays the same.
const ENDINGS: [&str; 48] = [
    "e", "es", "ed", "ing", "ings", "er", "ers", "or", "ors", "ly", "edly", "ingly", "ion", "ions", "ation",
    "ations", "ator", "ators", "ization", "izations", "ational", "ate", "ates", "ated", "ating", "ative",
    "ize", "izes", "ized", "izing", "al", "ally", "ality", "able", "ability", "ible", "ance", "ence",
    "ement", "ements", "ment", "ments", "ness", "ful", "ive", "ity", "ous", "ism",
];

/// The last word of a question that is still being typed, or nothing behind the last word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// The indexed words that it may become, in order; `None` where any session may have one.
    pub(crate) words: Option<Vec<String>>,
    /// Whether these stand for it in the ranking; else it stands for itself.
    pub(crate) ranks: bool,
    /// Its own indexed forms, where they are no other word's of the question.
    pub(crate) own: Vec<String>,
}

impl Beginning {
    /// What `typed`, in lower case, may become; `stem` is its indexed form.
    pub(crate) fn find(text: &Text, field: Field, typed: &str, stem: &str) -> tantivy::Result<Self> {
        let mut words = BTreeSet::new();
        let mut texts = 0;
        for segment in text.segment_readers() {
            let index = segment.inverted_index(field)?;
            let mut terms = index.terms().range().ge(typed).into_stream()?;
            while terms.advance() {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                if !term.starts_with(typed) {
                    break;
                }
                texts += u64::from(terms.value().doc_freq);
                words.insert(term.to_owned());
                if words.len() > MOST_WORDS {
                    return Ok(Self::default());
                }
            }
        }
        let said = |word: &str| text.doc_freq(&Term::from_field_text(field, word));
        for shorter in stems(typed) {
            let often = said(&shorter)?;
            if often > 0 && words.insert(shorter) {
                texts += often;
            }
        }
        let ranks = (said(stem)? as f32) < MOSTLY_ITSELF * texts as f32;
        Ok(Self { words: Some(words.into_iter().collect()), ranks, own: Vec::new() })
    }

    /// Whether nothing that is indexed begins so.
    pub(crate) fn is_unknown(&self) -> bool {
        self.words.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The shorter stems of words that begin with what is typed.
fn stems(typed: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = Vec::new();
    if !typed.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return found;
    }
    for length in 2..typed.len() {
        let (stem, rest) = typed.split_at(length);
        let last = &stem[length - 1..];
        let doubled = ENDINGS.iter().map(|ending| format!("{last}{ending}"));
        let mut endings =
            ENDINGS.iter().map(|ending| (*ending).to_owned()).chain(doubled).chain(["s".to_owned()]);
        if endings.any(|ending| ending.starts_with(rest) && stemmer.stem(&format!("{stem}{ending}")) == stem)
        {
            found.push(stem.to_owned());
        }
    }
    if let Some(stem) = typed.strip_suffix('y').filter(|stem| stem.len() >= 2) {
        found.push(format!("{stem}i"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_stem_while_its_ending_is_typed() {
        let stemmer = Stemmer::create(Algorithm::English);
        for word in [
            "overwrites",
            "overwriting",
            "running",
            "happy",
            "happiness",
            "flies",
            "generalization",
            "migrations",
            "tested",
            "settings",
            "normalizing",
            "deployment",
            "golang",
            "quickly",
            "committed",
            "cache",
        ] {
            let stem = stemmer.stem(word).into_owned();
            for length in 1..=word.len() {
                let typed = &word[..length];
                let may_be = stem.starts_with(typed) || stems(typed).contains(&stem);
                assert!(may_be, "{typed} may become {word}, which is indexed as {stem}");
            }
        }
        assert!(!stems("overw").contains(&"over".to_owned()), "no ending begins so");
    }

    #[test]
    fn each_letter_leaves_fewer_words() {
        for word in ["overwriting", "flies", "happier", "generalizations", "runners", "sessional"] {
            for length in 2..word.len() {
                let (before, after) = (&word[..length], &word[..=length]);
                for stem in stems(after) {
                    let was_there = stem.starts_with(before) || stems(before).contains(&stem);
                    assert!(was_there, "{stem} for {after}, and not for {before}");
                }
            }
        }
    }
}
