//! The ranking formulas, and nothing else.
//!
//! A session's score is the BM25 of its best chunk plus half the BM25 of all its text as one document, both as shares
//! of the most the query could reach, so that a weak match does not look like a perfect one. Adjacent words count a
//! little extra. For a file, what was done to it decides.
//!
//! The constants were chosen on labelled sessions of one public repository by cross-validation over sessions (see
//! docs/search-quality.md); small changes of them make no difference.

use crate::kind::ChunkKind;
use crate::meaning::{Nearness, UNRELATED};

/// Saturation and length norm of chunks.
const CHUNK: Bm25 = Bm25 { k1: 1.2, b: 0.75 };
/// Sessions differ far more in length, and repetition in them means more.
const SESSION: Bm25 = Bm25 { k1: 8.0, b: 0.9 };
/// The weight of the session as a whole, relative to its best chunk.
const SESSION_WEIGHT: f32 = 0.5;
/// The weight of a pair of adjacent words, relative to a word.
const PAIR_WEIGHT: f32 = 0.3;

/// The weight of the mean over a session's texts, relative to its nearest text.
const ALL_SAID: f32 = 0.4;
/// The weight of meaning relative to words, where no session contains a word of the query.
const MEANING: f32 = 0.5;
/// The part of that weight that is removed where one session contains all words of the query.
const SPOKEN_FOR: f32 = 0.5;

/// The weight of a session's excerpts relative to all else, where no session contains a word of the query.
const EXCERPTS: f32 = 0.6;
/// The score by words of the best session from which words say more than excerpts do: their weight is half there, and soon nothing.
const WORDS_TELL: f32 = 0.2;

/// How the cosine similarities of a model are turned into scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CosineScale {
    /// The similarity of unrelated texts.
    pub(crate) strangers: f32,
    /// The weight of meaning relative to words.
    pub(crate) weight: f32,
}

impl CosineScale {
    /// For text embedded with the built-in table, whichever model embeds the query.
    pub(crate) const TABLE: Self = Self { strangers: UNRELATED, weight: MEANING };

    /// For a model that embeds both sides, by the mean similarity of all texts, which differs between models.
    pub(crate) fn from_mean(mean: f32) -> Self {
        Self { strangers: mean.clamp(Self::TABLE.strangers, 0.9), ..Self::TABLE }
    }

    /// How related texts of this similarity are, from 0 to 1.
    pub(crate) fn related(self, cosine: f32) -> f32 {
        ((cosine - self.strangers) / (1.0 - self.strangers)).clamp(0.0, 1.0)
    }

    /// The scale for a query of whose words the best session contains this share.
    pub(crate) fn weighted(self, best_by_words: f32) -> Self {
        Self { weight: MEANING * (1.0 - SPOKEN_FOR * best_by_words), ..self }
    }
}

/// The score for changing the requested file.
const CHANGED: f32 = 4.0;
const EACH_CHANGE: f32 = 0.3;
const NAMED_BY_GIT: f32 = 1.0;
const READ: f32 = 0.5;
const MENTIONED: f32 = 0.5;
const WORDS_FOR_FILE: f32 = 0.5;
/// About the most those can reach together.
const MOST_FOR_FILE: f32 = 8.0;

struct Bm25 {
    k1: f32,
    b: f32,
}

impl Bm25 {
    fn score(&self, idf: f32, frequency: f32, relative_length: f32) -> f32 {
        let norm = self.k1 * (1.0 - self.b + self.b * relative_length);
        idf * frequency * (self.k1 + 1.0) / (frequency + norm)
    }
}

/// A word or a pair of words of the question, or what only marks the texts that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Word,
    Pair,
    /// Something that is counted and says nothing of how well a text answers.
    Mark,
}

impl Feature {
    fn weight(self) -> f32 {
        match self {
            Self::Word => 1.0,
            Self::Pair => PAIR_WEIGHT,
            Self::Mark => 0.0,
        }
    }
}

/// The share of what the question's words could give from which a chunk is a place to read besides the cited one. A text
/// of mean length that holds each word once reaches 1 / 2.2, and one that holds half of them half of that.
pub(crate) const STRONG: f32 = 0.3;

/// The weight of a chunk's relatedness in meaning, relative to the words that it contains.
const CITED_MEANING: f32 = 0.4;
/// The weight of a chunk's length: a sentence that holds the words of the question rarely holds the answer, too.
const CITED_LENGTH: f32 = 0.3;
/// What an answer is worth more if it says why, or what was changed.
pub(crate) const CONCLUSION: f32 = 0.1;
/// The number of words from which a chunk is long.
const LONG: f32 = 400.0;

