//! What one transcript says was spent: the material of the cost ledger, before copies are told apart.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Usage;

/// One API message's usage as one file tells it.
///
/// Forks, branches and old resumes copy messages from file to file with their ids unchanged; `key` is what
/// tells that two are the same, so that they count once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageUsage {
    /// A hash of (`message.id`, `requestId`), or of `message.id` alone where there is no request id.
    pub key: u64,
    /// A hash of `message.id` alone: equal to `key` where there is no request id, which copies by old versions lack.
    pub message: u64,
    /// The model that answered, as the API named it.
    pub model: String,
    /// When its first block was made.
    pub at: Option<Timestamp>,
    /// Its counters: the field-wise maximum over its lines.
    pub usage: Usage,
    /// What the price depends on beside the model.
    pub terms: Terms,
    /// Whether a lineage mark (`requestSessionId` of another session, `forkedFrom`) says that the line was
    /// copied here.
    pub copied: bool,
    /// Whether a sub-agent's transcript holds it.
    pub subagent: bool,
}

/// Terms of service that change a message's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Terms {
    /// `service_tier` was `batch`.
    pub batch: bool,
    /// `speed` was `fast`.
    pub fast: bool,
}

/// The CLI's own running total, from the newest `cost-state` record of a file (2.1.329 and later).
///
/// It includes calls that are never in a transcript (titles, compactions), and in a printed fork also all
/// that the parent had spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CostState {
    /// The time of the latest record before it: what was said later it does not count.
    pub at: Option<Timestamp>,
    /// The CLI's total, in US dollars.
    pub total_cost_usd: f64,
    /// Its counters for each model; cache writes are not told apart by lifetime, so all count as 5 minutes.
    pub models: Vec<(String, Usage)>,
}
