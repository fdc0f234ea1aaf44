//! Means with bootstrap confidence intervals.

use schemars::JsonSchema;
use serde::Serialize;

/// Number of bootstrap samples.
const SAMPLES: usize = 2000;
/// Number of sample means outside the interval on either side: 2.5%.
const OUTSIDE: usize = SAMPLES / 40;
/// Fixed seed, so that the same values give the same interval on every machine.
const SEED: u64 = 7;

/// A mean with its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Mean of the values.
    pub mean: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// Computes the mean and its percentile bootstrap interval; `None` if there are no values.
///
/// For differences between two answers to the same queries, this is the paired interval.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut draw = || (0..count).map(|_| values[random.usize(..count)]).sum::<f64>() / count as f64;
    let mut means: Vec<f64> = (0..SAMPLES).map(|_| draw()).collect();
    means.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / count as f64;
    Some(Estimate { mean, low: means[OUTSIDE], high: means[SAMPLES - 1 - OUTSIDE] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_mean() {
        let check = |values: &[f64], mean: f64, low: f64, high: f64, near: f64| {
            let found = estimate(values).unwrap();
            assert!((found.mean - mean).abs() < 1e-12, "{found:?}");
            assert!((found.low - low).abs() <= near && (found.high - high).abs() <= near, "{found:?}");
            assert_eq!(estimate(values), Some(found), "the same again");
        };
        check(&[0.25], 0.25, 0.25, 0.25, 0.0);
        check(&[0.5; 9], 0.5, 0.5, 0.5, 0.0);
        // A hundred of 0 and 1, half each: the standard error is 0.05, so 1.96 of it to either side.
        let coin: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
        check(&coin, 0.5, 0.402, 0.598, 0.015);
        let large: Vec<f64> = (0..1000).map(|at| f64::from(at % 2)).collect();
        check(&large, 0.5, 0.469, 0.531, 0.005);
    }

    #[test]
    fn of_nothing_there_is_none() {
        assert_eq!(estimate(&[]), None);
    }
}
