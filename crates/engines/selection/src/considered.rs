//! A session that was considered, and how it did.

use jiff::Timestamp;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chance::{Chance, ResumeFacts};
use crate::{Candidate, Ceiling, Factors, Occupancy, Relevance};

/// Why a session cannot be resumed, however well it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeObstacle {
    /// A live process holds the session.
    Held,
    /// Its transcript is gone.
    Gone,
}

impl ResumeObstacle {
    /// Finds the obstacle to resuming a candidate.
    pub fn find(candidate: &Candidate) -> Option<Self> {
        match candidate.hold {
            _ if !candidate.has_transcript => Some(Self::Gone),
            Occupancy::Free => None,
            Occupancy::Worker | Occupancy::Person => Some(Self::Held),
        }
    }
}

/// The chance that the person resumes a session, and the facts it was estimated from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct ResumeEstimate {
    /// The chance with the effect of each fact.
    #[serde(flatten)]
    pub chance: Chance,
    /// The facts it was estimated from.
    pub facts: ResumeFacts,
}

/// A session that was considered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Considered {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title, where it was requested.
    pub title: Option<String>,
    /// The branch it was last on.
    pub branch: Option<String>,
    /// The time of its last activity.
    #[serde(serialize_with = "model::optional_time")]
    pub last_active: Option<Timestamp>,
    /// Between 0 and 1: the chance, or under the seed's weights the sum of the factors, 0 under a ceiling. `null` where
    /// a session ranks too low for its chance to be estimated.
    pub score: Option<f64>,
    /// The chance, under the calibrated rule, of those that rank highest.
    pub estimate: Option<ResumeEstimate>,
    /// The five factors of the seed's weights.
    pub factors: Factors,
    /// How relevant it is to the task, and why.
    pub relevance: Relevance,
    /// The limit that rules it out.
    pub ceiling: Option<Ceiling>,
    /// The obstacle to resuming it.
    pub obstacle: Option<ResumeObstacle>,
    /// A summary of these facts in words.
    pub reason: String,
}

impl Considered {
    /// Whether it can be resumed.
    pub fn is_eligible(&self) -> bool {
        self.ceiling.is_none() && self.obstacle.is_none()
    }
}
