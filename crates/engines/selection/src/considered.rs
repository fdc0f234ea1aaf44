//! A session that was considered, and how it did.

use jiff::Timestamp;
use model::SessionId;
use serde::{Deserialize, Serialize};

use crate::chance::{Chance, ResumeFacts};
use crate::{Candidate, Ceiling, Factors, Hold, Relevance};

/// Why a session cannot be resumed, however well it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeObstacle {
    /// A live process holds it.
    Held,
    /// Its transcript is gone.
    Gone,
}

impl ResumeObstacle {
    /// What keeps a candidate from being resumed.
    pub fn find(candidate: &Candidate) -> Option<Self> {
        match candidate.hold {
            _ if !candidate.has_transcript => Some(Self::Gone),
            Hold::Free => None,
            Hold::Worker | Hold::Person => Some(Self::Held),
        }
    }
}

/// The chance that the person goes on with a session, and the facts it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumeEstimate {
    /// The chance, and what speaks for and against.
    #[serde(flatten)]
    pub chance: Chance,
    /// The facts.
    pub facts: ResumeFacts,
}

/// A session that was considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Considered {
    /// The session.
    pub session_id: SessionId,
    /// Its title, where it was asked for.
    pub title: Option<String>,
    /// The branch it was last on.
    pub branch: Option<String>,
    /// When something last happened in it.
    pub last_active: Option<Timestamp>,
    /// Between 0 and 1: the chance, or under the seed's weights the sum of the factors, 0 under a ceiling. `null` where
    /// a session ranks too low for its chance to be estimated.
    pub score: Option<f64>,
    /// The chance, under the calibrated rule, of those that rank highest.
    pub estimate: Option<ResumeEstimate>,
    /// The five factors of the seed's weights.
    pub factors: Factors,
    /// How much it has to do with the task, and why.
    pub relevance: Relevance,
    /// What forbids it.
    pub ceiling: Option<Ceiling>,
    /// What keeps it from being resumed.
    pub obstacle: Option<ResumeObstacle>,
    /// All that in words.
    pub reason: String,
}

impl Considered {
    /// Whether it can be resumed at all.
    pub fn is_eligible(&self) -> bool {
        self.ceiling.is_none() && self.obstacle.is_none()
    }
}
