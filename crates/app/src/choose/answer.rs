//! What `pick` answers.

use std::path::PathBuf;

use jiff::Timestamp;
use model::{AgentId, SessionId};
pub use selection::Considered;
use selection::calibrated::TrackRecord;
use selection::{Action, Factors, Judge};
use serde::Serialize;

use crate::choose::outcome::Advice;
pub use crate::choose::pack::Pack;
pub use crate::choose::resume_cost::Outlay;

/// What to do with the task, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// `resume`, `fresh` or `queue`.
    pub action: Action,
    /// Why, in one line.
    pub reason: String,
    /// The session to resume, or the one to wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// That session's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The chance that the person goes on with the session that ranks first, between 0 and 1; `null` where it was not
    /// estimated.
    pub chance: Option<f64>,
    /// The five factors of that session; `null` where none was considered.
    pub factors: Option<Factors>,
    /// Its score: the chance, or by the seed's weights the sum of the factors.
    pub score: Option<f64>,
    /// A score from here on is enough.
    pub threshold: f64,
    /// The rule: `calibrated` or `seed`.
    pub weights: &'static str,
    /// What the rule advised, where the person's own record overrode it.
    pub advised_action: Option<Action>,
    /// How often the rule was right for whoever asks, as far as it was seen.
    pub record: Option<TrackRecord>,
    /// What would change the answer.
    pub what_would_change: Vec<String>,
    /// Who judged relevance, by the seed's weights; `null` where nobody had to.
    pub judge: Option<Judge>,
    /// Why a model did not judge that was to.
    pub relevance_fallback: Option<String>,
    /// What going on with the session takes at first.
    pub resume_cost: Option<Outlay>,
    /// What a fresh session is told of earlier ones, where some have to do with the task.
    pub pack: Option<Pack>,
    /// The pack that a fresh session would be given, where it is left open whether it is begun.
    #[serde(skip)]
    pub(crate) pack_if_fresh: Option<Pack>,
    /// The best of the sessions that were considered.
    pub scores: Vec<Considered>,
    /// How many were considered.
    pub candidates: usize,
    /// The task.
    pub task: String,
    /// The repository.
    #[serde(serialize_with = "model::path")]
    pub repo_path: PathBuf,
    /// The branch.
    pub branch: Option<String>,
    /// The agent that asked.
    pub agent_id: Option<AgentId>,
    /// The moment of the past.
    pub as_of: Option<Timestamp>,
    /// The number it is kept under.
    pub decision: Option<i64>,
    /// Why it could not be kept, where it could not.
    pub save_error: Option<String>,
    /// What could not be learned.
    pub notes: Vec<String>,
}

/// Between these chances a person is asked, and where nobody can be asked a session is begun fresh.
const UNCERTAIN: std::ops::Range<f64> = 0.35..0.65;

impl Answer {
    /// Whether the rule leaves it open, so that a person is asked: the chance is neither high nor low, or not known.
    pub fn is_uncertain(&self) -> bool {
        let is_open = self.chance.is_none_or(|chance| UNCERTAIN.contains(&chance));
        let was_estimated = self.first().is_some_and(|first| first.estimate.is_some());
        is_open && was_estimated && self.action != Action::Queue
    }

    /// The session that ranks first, which could be resumed or forked.
    pub fn first(&self) -> Option<&Considered> {
        self.scores.first().filter(|first| first.is_eligible())
    }

    /// What the calibrated rule advised by itself; `None` where it was not asked.
    pub(crate) fn advice(&self) -> Option<Advice> {
        let first = self.scores.first().filter(|first| first.estimate.is_some())?;
        let action = self.advised_action.unwrap_or(self.action);
        Some(Advice { action, candidate: Some(first.session_id.clone()) })
    }

    /// The same; a fresh session where it is left open and nobody can be asked.
    #[must_use]
    pub(crate) fn settled_by_nobody(self) -> Self {
        if self.is_uncertain() && self.action == Action::Resume {
            self.fresh("that leaves it open, and nobody can be asked")
        } else {
            self
        }
    }

    /// The same, but a fresh session, for the reason given.
    #[must_use]
    pub fn fresh(self, why: &str) -> Self {
        let reason = format!("{}; {why}", self.reason);
        let pack = self.pack.or(self.pack_if_fresh);
        Self {
            action: Action::Fresh,
            session_id: None,
            title: None,
            resume_cost: None,
            pack,
            pack_if_fresh: None,
            reason,
            ..self
        }
    }
}
