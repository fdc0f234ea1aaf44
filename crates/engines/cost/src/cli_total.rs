//! What the CLI's own total holds beyond a session's transcript: titles, compactions, interrupted calls.
//!
//! The total of a fork made with `--print` continues its parent's, that of `/branch` begins at zero, and no record
//! says which. The numbers do, because a total is never less than the sum of the transcript.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

use model::{CostState, Usage};

use crate::name::plain_model;
use crate::price::Prices;

/// Tokens and their price in US dollars; no price as soon as any part has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expense {
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
}

/// Tokens and price for each model, by its plain name.
pub(crate) type ByModel<'a> = BTreeMap<&'a str, Expense>;

/// Less than this, in US dollars, two totals differ only by the rounding of their sums.
const ROUNDING: f64 = 1e-6;

/// What `total` holds beyond the inherited part and the session's own messages, by model; `parent` are the totals in
/// the parent's file, newest first.
///
/// The price is the CLI's where everything that is subtracted has a price, else the price table's. A price without
/// tokens (a surcharge the table does not know) is attributed to the model with the most tokens. The CLI knows nothing
/// of the person's own prices: where a model has one, its dollars say nothing.
pub(crate) fn unattributed_excess<'a>(
    prices: &Prices,
    total: &'a CostState,
    parent: impl Iterator<Item = &'a CostState>,
    own: &ByModel<'a>,
    copied: &ByModel<'a>,
) -> Vec<(&'a str, Expense)> {
    let counted = counters(total);
    let inherited = inherited(&counted, parent, own, copied);
    let mut rows: Vec<_> = counted
        .iter()
        .map(|(&model, &usage)| {
            let known = own.get(model).map_or(Usage::default(), |spent| spent.usage)
                + inherited.usage.get(model).copied().unwrap_or_default();
            let usage = beyond(usage, known);
            (model, Expense { usage, cost: prices.rates(model).map(|rates| rates.price_of_sum(&usage)) })
        })
        .filter(|(_, spent)| spent.usage != Usage::default())
        .collect();
    let has_own_price = counted.keys().chain(own.keys()).any(|model| prices.is_own(model));
    if has_own_price {
        return rows;
    }
    if let Some(known) = sum(own).zip(inherited.cost).map(|(own, inherited)| own + inherited) {
        spread((total.total_cost_usd - known).max(0.0), &mut rows, &counted);
    }
    rows
}

/// The total a session began with.
struct Inherited<'a> {
    usage: BTreeMap<&'a str, Usage>,
    cost: Option<f64>,
}

/// The newest of the parent's totals that the total includes, else what was copied, else nothing. While the parent
/// is open its last total is older than its last messages, and those are copied all the same.
fn inherited<'a>(
    total: &BTreeMap<&str, Usage>,
    parent: impl Iterator<Item = &'a CostState>,
    own: &ByModel<'_>,
    copied: &ByModel<'a>,
) -> Inherited<'a> {
    let copied = Inherited {
        usage: copied.iter().map(|(&model, spent)| (model, spent.usage)).collect(),
        cost: sum(copied),
    };
    let totals =
        parent.map(|parent| Inherited { usage: counters(parent), cost: Some(parent.total_cost_usd) });
    let has_room = |inherited: &Inherited<'_>| {
        let models = own.keys().chain(inherited.usage.keys());
        models.into_iter().all(|model| {
            let own = own.get(model).map_or(Usage::default(), |spent| spent.usage);
            covers(total.get(model), own + inherited.usage.get(model).copied().unwrap_or_default())
        })
    };
    let nothing = Inherited { usage: BTreeMap::new(), cost: Some(0.0) };
    totals.chain([copied]).find(has_room).unwrap_or(nothing)
}

/// Distributes the CLI's price over the rows, in proportion to the price of their tokens.
fn spread<'a>(money: f64, rows: &mut Vec<(&'a str, Expense)>, total: &BTreeMap<&'a str, Usage>) {
    let estimate: Option<f64> = rows.iter().map(|(_, spent)| spent.cost).sum();
    match (rows.as_mut_slice(), estimate) {
        ([], _) if money > ROUNDING => {
            let most = total.iter().max_by_key(|(_, usage)| usage.total());
            rows.extend(most.map(|(&model, _)| (model, Expense { cost: Some(money), ..Expense::default() })));
        }
        ([(_, only)], _) => only.cost = Some(money),
        (rows, Some(estimate)) if estimate > 0.0 => {
            for (_, spent) in rows {
                spent.cost = spent.cost.map(|cost| cost * money / estimate);
            }
        }
        // With several models, one without a price, the share of each is unknown.
        _ => {}
    }
}

