//! How likely a session answers a question. A score orders the sessions of one answer; this says whether the first of them is
//! worth looking at.
//!
//! Three numbers, fitted on one half of the labelled questions and shown on the other (docs/search-quality.md).

/// From this confidence on, a session more likely answers than not.
pub const LIKELY: f32 = 0.5;

/// What the score says of it.
const SCORE: f32 = 8.0;
/// What the rare words say that one text contains.
const RARE_WORDS: f32 = 6.0;
/// What is to be believed of a session of which nothing is known.
const NOTHING_KNOWN: f32 = -7.5;
/// The score by meaning alone from which a session more likely answers than not.
const NEAR: f32 = 0.25;
/// The share of a question from which a text contains all of its words.
const ALL_WORDS: f32 = 0.99;

/// What is known of a session's answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Match {
    /// The session's score.
    pub(crate) score: f32,
    /// The largest share of the question's words that one of its texts contains, by their rarity.
    pub(crate) coverage: f32,
    /// How many words that only one text has the question's words are worth together.
    pub(crate) rare_words: f32,
}

impl Match {
    /// The chance that the session answers, from 0 to 1.
    pub(crate) fn confidence(self) -> f32 {
        let rare_words = self.coverage * self.rare_words;
        let evidence = SCORE * self.score + RARE_WORDS * rare_words.ln_1p() + NOTHING_KNOWN;
        let chance = 1.0 / (1.0 + (-evidence).exp());
        // Who types a single word finds what contains it, however common the word is.
        if self.coverage >= ALL_WORDS { chance.max(LIKELY) } else { chance }
    }

    /// The same where words were not looked at.
    pub(crate) fn by_meaning_alone(self) -> f32 {
        (self.score / (2.0 * NEAR)).min(1.0)
    }
}

/// How many words that only one of `texts` texts has these words are worth together.
pub(crate) fn rare_words(idfs: impl Iterator<Item = f32>, texts: u64) -> f32 {
    let rarest = (1.0 + texts as f32).ln().max(f32::MIN_POSITIVE);
    idfs.map(|idf| (idf / rarest).min(1.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_likely_by_its_score_and_the_rare_words_that_one_text_contains() {
        let check = |score, coverage, rare_words, expected: bool| {
            let found = Match { score, coverage, rare_words }.confidence();
            assert_eq!(found >= LIKELY, expected, "{score} {coverage} {rare_words}: {found}");
            assert!((0.0..=1.0).contains(&found));
        };
        check(0.3, 0.75, 2.5, true);
        check(0.3, 0.25, 2.5, false);
        // Many common words are no evidence, a few rare ones are.
        check(0.45, 0.6, 1.0, false);
        check(0.45, 0.6, 3.0, true);
        // Meaning alone.
        check(0.5, 0.0, 3.0, false);
        check(0.0, 0.0, 0.0, false);
        // A single common word that was found.
        check(0.2, 1.0, 0.1, true);
    }

    #[test]
    fn a_word_of_one_text_is_a_rare_word() {
        let texts = 1000;
        let idf = crate::rank::idf(texts, 1);
        assert!((rare_words([idf, idf].into_iter(), texts) - 1.9).abs() < 0.05);
        assert!(rare_words([crate::rank::idf(texts, 900)].into_iter(), texts) < 0.02);
        assert!(rare_words(std::iter::empty(), 0).abs() < f32::EPSILON);
    }
}
