//! What the ledger is made of: one session's messages and totals.

use jiff::Timestamp;
use model::{CostState, MessageUsage, SessionId};

/// What one session's files say was spent, its sub-agents' files included.
#[derive(Debug, Clone)]
pub struct SessionSpending<'a> {
    /// The session.
    pub session: SessionId,
    /// The session it was forked from, where a mark says so.
    pub forked_from: Option<SessionId>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// All messages in its files, copied ones too.
    pub messages: &'a [MessageUsage],
    /// The CLI's own total, from its newest `cost-state`.
    pub cost_state: Option<&'a CostState>,
    /// Its totals before that, oldest first.
    pub earlier_totals: &'a [CostState],
}
