//! The input of the ledger: one session's messages and totals.

use jiff::Timestamp;
use model::{CostState, MessageUsage, SessionId, SubagentMessages};

/// The API messages and totals in one session's files, including its sub-agents' files.
#[derive(Debug, Clone)]
pub struct SessionSpending<'a> {
    /// The session's id.
    pub session: SessionId,
    /// The session it was forked from, where a mark names it.
    pub forked_from: Option<SessionId>,
    /// When the session began.
    pub started: Option<Timestamp>,
    /// All messages in its files, including copied ones.
    pub messages: &'a [MessageUsage],
    /// Which of them are in sub-agents' files, in the order of the messages.
    pub subagents: &'a [SubagentMessages],
    /// The CLI's own total, from its newest `cost-state`.
    pub cost_state: Option<&'a CostState>,
    /// Its totals before that, oldest first.
    pub earlier_totals: &'a [CostState],
}