/// What a chunk is worth to a reader who looks for the answer, by the share of the question's words that it contains, how
/// related in meaning it is, its number of words and its kind. It decides what is cited, never the score: how often and how densely
/// a text uses the words says what a session is about, not where the answer is.
pub(crate) fn worth_citing(kind: Option<ChunkKind>, coverage: f32, related: f32, words: u32) -> f32 {
    let length = ((words as f32).ln_1p() / LONG.ln()).min(1.0);
    (coverage + CITED_MEANING * related + CITED_LENGTH * length) * kind.map_or(1.0, worth_of_kind)
}

/// How much more a reader learns from prose than from a command or code that matches as well.
pub(crate) fn worth_of_kind(kind: ChunkKind) -> f32 {
    match kind {
        ChunkKind::Answer | ChunkKind::Plan | ChunkKind::Question | ChunkKind::Refusal | ChunkKind::Note => {
            1.0
        }
        // What it sums up is in the session itself.
        ChunkKind::Summary => 0.9,
        // A prompt asks what the text behind it answers.
        ChunkKind::Prompt | ChunkKind::Commit | ChunkKind::Delegation => 0.8,
        // Where it was said there is an answer.
        ChunkKind::Queued => 0.4,
        _ => 0.6,
    }
}

/// The share of the worth of the best text of a session from which a later one may be what was true in the end.
pub(crate) const AS_GOOD: f32 = 0.75;

/// The inverse document frequency of a feature that `having` of `all` have.
pub(crate) fn idf(all: u64, having: u64) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

/// The score of one feature in a chunk; the length is relative to the mean.
pub(crate) fn of_chunk(feature: Feature, idf: f32, frequency: f32, relative_length: f32) -> f32 {
    feature.weight() * CHUNK.score(idf, frequency, relative_length)
}

/// The score of one feature in a session as one document; the length is relative to the mean.
pub(crate) fn of_session(feature: Feature, idf: f32, frequency: f32, relative_length: f32) -> f32 {
    feature.weight() * SESSION.score(idf, frequency, relative_length)
}

/// The most chunks can reach, by the rarity of the question's words.
pub(crate) fn most_for_chunk(idfs: impl Iterator<Item = f32>) -> f32 {
    (CHUNK.k1 + 1.0) * idfs.sum::<f32>()
}

/// The most sessions can reach.
pub(crate) fn most_for_session(idfs: impl Iterator<Item = f32>) -> f32 {
    (SESSION.k1 + 1.0) * idfs.sum::<f32>()
}

/// A session's score by words, between 0 and 1, from its best chunk's share and its own.
pub(crate) fn by_words(best_chunk: f32, session: f32) -> f32 {
    ((best_chunk + SESSION_WEIGHT * session) / (1.0 + SESSION_WEIGHT)).min(1.0)
}

/// A session's score by meaning, from 0 to 1: from its nearest text and the mean of all its texts.
pub(crate) fn by_meaning(nearness: &Nearness, sense: CosineScale) -> f32 {
    sense.related((1.0 - ALL_SAID) * nearness.nearest + ALL_SAID * nearness.mean().max(0.0))
}

/// A session's score by words and meaning together.
pub(crate) fn fused(by_words: f32, by_meaning: f32, sense: CosineScale) -> f32 {
    (1.0 - sense.weight) * by_words + sense.weight * by_meaning
}

/// The weight of excerpts for a query of whose words the best session contains this share.
pub(crate) fn excerpt_weight(best_by_words: f32) -> f32 {
    EXCERPTS / (1.0 + ((best_by_words - WORDS_TELL) / 0.03).exp())
}

/// A session's score with what its excerpts mean.
pub(crate) fn with_excerpts(score: f32, by_excerpts: f32, weight: f32) -> f32 {
    (1.0 - weight) * score + weight * by_excerpts
}

/// What a session did to the requested file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct FileFacts {
    /// The number of edits and writes.
    pub(crate) changes: u32,
    /// The CLI backed it up before a change.
    pub(crate) backed_up: bool,
    /// Git named it as changed.
    pub(crate) named_by_git: bool,
    pub(crate) read: bool,
    /// The best share of the asked path that a mention has.
    pub(crate) mentioned: f32,
}

impl FileFacts {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn is_touched(&self) -> bool {
        self.changes > 0 || self.backed_up || self.named_by_git || self.read
    }
}

/// The share of the best session's score for a file below which a session is unrelated: it shares a word of the path,
/// as many do.
const BESIDE: f32 = 0.05;

/// Whether a session belongs among the answers to a path, by the best session's score.
pub(crate) fn is_about_file(score: f32, best: f32) -> bool {
    score >= BESIDE * best
}

