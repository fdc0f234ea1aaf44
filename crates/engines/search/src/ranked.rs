//! A session among the answers to a question, with its score.

use crate::gather::SessionMatch;
use crate::meaning::Nearness;

/// A session with its score and what produced it.
pub(crate) struct Ranked<'a> {
    pub(crate) score: f32,
    /// Its score without what its excerpts mean.
    pub(crate) plain_score: f32,
    /// How related its excerpts are to the question, from 0 to 1; `None` where they were not looked at.
    pub(crate) by_excerpts: Option<f32>,
    /// The chance that it answers, from 0 to 1.
    pub(crate) confidence: f32,
    pub(crate) session: usize,
    pub(crate) found: &'a SessionMatch,
    pub(crate) nearness: Option<Nearness>,
}
