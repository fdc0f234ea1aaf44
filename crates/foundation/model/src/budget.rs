//! How much of a budget is used.

/// The maximum, because the percentage of a tiny budget may be too large for JSON.
const MOST: f64 = 100_000.0;

/// A cost over its budget, in percent, at most 100,000.
pub fn budget_used(cost: f64, budget: f64) -> f64 {
    (cost / budget * 100.0).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_is_finite_for_any_budget() {
        let check = |cost, budget, expected: f64| {
            assert!((budget_used(cost, budget) - expected).abs() < 1e-9, "{cost} of {budget}");
        };
        check(1.0, 4.0, 25.0);
        check(6.0, 4.0, 150.0);
        check(1.0, 5e-324, MOST);
        check(1.0, 0.0, MOST);
        check(0.0, 0.0, MOST);
    }
}