fn counters(total: &CostState) -> BTreeMap<&str, Usage> {
    let mut counters = BTreeMap::<_, Usage>::new();
    for (model, usage) in &total.models {
        *counters.entry(plain_model(model)).or_default() += *usage;
    }
    counters
}

fn sum(spent: &ByModel<'_>) -> Option<f64> {
    spent.values().map(|spent| spent.cost).sum()
}

/// Whether every counter is at least as great. Cache writes are compared together, because not every total separates
/// them.
fn covers(whole: Option<&Usage>, part: Usage) -> bool {
    let whole = whole.copied().unwrap_or_default();
    whole.input >= part.input
        && whole.output >= part.output
        && whole.cache_read >= part.cache_read
        && whole.cache_write() >= part.cache_write()
        && whole.web_searches >= part.web_searches
}

/// What remains of `whole`; of the cache writes, as many one-hour ones as `whole` has.
fn beyond(whole: Usage, known: Usage) -> Usage {
    let left = whole.saturating_sub(known);
    let writes = whole.cache_write().saturating_sub(known.cache_write());
    let cache_write_1h = left.cache_write_1h.min(writes);
    Usage { cache_write_1h, cache_write_5m: writes - cache_write_1h, ..left }
}

impl Default for Expense {
    fn default() -> Self {
        Self { usage: Usage::default(), cost: Some(0.0) }
    }
}

impl Add for Expense {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let cost = self.cost.zip(other.cost).map(|(one, other)| one + other);
        Self { usage: self.usage + other.usage, cost }
    }
}

impl AddAssign for Expense {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_writes_of_unknown_lifetime_are_not_extra_cost() {
        let check = |whole: (u64, u64), known: (u64, u64), expected: (u64, u64)| {
            let usage = |(cache_write_5m, cache_write_1h)| Usage {
                cache_write_5m,
                cache_write_1h,
                ..Usage::default()
            };
            assert_eq!(beyond(usage(whole), usage(known)), usage(expected), "{whole:?} {known:?}");
        };
        check((10, 0), (10, 0), (0, 0));
        check((10, 0), (4, 6), (0, 0));
        check((12, 0), (4, 6), (2, 0));
        check((4, 6), (4, 6), (0, 0));
        check((5, 9), (4, 6), (1, 3));
        check((0, 0), (4, 6), (0, 0));
    }

    #[test]
    fn cost_is_attributed_by_tokens() {
        let usage = |output| Usage { output, ..Usage::default() };
        let check = |money: f64, rows: &[(&'static str, u64)], expected: &[(&str, Option<f64>)]| {
            let total = BTreeMap::from([("claude-opus-5", usage(2)), ("claude-haiku-4-5", usage(1))]);
            let prices = Prices::default();
            let price = |model, usage: &Usage| prices.rates(model).map(|rates| rates.price_of_sum(usage));
            let mut rows: Vec<_> = rows
                .iter()
                .map(|&(model, output)| {
                    (model, Expense { usage: usage(output), cost: price(model, &usage(output)) })
                })
                .collect();
            spread(money, &mut rows, &total);
            let found: Vec<_> = rows.iter().map(|(model, spent)| (*model, spent.cost)).collect();
            assert_eq!(found, expected);
        };
        check(0.0, &[], &[]);
        check(1e-9, &[], &[]);
        check(0.5, &[], &[("claude-opus-5", Some(0.5))]);
        check(0.5, &[("unheard-of", 10)], &[("unheard-of", Some(0.5))]);
        let dearer = [("claude-opus-5", 300_000), ("claude-haiku-4-5", 500_000)];
        check(20.0, &dearer, &[("claude-opus-5", Some(15.0)), ("claude-haiku-4-5", Some(5.0))]);
        let unknown = [("claude-opus-5", 1_000_000), ("unheard-of", 10)];
        check(40.0, &unknown, &[("claude-opus-5", Some(25.0)), ("unheard-of", None)]);
    }
}
