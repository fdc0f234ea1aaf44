//! A session that was looked at, and how it did.

use model::SessionId;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::seed::reason;
use crate::{Ceiling, Factors, Relevance};

/// Why a session cannot be resumed, however well it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A live process holds it.
    Held,
    /// Its transcript is gone.
    Gone,
}

/// A session that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// The session.
    pub session_id: SessionId,
    /// Between 0 and 1; 0 under a ceiling.
    pub score: f64,
    /// Its factors.
    pub factors: Factors,
    /// How much it has to do with the task, and why.
    pub relevance: Relevance,
    /// What forbids it.
    pub ceiling: Option<Ceiling>,
    /// What keeps it from being resumed.
    pub obstacle: Option<Obstacle>,
    /// How often its context was compacted.
    pub compactions: u64,
    /// Cost over budget, in percent, where both are known.
    pub budget_used_pct: Option<f64>,
}

impl Considered {
    /// Whether it can be resumed at all.
    pub fn is_eligible(&self) -> bool {
        self.ceiling.is_none() && self.obstacle.is_none()
    }

    /// All that in words.
    pub fn reason(&self) -> String {
        reason::words(self)
    }
}

/// With its reason in words, as `docs/json.md` has it.
impl Serialize for Considered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Considered", 7)?;
        fields.serialize_field("session_id", &self.session_id)?;
        fields.serialize_field("score", &self.score)?;
        fields.serialize_field("factors", &self.factors)?;
        fields.serialize_field("relevance", &self.relevance)?;
        fields.serialize_field("ceiling", &self.ceiling)?;
        fields.serialize_field("obstacle", &self.obstacle)?;
        fields.serialize_field("reason", &self.reason())?;
        fields.end()
    }
}
