//! What the excerpts of sessions say of a question.

use std::path::Path;

use embedding::SentenceModel;

use super::{Asked, Evidence, FAINT, Searcher};
use crate::admitted::Admitted;
use crate::error::Error;
use crate::excerpts::{self, ExcerptVectors};
use crate::gather::SessionMatch;
use crate::literal::{has_name, is_literal};
use crate::meaning::{self, Nearness};
use crate::outcome::Mode;
use crate::rank::{self, CosineScale};
use crate::scripts::is_cjk;
use crate::sessions::Sessions;

/// The share of sessions from which excerpts count: before that, those without would look unrelated.
const ENOUGH: f32 = 0.9;
/// The share of a question from which a text contains all of its words.
const ALL_WORDS: f32 = 0.99;

/// How near the excerpts of sessions are to a question.
pub(super) struct ByExcerpts {
    /// By session number.
    near: Vec<Option<Nearness>>,
}

impl ByExcerpts {
    /// How related a session's excerpts are, from 0 to 1.
    pub(super) fn of(&self, session: usize) -> Option<f32> {
        let near = self.near.get(session).copied().flatten()?;
        Some(rank::by_meaning(&near, CosineScale::TABLE))
    }
}

/// Where the excerpts of a question are looked up.
#[derive(Clone, Copy)]
pub(super) struct ExcerptLookup<'a> {
    index: &'a Path,
    model: &'a SentenceModel,
    list: u64,
    sessions: &'a Sessions,
}

impl Searcher {
    /// Where excerpts are looked up; `None` where the question is not one that they answer.
    pub(super) fn excerpt_lookup(&self, asked: &Asked<'_>) -> Option<ExcerptLookup<'_>> {
        let query = asked.query;
        let is_asked = asked.mode == Mode::Hybrid
            && asked.is_understood
            && self.encoder.is_none()
            && !asked.asks_for_file()
            && query.phrases.is_empty()
            && !query.meant().chars().any(is_cjk)
            && !is_literal(query.meant());
        let model = self.excerpt_model.as_ref().filter(|_| is_asked)?;
        let index = self.folder.parent()?;
        Some(ExcerptLookup { index, model, list: self.list_identity, sessions: &self.sessions })
    }
}

impl Searcher {
    /// Whether some sessions may have no excerpts yet, and the last pass began `pause` seconds before `now`.
    pub fn are_excerpts_due(&self, now: i64, pause: i64) -> bool {
        let folder = self.folder.parent().map(excerpts::folder).unwrap_or_default();
        self.list.state().is_ok_and(|state| excerpts::is_due(&folder, now, pause, state))
    }
}

impl ExcerptLookup<'_> {
    /// How near the excerpts of sessions are to a question; `None` where too few sessions have any.
    pub(super) fn look_up(
        self,
        asked: &Asked<'_>,
        admitted: Option<&Admitted>,
    ) -> Result<Option<ByExcerpts>, Error> {
        let Self { index, model, list, sessions } = self;
        let kept = ExcerptVectors::find(index, model.model(), list);
        let Some(vectors) = kept.and_then(|kept| kept.vectors()) else { return Ok(None) };
        let Some(vector) = model.embed(asked.query.meant())? else { return Ok(None) };
        let near = meaning::similarities(&vectors, &vector, sessions, admitted, asked.threads)?.sessions;
        let having = near.iter().flatten().count();
        let is_enough = having as f32 >= ENOUGH * sessions.admitted_speaking() as f32;
        Ok(is_enough.then_some(ByExcerpts { near }))
    }
}

impl Evidence {
    /// How much excerpts count beside all else: not at all where a text contains an identifier and all that is asked for beside it.
    pub(super) fn excerpt_weight(&self, asked: &Asked<'_>) -> f32 {
        let found = &self.gathered.found;
        let best = |of: fn(&SessionMatch) -> f32| found.iter().map(of).fold(0.0, f32::max);
        if best(|found| found.coverage) >= ALL_WORDS && has_name(&asked.query.text) {
            return 0.0;
        }
        rank::excerpt_weight(best(SessionMatch::by_words))
    }

    /// A session's score with what its excerpts mean, and that; where it has none, the table speaks for it.
    pub(super) fn with_excerpts(&self, session: usize, score: f32, weight: f32) -> (f32, Option<f32>) {
        let Some(excerpts) = self.excerpts.as_ref().filter(|_| weight > 0.0) else { return (score, None) };
        let nearness = || self.near.sessions.get(session).copied().flatten();
        let by_table = || nearness().map(|near| rank::by_meaning(&near, self.scale));
        let near = excerpts.of(session);
        match near.or_else(by_table) {
            Some(near) if score > 0.0 || near > FAINT => {
                (rank::with_excerpts(score, near, weight), Some(near))
            }
            _ => (score, None),
        }
    }
}
