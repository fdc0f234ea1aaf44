//! Whether another `selection.resume_chance` would have been right more often for this person.

use measure::{Estimate, TaskAction, estimate};
use schemars::JsonSchema;
use selection::chance::ChanceModel;
use selection::{Action, Bars};
use serde::Serialize;

use super::selection::DecisionPoint;

/// The bars that are tried; at the last one no session is resumed.
const TRIED: [f64; 10] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];
/// From fewer decisions nothing is concluded.
const MIN_DECISIONS: usize = 40;

/// A `selection.resume_chance` that suits the person better than the one in force.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct OwnBar {
    /// The value to set.
    pub resume_chance: f64,
    /// How much more often the choice is right, measured on the half of the decisions that did not choose the value.
    pub gain: Estimate,
}

/// The bar that suits these decisions; `None` where none is surely better than the one in force.
pub fn own_bar(points: &[DecisionPoint], in_force: Bars) -> Option<OwnBar> {
    if points.len() < MIN_DECISIONS {
        return None;
    }
    let is_right = |resume_from: f64| -> Vec<bool> {
        points.iter().map(|point| is_right(point, Bars { resume_from, ..in_force })).collect()
    };
    let tried = TRIED.map(|bar| (bar, is_right(bar)));
    let now = is_right(in_force.resume_from);
    // Every second decision chooses for the others: a value that was chosen by the decisions it is measured on always looks better.
    let gains: Vec<f64> = (0..points.len())
        .map(|at| {
            let (_, right) = best(&tried, |other| other % 2 != at % 2);
            f64::from(u8::from(right[at])) - f64::from(u8::from(now[at]))
        })
        .collect();
    let gain = estimate(&gains)?;
    let (resume_chance, _) = best(&tried, |_| true);
    (gain.low > 0.0).then_some(OwnBar { resume_chance: *resume_chance, gain })
}

/// The bar that is right most often at the decisions that count.
fn best(tried: &[(f64, Vec<bool>)], counts: impl Fn(usize) -> bool) -> &(f64, Vec<bool>) {
    let right =
        |of: &(f64, Vec<bool>)| of.1.iter().enumerate().filter(|(at, is)| **is && counts(*at)).count();
    let mut best = &tried[0];
    for one in &tried[1..] {
        if right(one) > right(best) {
            best = one;
        }
    }
    best
}

fn is_right(point: &DecisionPoint, bars: Bars) -> bool {
    let resumes = point.choose_by(ChanceModel::FITTED, bars).action == Action::Resume;
    resumes == (point.moment.action == TaskAction::Resume)
}
