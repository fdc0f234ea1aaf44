//! The answer of `pick`.

use std::path::PathBuf;

use jiff::Timestamp;
use model::{AgentId, SessionId};
use schemars::JsonSchema;
use selection::calibrated::TrackRecord;
pub use selection::{Action, Considered};
use selection::{Factors, Judge};
use serde::Serialize;

use crate::choose::outcome::RuleAdvice;
pub use crate::choose::pack::Pack;
pub use crate::choose::resume_cost::ResumeCost;

/// The decision for a task, with its reason.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PickAnswer")]
pub struct Answer {
    /// `resume`, `fresh` or `queue`.
    pub action: Action,
    /// Whether the user should rather be asked: go on with the `offered` session, or start fresh? Where nobody can be asked, start
    /// fresh.
    pub ask: bool,
    /// With `ask`: the session to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<OfferedSession>,
    /// Why, in one line.
    pub reason: String,
    /// The session to resume, or the one to wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The title of the session to resume or wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The chance that the user continues the session that ranks first, between 0 and 1; `null` where it was not
    /// estimated.
    pub chance: Option<f64>,
    /// The five factors of that session; `null` where none was considered.
    pub factors: Option<Factors>,
    /// Its score: the chance, or by the seed's weights the sum of the factors.
    pub score: Option<f64>,
    /// The score from which a session is resumed.
    pub threshold: f64,
    /// The rule: `calibrated` or `seed`.
    pub weights: &'static str,
    /// What the rule advised, if the person's record overrode it.
    pub advised_action: Option<Action>,
    /// How often the rule was right for the asker, as far as is known.
    pub record: Option<TrackRecord>,
    /// What would change the answer.
    pub what_would_change: Vec<String>,
    /// Who judged relevance, by the seed's weights; `null` where nobody had to.
    pub judge: Option<Judge>,
    /// Why the model that was to judge relevance did not.
    pub relevance_fallback: Option<String>,
    /// What resuming the session costs at first.
    pub resume_cost: Option<ResumeCost>,
    /// The brief on earlier sessions for a fresh one, if some are relevant to the task.
    pub pack: Option<Pack>,
    /// The brief for a fresh session, if the choice is uncertain.
    #[serde(skip)]
    pub(crate) pack_if_fresh: Option<Pack>,
    /// The best of the sessions that were considered.
    pub scores: Vec<Considered>,
    /// How many sessions were considered.
    pub candidates: usize,
    /// The task, as it was given.
    pub task: String,
    /// The root of the repository that the task is for.
    #[serde(serialize_with = "model::path")]
    pub repo_path: PathBuf,
    /// The branch that is checked out in that repository.
    pub branch: Option<String>,
    /// The agent that asked.
    pub agent_id: Option<AgentId>,
    /// The past time that the choice was made for.
    #[serde(serialize_with = "model::optional_time")]
    pub as_of: Option<Timestamp>,
    /// The number of the saved decision.
    pub decision: Option<i64>,
    /// Why the decision could not be saved.
    pub save_error: Option<String>,
    /// Notes on what could not be found out.
    pub notes: Vec<String>,
}

/// A session that the person may want to go on with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfferedSession {
    /// Its id.
    pub session_id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// When it was last used.
    #[serde(serialize_with = "model::optional_time")]
    pub last_active: Option<Timestamp>,
}

impl Answer {
    /// The session that ranks first, which could be resumed or forked.
    pub fn first(&self) -> Option<&Considered> {
        self.scores.first().filter(|first| first.is_eligible())
    }

    /// What the calibrated rule advised by itself; `None` if it was not used.
    pub(crate) fn advice(&self) -> Option<RuleAdvice> {
        let first = self.scores.first().filter(|first| first.estimate.is_some())?;
        let action = self.advised_action.unwrap_or(self.action);
        Some(RuleAdvice { action, candidate: Some(first.session_id.clone()) })
    }

    /// Turns a resume that the person should be asked about into a fresh session, because nobody can be asked.
    #[must_use]
    pub(crate) fn fresh_if_asking(self) -> Self {
        if self.ask && self.action == Action::Resume {
            self.fresh("that is uncertain, and nobody can be asked")
        } else {
            self
        }
    }

    /// The same answer with a fresh session instead, for the reason given.
    #[must_use]
    pub fn fresh(self, why: &str) -> Self {
        let reason = format!("{}; {why}", self.reason);
        let pack = self.pack.or(self.pack_if_fresh);
        Self {
            action: Action::Fresh,
            ask: false,
            offered: None,
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
