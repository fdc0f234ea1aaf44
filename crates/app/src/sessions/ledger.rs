//! What the catalog's sessions took, by the ledger: copies recognized, every message counted once.

use std::collections::HashMap;

use catalog::CatalogEntry;
use cost::{LedgerRow, Period, RowDetail, SessionSpending, Total, totals_by};
use model::SessionId;

use crate::Context;

/// The ledger's rows of a period for these sessions.
pub(crate) fn rows(
    context: &Context,
    entries: &[CatalogEntry],
    detail: RowDetail,
    period: Period,
) -> Vec<LedgerRow> {
    cost::ledger(&spending(entries), &context.zone(), &context.config().settings.prices, detail, period)
}

/// What these sessions took, for the ledger.
pub(crate) fn spending(entries: &[CatalogEntry]) -> Vec<SessionSpending<'_>> {
    entries.iter().map(spending_of).collect()
}

fn spending_of(entry: &CatalogEntry) -> SessionSpending<'_> {
    SessionSpending {
        session: entry.session.id.clone(),
        forked_from: entry.session.forked_from.as_ref().map(|origin| origin.session_id.clone()),
        started: entry.session.created,
        messages: &entry.messages,
        subagents: &entry.subagent_messages,
        cost_state: entry.cost_state.as_ref(),
        earlier_totals: &entry.earlier_totals,
    }
}

/// Writes its tokens and its price to each session; a price only where every model has one.
pub(crate) fn enter(context: &Context, entries: &mut [CatalogEntry]) {
    let rows = rows(context, entries, RowDetail::Day, Period::ALWAYS);
    let totals: HashMap<SessionId, Total> = totals_by(&rows, |row| row.session.clone()).into_iter().collect();
    for entry in entries {
        if let Some(total) = totals.get(&entry.session.id) {
            entry.session.usage = total.usage;
            entry.session.cost_usd = total.cost.filter(|_| total.unpriced_tokens == 0);
        }
    }
}
