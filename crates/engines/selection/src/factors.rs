//! The five factors of a score.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Candidate, Weights};

/// Over a week is old.
const WEEK_HOURS: f64 = 168.0;
/// The number of lines above which a session is large.
const LINES: u64 = 500;
/// The number of bytes above which a transcript is large.
const BYTES: u64 = 5_000_000;
/// The number of tokens per line above which a context fills quickly.
const TOKENS_A_LINE: f64 = 4000.0;

/// The five factors of a session's score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Factors {
    /// Added for the branch that is checked out.
    pub branch_match: f64,
    /// Added for recent use.
    pub recency: f64,
    /// Added for relevance to the task; negative for an unrelated session.
    pub task_relevance: f64,
    /// Added for a session that is neither large nor old.
    pub session_health: f64,
    /// Its context and its budget have room.
    pub context_capacity: f64,
}

impl Factors {
    /// Their sum, never below zero.
    pub fn score(&self) -> f64 {
        let sum = self.branch_match
            + self.recency
            + self.task_relevance
            + self.session_health
            + self.context_capacity;
        // Sums of hundredths are compared with a threshold in hundredths: what binary fractions add is cut.
        ((sum * 1e9).round() / 1e9).max(0.0)
    }
}

/// The factors of a session for a task of this relevance, on this branch, at this moment.
pub fn factors(
    candidate: &Candidate,
    branch: Option<&str>,
    relevance: f64,
    now: Timestamp,
    weights: &Weights,
) -> Factors {
    // A session that does not say when it was used is as old as can be.
    let hours = candidate.age_hours(now).unwrap_or(f64::INFINITY);
    Factors {
        branch_match: if same_branch(candidate.branch.as_deref(), branch) { weights.branch } else { 0.0 },
        recency: recency(hours, weights),
        task_relevance: task_relevance(relevance, weights),
        session_health: session_health(candidate, hours, weights),
        context_capacity: context_capacity(candidate, weights),
    }
}

/// A detached head is no branch, and matches nothing.
pub(crate) fn same_branch(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one == other && !matches!(one, "" | "HEAD"))
}

fn recency(hours: f64, weights: &Weights) -> f64 {
    weights.recency.iter().find(|(under, _)| hours < *under).map_or(0.0, |(_, worth)| *worth)
}

fn task_relevance(relevance: f64, weights: &Weights) -> f64 {
    if relevance >= Weights::RELATED {
        weights.related
    } else if relevance >= Weights::TANGENTIAL {
        let slope = (weights.related - weights.tangential) / (Weights::RELATED - Weights::TANGENTIAL);
        weights.tangential + (relevance - Weights::TANGENTIAL) * slope
    } else if relevance >= Weights::UNRELATED {
        0.0
    } else {
        weights.unrelated
    }
}

fn session_health(candidate: &Candidate, hours: f64, weights: &Weights) -> f64 {
    let ills = [candidate.lines > LINES, candidate.bytes > BYTES, hours > WEEK_HOURS];
    let taken: f64 =
        ills.iter().zip(weights.unhealthy).filter(|(ill, _)| **ill).map(|(_, takes)| takes).sum();
    (weights.health - taken).max(0.0)
}

fn context_capacity(candidate: &Candidate, weights: &Weights) -> f64 {
    let [one, two, third, half, dense] = weights.crowded;
    let compacted = match candidate.compactions {
        0 => 0.0,
        1 => one,
        _ => two,
    };
    let spent = match candidate.budget_used_pct {
        Some(used) if used > 50.0 => half,
        Some(used) if used > 30.0 => third,
        _ => 0.0,
    };
    let is_dense = candidate.lines > 0 && candidate.tokens as f64 / candidate.lines as f64 > TOKENS_A_LINE;
    (weights.capacity - compacted - spent - if is_dense { dense } else { 0.0 }).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::tests::{at, candidate};

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn the_branch_factor() {
        let check = |one: Option<&str>, other: Option<&str>, expected| {
            assert_eq!(same_branch(one, other), expected, "{one:?} {other:?}");
        };
        check(Some("main"), Some("main"), true);
        check(Some("main"), Some("Main"), false);
        check(Some("main"), None, false);
        check(None, None, false);
        check(Some("HEAD"), Some("HEAD"), false);
        check(Some(""), Some(""), false);
    }

    #[test]
    fn the_age_factor() {
        let steps = [
            (-3.0, 0.20),
            (0.0, 0.20),
            (0.999, 0.20),
            (1.0, 0.16),
            (5.999, 0.16),
            (6.0, 0.12),
            (23.999, 0.12),
            (24.0, 0.08),
            (71.999, 0.08),
            (72.0, 0.04),
            (167.999, 0.04),
            (168.0, 0.0),
            (9999.0, 0.0),
            (f64::INFINITY, 0.0),
        ];
        for (hours, expected) in steps {
            check(recency(hours, &Weights::SEED), expected);
        }
    }

    #[test]
    fn the_relevance_factor() {
        let bands = [
            (0.0, -0.15),
            (0.0999, -0.15),
            (0.1, 0.0),
            (0.2999, 0.0),
            (0.3, 0.10),
            (0.45, 0.175),
            (0.5999, 0.249_95),
            (0.6, 0.25),
            (1.0, 0.25),
        ];
        for (relevance, expected) in bands {
            check(task_relevance(relevance, &Weights::SEED), expected);
        }
    }

    #[test]
    fn the_health_factor() {
        let health = |lines, bytes, hours| {
            session_health(&Candidate { lines, bytes, ..candidate("a") }, hours, &Weights::SEED)
        };
        check(health(500, 5_000_000, 168.0), 0.15);
        check(health(501, 0, 0.0), 0.08);
        check(health(0, 5_000_001, 0.0), 0.11);
        check(health(0, 0, 168.001), 0.11);
        check(health(501, 5_000_001, 200.0), 0.0);
    }

    #[test]
    fn the_capacity_factor() {
        let capacity = |compactions, used: Option<f64>, tokens| {
            let facts = Candidate { compactions, budget_used_pct: used, lines: 10, tokens, ..candidate("a") };
            context_capacity(&facts, &Weights::SEED)
        };
        check(capacity(0, None, 40_000), 0.15);
        check(capacity(1, None, 0), 0.11);
        check(capacity(2, None, 0), 0.06);
        check(capacity(0, Some(30.0), 0), 0.15);
        check(capacity(0, Some(30.001), 0), 0.13);
        check(capacity(0, Some(50.0), 0), 0.13);
        check(capacity(0, Some(50.001), 0), 0.11);
        check(capacity(0, None, 40_001), 0.12);
        check(capacity(2, Some(69.0), 50_000), 0.0);
    }

    #[test]
    fn a_score_is_never_below_zero() {
        let worst = Candidate {
            compactions: 2,
            budget_used_pct: Some(60.0),
            lines: 900,
            tokens: 90_000_000,
            bytes: 9_000_000,
            last_active: None,
            ..candidate("a")
        };
        let found = factors(&worst, Some("other"), 0.0, at(0), &Weights::SEED);
        check(found.task_relevance, -0.15);
        check(found.score(), 0.0);
        check(Factors { branch_match: 0.1, recency: 0.2, ..Factors::default() }.score(), 0.3);
    }
}
