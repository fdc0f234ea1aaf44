//! Invented token counts that add up: each answer differs from every other, and what one call of a
//! conversation wrote to the cache the next one reads from it.

use std::collections::HashMap;

use model::Usage;

/// Counts for one server.
#[derive(Default)]
pub(super) struct Ledger {
    answers: u64,
    cached: HashMap<String, u64>,
}

impl Ledger {
    /// The counts of the next answer in the conversation that begins with `beginning`.
    pub(super) fn next(&mut self, beginning: String) -> Usage {
        self.answers += 1;
        let cached = self.cached.entry(beginning).or_default();
        let usage = Usage {
            input: 3 + self.answers,
            output: 20 + self.answers,
            cache_read: *cached,
            cache_write_5m: 1_000 + 10 * self.answers,
            ..Usage::default()
        };
        *cached += usage.cache_write_5m;
        usage
    }

    /// How many answers were counted.
    pub(super) fn answers(&self) -> u64 {
        self.answers
    }
}
