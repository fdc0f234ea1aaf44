//! Limits that rule out a session whatever its score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Candidate, Weights};

/// The number of compactions that rules a session out.
const COMPACTIONS: u64 = 3;
/// So much of the budget is too much, in percent.
const BUDGET_PCT: f64 = 70.0;
/// An unrelated session with more lines than these is ruled out.
const UNRELATED_LINES: u64 = 200;

/// Why a session is out of the question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
pub enum Ceiling {
    /// Its context was compacted so often that little of it is left.
    Compactions(u64),
    /// So much of its budget is gone, in percent.
    Budget(f64),
    /// It is unrelated to the task and has this many lines.
    Unrelated(u64),
}

impl Ceiling {
    /// The limits that apply before the task is looked at.
    pub fn hard(candidate: &Candidate) -> Option<Self> {
        if candidate.compactions >= COMPACTIONS {
            return Some(Self::Compactions(candidate.compactions));
        }
        candidate.budget_used_pct.filter(|used| *used >= BUDGET_PCT).map(Self::Budget)
    }

    /// The limit that applies once the relevance is known.
    pub fn soft(candidate: &Candidate, relevance: f64) -> Option<Self> {
        let dead_weight = relevance < Weights::UNRELATED && candidate.lines > UNRELATED_LINES;
        dead_weight.then_some(Self::Unrelated(candidate.lines))
    }
}

impl Ceiling {
    /// The ceiling in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Compactions(count) => format!("{}: too little of its context is left", times(count)),
            Self::Budget(used) => format!("{used:.0}% of its budget is used"),
            Self::Unrelated(lines) => format!("unrelated, and {lines} lines long"),
        }
    }

    /// The change that would lift the limit.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Compactions(_) => "a session that was compacted fewer than 3 times",
            Self::Budget(_) => "a larger budget (--budget)",
            Self::Unrelated(_) => "a task that has to do with one of these sessions",
        }
    }
}

/// The number of compactions in words.
pub(crate) fn times(compactions: u64) -> String {
    if compactions == 1 { "compacted once".to_owned() } else { format!("compacted {compactions} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::tests::candidate;

    #[test]
    fn hard_ceilings() {
        let check = |compactions, budget_used_pct, expected| {
            let candidate = Candidate { compactions, budget_used_pct, ..candidate("a") };
            assert_eq!(Ceiling::hard(&candidate), expected, "{compactions} {budget_used_pct:?}");
        };
        check(0, None, None);
        check(2, Some(69.999), None);
        check(3, None, Some(Ceiling::Compactions(3)));
        check(7, Some(99.0), Some(Ceiling::Compactions(7)));
        check(0, Some(70.0), Some(Ceiling::Budget(70.0)));
        check(2, Some(140.0), Some(Ceiling::Budget(140.0)));
    }

    #[test]
    fn the_soft_ceiling_needs_both() {
        let check = |relevance, lines, expected| {
            let candidate = Candidate { lines, ..candidate("a") };
            assert_eq!(Ceiling::soft(&candidate, relevance), expected, "{relevance} {lines}");
        };
        check(0.099, 201, Some(Ceiling::Unrelated(201)));
        check(0.0, 200, None);
        check(0.1, 5000, None);
    }
}
