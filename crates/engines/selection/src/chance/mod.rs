//! The chance that a person resumes a session, estimated from a few facts.
//!
//! A logistic regression over people's decisions: every fact has a coefficient (`coefficients.rs`, fitted by `cargo
//! xtask fit`), and their weighted sum is the logarithm of the odds. docs/selection-quality.md describes the data and
//! the quality.

mod coefficients;
mod facts;
mod habit;
mod opening;
mod phrases;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use facts::{BranchRelation, LatestMessages, ResumeFact, ResumeFacts, TaskText, branch_relation};
pub use habit::{Habit, HabitCounter};
pub use opening::{Opening, points_back};
pub use words::{Overlap, words};

/// How long a repository has been quiet before a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuietPeriod {
    /// Half an hour and more since the last message in any session of the person there.
    Long,
    /// Five minutes and more.
    Short,
    /// Less: what people do then is not known.
    No,
}

impl QuietPeriod {
    /// Classifies the minutes since the last message; `None` where there was none.
    pub fn from_minutes(minutes: Option<f64>) -> Self {
        match minutes {
            Some(minutes) if minutes < 5.0 => Self::No,
            Some(minutes) if minutes < 30.0 => Self::Short,
            _ => Self::Long,
        }
    }
}

/// The intercept and the weight of each fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// The logarithm of the odds where every fact is nothing.
    pub intercept: f64,
    /// The weight of each fact, in the order of [`ResumeFact::ALL`].
    pub weights: [f64; ResumeFact::ALL.len()],
    /// The mean of each fact, in the same order: a fact is in favour or against relative to it.
    pub means: [f64; ResumeFact::ALL.len()],
}

/// The coefficients for each length of quiet time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChanceModel {
    /// After half an hour and more.
    pub long: Coefficients,
    /// After five minutes and less than half an hour.
    pub short: Coefficients,
}

impl ChanceModel {
    /// The model that was fitted on all decisions there were.
    pub const FITTED: Self = Self { long: coefficients::LONG, short: coefficients::SHORT };

    /// The coefficients for a quiet time; where nothing is known, those of the shorter one.
    pub fn coefficients(&self, quiet: QuietPeriod) -> &Coefficients {
        match quiet {
            QuietPeriod::Long => &self.long,
            QuietPeriod::Short | QuietPeriod::No => &self.short,
        }
    }
}

impl Coefficients {
    /// The chance that a person resumes a session with these facts.
    pub fn chance(&self, facts: &ResumeFacts) -> Chance {
        let numbers = facts.numbers();
        let sum: f64 = self.weights.iter().zip(numbers).map(|(weight, number)| weight * number).sum();
        let effect = |at: usize| Effect {
            fact: ResumeFact::ALL[at],
            effect: round(self.weights[at] * (numbers[at] - self.means[at])),
        };
        Chance {
            value: round(odds_to_chance(self.intercept + sum)),
            effects: (0..ResumeFact::ALL.len()).map(effect).collect(),
        }
    }

    /// The age in hours at which the chance equals `threshold`, all other facts unchanged.
    pub fn hours_at(&self, facts: &ResumeFacts, threshold: f64) -> f64 {
        let others = self.intercept
            + ResumeFact::ALL
                .iter()
                .zip(self.weights)
                .zip(facts.numbers())
                .filter(|((fact, _), _)| **fact != ResumeFact::Age)
                .map(|((_, weight), number)| weight * number)
                .sum::<f64>();
        let wanted = (threshold / (1.0 - threshold)).ln();
        ((wanted - others) / self.weights[0]).exp()
    }
}

/// A chance with the effect of each fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Chance {
    /// Between 0 and 1.
    pub value: f64,
    /// The effect of each fact on the logarithm of the odds, relative to its mean.
    pub effects: Vec<Effect>,
}

/// The effect of one fact on a chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Effect {
    /// The fact that has this effect.
    pub fact: ResumeFact,
    /// What it adds to the logarithm of the odds, relative to its mean.
    pub effect: f64,
}

fn odds_to_chance(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Cut to what a reader can use, and the same on every machine.
fn round(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
