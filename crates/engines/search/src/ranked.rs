//! A session among the answers to a question, with its score.

use crate::gather::SessionMatch;
use crate::meaning::Nearness;

/// What one session reached, and by what.
pub(crate) struct Ranked<'a> {
    pub(crate) score: f32,
    pub(crate) session: usize,
    pub(crate) found: &'a SessionMatch,
    pub(crate) nearness: Option<Nearness>,
}
