//! Sums of ledger rows by whatever one asks for: day, model, session, project.

use std::collections::BTreeMap;

use model::Usage;

use crate::LedgerRow;

/// The sum of several rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Total {
    /// The tokens of all rows.
    pub usage: Usage,
    /// The price of those that have one, in US dollars; `None` when none has.
    pub cost: Option<f64>,
    /// The number of tokens without a price.
    pub unpriced_tokens: u64,
}

/// Sums rows that have the same key, in the order of the keys: `totals_by(&rows, |row| row.day)`.
///
/// Every row counts under exactly one key, so sums by different keys agree.
pub fn totals_by<K: Ord>(rows: &[LedgerRow], key: impl Fn(&LedgerRow) -> K) -> BTreeMap<K, Total> {
    let mut totals = BTreeMap::<K, Total>::new();
    for row in rows {
        totals.entry(key(row)).or_default().add(row.usage, row.cost);
    }
    totals
}

impl Total {
    /// Adds tokens and their price in US dollars.
    pub(crate) fn add(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        match cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.unpriced_tokens = self.unpriced_tokens.saturating_add(usage.total()),
        }
    }
}
