//! The API usage of one transcript, before copied messages are removed.

use std::ops::Range;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Usage;

/// The usage of one API message according to one file.
///
/// Forks, branches and old resumes copy messages between files without changing their ids; two messages with the same
/// `key` are the same one and count once. What a message took besides, such as an advisor's answer, is one of its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct MessageUsage {
    /// A hash of (`message.id`, `requestId`), or of `message.id` alone where there is no request id; of the record's id
    /// where the message's own does not tell it from others.
    pub key: u64,
    /// A hash of `message.id` alone: equal to `key` where there is no request id, which copies by old versions lack.
    pub message: u64,
    /// Whether its first record alone identifies it: some relays give every answer the same id, or none.
    pub by_record: bool,
    /// The model that answered, as the API named it.
    pub model: String,
    /// The time of the message's first block.
    pub at: Option<Timestamp>,
    /// Its counters: the field-wise maximum over its lines.
    pub usage: Usage,
    /// Its parts, where the server read the prompt several times for it: each is as long as its own prompt.
    pub requests: Vec<Usage>,
    /// The conditions that determine the price, besides the model.
    pub terms: PricingTerms,
    /// Whether the line is marked as copied from another session (`requestSessionId` of another session, or
    /// `forkedFrom`).
    pub copied: bool,
    /// Whether the message is in a sub-agent's transcript.
    pub subagent: bool,
}

/// The part of a session's API messages that is in one sub-agent's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentMessages {
    /// Their places among the session's messages.
    pub messages: Range<usize>,
    /// `general-purpose`, or the name of a custom agent.
    pub kind: Option<Box<str>>,
}

/// Terms of service that change a message's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, JsonSchema, Deserialize)]
pub struct PricingTerms {
    /// Whether `service_tier` was `batch`.
    pub batch: bool,
    /// Whether `speed` was `fast`, or a word that is not known.
    pub fast: bool,
    /// Whether `inference_geo` was `us`.
    pub us: bool,
}

/// The CLI's own running total, from the newest `cost-state` record of a file (2.1.329 and later).
///
/// It includes calls that are never in a transcript (titles, compactions), and in a printed fork also all
/// that the parent had spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema, Deserialize)]
pub struct CostState {
    /// The time of the latest record before the summary, which does not count anything later.
    pub at: Option<Timestamp>,
    /// The CLI's total, in US dollars.
    pub total_cost_usd: f64,
    /// The usage per model. The summary does not separate cache writes by lifetime, so all count as five-minute
    /// writes.
    pub models: Vec<(String, Usage)>,
}
