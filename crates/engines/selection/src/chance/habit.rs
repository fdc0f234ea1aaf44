//! How often a person resumes a session when they start something.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of newest starts that count.
const COUNTED: usize = 20;
/// The seconds of silence after which a prompt counts as resuming; an earlier one continues what was started before.
const SILENCE: i64 = 30 * 60;

/// How many of a person's latest starts in a repository resumed a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Habit {
    /// The number that resumed a session.
    pub resumed: usize,
    /// The number of starts counted.
    pub of: usize,
}

impl Habit {
    /// The share that went on with a session, drawn towards a half where little is known.
    pub fn share(self) -> f64 {
        ((self.resumed + 1) as f64 / (self.of + 2) as f64).clamp(0.05, 0.95)
    }
}

/// Collects the times at which a person started something, session by session.
#[derive(Debug, Clone, Default)]
pub struct HabitCounter {
    /// Whether a session was resumed, by the second; a fork's copies have the times of what they were copied from.
    resumed: BTreeMap<i64, bool>,
}

impl HabitCounter {
    /// Adds the starts in a session; a copy's first prompt belongs to the original.
    pub fn add(&mut self, session: &model::SessionStarts, is_copy: bool) {
        let first = session.first().filter(|_| !is_copy);
        self.resumed.extend(first.map(|at| (at, false)));
        let resumed = session.resumed().filter(|one| one.pause >= SILENCE);
        self.resumed.extend(resumed.map(|one| (one.at, true)));
        // Of thousands of sessions only the newest count: much older ones are dropped.
        while self.resumed.len() > 4 * COUNTED {
            self.resumed.pop_first();
        }
    }

    /// The habit as it was before `now`.
    pub fn habit(&self, now: Timestamp) -> Habit {
        let newest = self.resumed.range(..now.as_second()).rev().take(COUNTED);
        newest.fold(Habit::default(), |habit, (_, resumed)| Habit {
            resumed: habit.resumed + usize::from(*resumed),
            of: habit.of + 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + second).unwrap()
    }

    /// A session with prompts at these seconds.
    fn prompted(seconds: &[i64]) -> model::SessionStarts {
        let mut found = model::SessionStarts::default();
        for second in seconds {
            found.record_prompt(at(*second));
        }
        found
    }

    #[test]
    fn starts_are_counted_once() {
        let mut all = HabitCounter::default();
        all.add(&prompted(&[0, 600, 9000]), false);
        all.add(&prompted(&[0, 600, 9000, 20_000]), true);
        all.add(&prompted(&[100_000]), false);
        assert_eq!(all.habit(at(200_000)), Habit { resumed: 2, of: 4 }, "ten minutes are no beginning");
        assert_eq!(all.habit(at(9000)), Habit { resumed: 0, of: 1 }, "what comes later counts for nothing");
        assert!((Habit { resumed: 2, of: 4 }.share() - 0.5).abs() < f64::EPSILON);
        assert!((Habit::default().share() - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn the_newest_twenty_count() {
        let mut all = HabitCounter::default();
        (0..500).for_each(|number| all.add(&prompted(&[number * 10_000]), false));
        (0..5).for_each(|number| all.add(&prompted(&[0, 6_000_000 + number * 10_000]), false));
        assert_eq!(all.habit(at(9_000_000)), Habit { resumed: 5, of: 20 });
    }
}
