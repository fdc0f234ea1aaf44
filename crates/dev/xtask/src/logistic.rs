//! Logistic regression by Newton's method, with weights that are drawn towards what is known beforehand.

/// The most steps; it settles in about ten.
const STEPS: usize = 50;
/// A step that changes nothing by more is the last.
const SETTLED: f64 = 1e-9;

/// A moment as numbers, and whether the thing happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<const N: usize> {
    /// The facts, as numbers that the weights are multiplied with.
    pub numbers: [f64; N],
    /// Whether the event that is predicted happened.
    pub happened: bool,
    /// How much the sample counts.
    pub weight: f64,
}

/// The logarithm of the odds as a weighted sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted<const N: usize> {
    /// Where every number is 0.
    pub intercept: f64,
    /// The weight of each fact, in the order of the facts.
    pub weights: [f64; N],
}

impl<const N: usize> Fitted<N> {
    /// Nothing is known: even odds whatever the numbers.
    pub const NOTHING: Self = Self { intercept: 0.0, weights: [0.0; N] };

    /// The chance that it happens.
    pub fn chance(&self, numbers: &[f64; N]) -> f64 {
        let sum: f64 = self.weights.iter().zip(numbers).map(|(weight, number)| weight * number).sum();
        1.0 / (1.0 + (-(self.intercept + sum)).exp())
    }
}

/// The weights under which the samples are likeliest. Each is drawn towards that of `prior` by `strength` times the
/// variance of its fact, so that the unit of a fact makes no difference; the intercept is free.
pub fn fit<const N: usize>(samples: &[Sample<N>], prior: &Fitted<N>, strength: f64) -> Fitted<N> {
    let mut found = *prior;
    let strengths = std::array::from_fn(|at| strength * variance(samples, at));
    for _ in 0..STEPS {
        let step = step(samples, prior, &strengths, &found);
        found.intercept += step[0];
        found.weights.iter_mut().zip(&step[1..]).for_each(|(weight, step)| *weight += step);
        if step.iter().all(|step| step.abs() < SETTLED) {
            break;
        }
    }
    found
}

/// The variance of a fact over the samples.
fn variance<const N: usize>(samples: &[Sample<N>], at: usize) -> f64 {
    let sum = |of: &dyn Fn(&Sample<N>) -> f64| samples.iter().map(|one| one.weight * of(one)).sum::<f64>();
    let weight = sum(&|_| 1.0).max(f64::MIN_POSITIVE);
    let mean = sum(&|one| one.numbers[at]) / weight;
    sum(&|one| (one.numbers[at] - mean).powi(2)) / weight
}

/// One step of Newton's method: the gradient through the inverse of the curvature.
fn step<const N: usize>(
    samples: &[Sample<N>],
    prior: &Fitted<N>,
    strengths: &[f64; N],
    found: &Fitted<N>,
) -> Vec<f64> {
    let size = N + 1;
    let (mut curvature, mut gradient) = (vec![vec![0.0; size]; size], vec![0.0; size]);
    for sample in samples {
        let chance = found.chance(&sample.numbers);
        let row: Vec<f64> = std::iter::once(1.0).chain(sample.numbers).collect();
        let missing = f64::from(u8::from(sample.happened)) - chance;
        for (one, of_one) in row.iter().enumerate() {
            gradient[one] += sample.weight * missing * of_one;
            for (other, of_other) in row.iter().enumerate() {
                curvature[one][other] += sample.weight * chance * (1.0 - chance) * of_one * of_other;
            }
        }
    }
    for at in 1..size {
        gradient[at] -= strengths[at - 1] * (found.weights[at - 1] - prior.weights[at - 1]);
        // A fact that is the same in all samples says nothing, and needs some curvature to be solved for.
        curvature[at][at] += strengths[at - 1] + 1e-6;
    }
    // Where all samples say the same, the intercept would run away.
    curvature[0][0] += 1e-6;
    solve(curvature, gradient)
}

/// The solution of a system of linear equations, by elimination with pivots.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        let pivot = (at..size).max_by(|one, other| rows[*one][at].abs().total_cmp(&rows[*other][at].abs()));
        let pivot = pivot.unwrap_or(at);
        rows.swap(at, pivot);
        right.swap(at, pivot);
        for below in at + 1..size {
            let factor = rows[below][at] / rows[at][at];
            let pivot = rows[at].clone();
            rows[below].iter_mut().zip(pivot).for_each(|(one, other)| *one -= factor * other);
            right[below] -= factor * right[at];
        }
    }
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|column| rows[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / rows[at][at];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples drawn by known weights.
    fn drawn(truth: &Fitted<2>, count: usize) -> Vec<Sample<2>> {
        let mut random = fastrand::Rng::with_seed(11);
        let mut draw = || {
            let numbers = [random.f64() * 4.0 - 2.0, f64::from(u8::from(random.bool()))];
            Sample { numbers, happened: random.f64() < truth.chance(&numbers), weight: 1.0 }
        };
        (0..count).map(|_| draw()).collect()
    }

    #[test]
    fn the_weights_that_made_the_samples_are_found() {
        let truth = Fitted { intercept: -0.5, weights: [1.2, -2.0] };
        let found = fit(&drawn(&truth, 20_000), &Fitted::NOTHING, 0.1);
        let near = |one: f64, other: f64| (one - other).abs() < 0.1;
        assert!(
            near(found.intercept, -0.5) && near(found.weights[0], 1.2) && near(found.weights[1], -2.0),
            "{found:?}"
        );
    }

    #[test]
    fn few_samples_stay_near_the_prior() {
        let prior = Fitted { intercept: 0.0, weights: [1.0, 1.0] };
        let truth = Fitted { intercept: 0.0, weights: [-3.0, 0.0] };
        let drawn_to = |strength: f64| fit(&drawn(&truth, 20), &prior, strength).weights[0];
        assert!((drawn_to(1e6) - 1.0).abs() < 0.01);
        assert!(drawn_to(0.01) < drawn_to(10.0));
    }

    #[test]
    fn separable_samples_converge() {
        let all = [Sample { numbers: [1.0, 0.0], happened: true, weight: 1.0 }; 9];
        let found = fit(&all, &Fitted::NOTHING, 0.1);
        assert!(found.chance(&[1.0, 0.0]) > 0.9 && found.intercept.is_finite());
        assert_eq!(fit(&[], &Fitted::<2>::NOTHING, 0.1), Fitted::NOTHING);
    }
}
