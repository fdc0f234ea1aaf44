//! Tracks how often the rule was right for this person, by what they did afterwards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of newest decisions that count.
const COUNTED: usize = 50;
/// The fewest decisions from which anything is concluded.
const ENOUGH: usize = 10;

/// A decision after which it was seen what the person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledDecision {
    /// Whether the person began a fresh session.
    pub began_fresh: bool,
    /// Whether that was what the rule advised, the same session included.
    pub was_right: bool,
}

/// How often the rule was right, compared with always starting fresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct TrackRecord {
    /// The number of decisions.
    pub decisions: usize,
    /// The number of decisions in which the person did what the rule advised.
    pub right: usize,
    /// The number of decisions in which the person started a fresh session.
    pub fresh: usize,
}

impl TrackRecord {
    /// The record of the newest decisions, which are given newest first.
    pub fn from_decisions(settled: impl IntoIterator<Item = SettledDecision>) -> Self {
        settled.into_iter().take(COUNTED).fold(Self::default(), |record, one| Self {
            decisions: record.decisions + 1,
            right: record.right + usize::from(one.was_right),
            fresh: record.fresh + usize::from(one.began_fresh),
        })
    }

    /// Whether the rule may resume sessions: not where beginning a fresh one had been right more often.
    pub fn may_resume(self) -> bool {
        self.decisions < ENOUGH || self.right >= self.fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(was_right: bool, began_fresh: bool) -> SettledDecision {
        SettledDecision { began_fresh, was_right }
    }

    #[test]
    fn the_rule_gives_way_where_a_fresh_session_was_right_more_often() {
        let check = |right: usize, fresh: usize, neither: usize, expected| {
            let all = std::iter::repeat_n(settled(true, false), right)
                .chain(std::iter::repeat_n(settled(false, true), fresh))
                .chain(std::iter::repeat_n(settled(false, false), neither));
            assert_eq!(TrackRecord::from_decisions(all).may_resume(), expected, "{right} {fresh} {neither}");
        };
        check(0, 0, 0, true);
        check(0, 9, 0, true);
        check(0, 10, 0, false);
        check(5, 5, 40, true);
        check(4, 6, 0, false);
        // Only the newest fifty count.
        check(50, 60, 0, true);
    }
}