/// A session's score for a file, between 0 and 1.
pub(crate) fn by_file(facts: &FileFacts, by_words: f32) -> f32 {
    let flag = |is: bool, weight: f32| if is { weight } else { 0.0 };
    let score = flag(facts.changes > 0 || facts.backed_up, CHANGED)
        + EACH_CHANGE * (facts.changes as f32).ln_1p()
        + flag(facts.named_by_git, NAMED_BY_GIT)
        + flag(facts.read, READ)
        + MENTIONED * facts.mentioned
        + WORDS_FOR_FILE * by_words * (1.0 + SESSION_WEIGHT);
    (score / MOST_FOR_FILE).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f32, right: f32) {
        assert!((left - right).abs() < 1e-3, "{left} is not {right}");
    }

    #[test]
    fn hand_computed() {
        near(idf(10, 1), (1.0_f32 + 9.5 / 1.5).ln());
        near(of_chunk(Feature::Word, 2.0, 1.0, 1.0), 2.0 * 2.2 / 2.2);
        near(of_chunk(Feature::Pair, 2.0, 1.0, 1.0), 0.6);
        near(of_session(Feature::Word, 1.0, 4.0, 1.0), 4.0 * 9.0 / 12.0);
        near(by_words(0.6, 0.3), 0.5);
        near(
            by_file(&FileFacts { changes: 1, ..FileFacts::default() }, 0.0),
            (4.0 + 0.3 * 2.0_f32.ln()) / 8.0,
        );
    }

    #[test]
    fn scores_stay_between_nought_and_one() {
        let all =
            FileFacts { changes: u32::MAX, backed_up: true, named_by_git: true, read: true, mentioned: 1.0 };
        assert!(by_file(&all, 1.0) <= 1.0);
        near(by_words(5.0, 5.0), 1.0);
        assert!(idf(0, 0) >= 0.0 && idf(5, 50) >= 0.0);
    }

    #[test]
    fn a_model_for_which_all_is_near_is_read_by_what_is_nearer_than_usual() {
        let near_as = |mean: f32| CosineScale::from_mean(mean).strangers;
        near(near_as(-0.2), 0.1);
        near(near_as(0.7), 0.7);
        near(near_as(2.0), 0.9);
        near(fused(0.5, 1.0, CosineScale::TABLE), 0.75);
    }

    #[test]
    fn meaning_counts_less_the_more_of_the_words_were_said() {
        for (best_by_words, expected) in [(0.0, 0.5), (0.5, 0.375), (1.0, 0.25)] {
            near(CosineScale::TABLE.weighted(best_by_words).weight, expected);
        }
        near(CosineScale::from_mean(0.7).weighted(1.0).strangers, 0.7);
    }

    #[test]
    fn excerpts_count_where_words_say_little() {
        for (best_by_words, expected) in [(0.0, 0.6), (0.2, 0.3), (0.35, 0.004), (1.0, 0.0), (7.0, 0.0)] {
            near(excerpt_weight(best_by_words), expected);
        }
        near(with_excerpts(0.5, 1.0, 0.2), 0.6);
    }

    #[test]
    fn a_stray_word_of_a_path_ranks_below_a_change() {
        let changed = by_file(&FileFacts { changes: 1, ..FileFacts::default() }, 0.2);
        let read = by_file(&FileFacts { read: true, ..FileFacts::default() }, 0.0);
        let stray = by_file(&FileFacts::default(), 0.06);
        assert!(is_about_file(read, changed) && is_about_file(changed, changed));
        assert!(!is_about_file(stray, changed) && is_about_file(stray, stray));
    }

    #[test]
    fn a_place_is_worth_the_words_it_contains_what_it_means_and_its_length() {
        let worth = |kind, coverage, related, words| worth_citing(Some(kind), coverage, related, words);
        near(worth(ChunkKind::Answer, 0.5, 0.5, 0), 0.7);
        near(worth(ChunkKind::Answer, 0.5, 0.0, 10_000), 0.8);
        near(worth(ChunkKind::Prompt, 1.0, 0.0, 0), 0.8);
        assert!(worth(ChunkKind::Answer, 0.7, 0.0, 60) > worth(ChunkKind::Thinking, 1.0, 0.0, 60));
        assert!(worth_citing(None, 1.0, 1.0, 1) > worth_citing(None, 0.9, 1.0, 1));
    }

    #[test]
    fn changing_a_file_outranks_all_else_together() {
        let changed = FileFacts { backed_up: true, ..FileFacts::default() };
        let rest = FileFacts { named_by_git: true, read: true, mentioned: 1.0, ..FileFacts::default() };
        assert!(by_file(&changed, 0.0) > by_file(&rest, 1.0));
    }
}
