//! What a resumed session takes before it says its first word: all of its context is read again.

use model::Usage;

/// How long a prompt stays in the cache that is used unless a session asks for the longer one, in minutes.
pub const CACHE_MINUTES: i64 = 5;
/// The same for a session that writes to the one-hour cache.
const LONG_CACHE_MINUTES: i64 = 60;
/// The context of a model, in tokens; a session that holds more has one of a million.
pub const WINDOW: u64 = 200_000;
const LONG_WINDOW: u64 = 1_000_000;
/// Claude Code compacts when about so much of the window is full.
const COMPACTS_AT: f64 = 0.83;
/// From here on a resumed session is soon compacted.
const NEAR: f64 = 0.75;
/// Reading less than this again is not worth a word, in tokens.
const LITTLE: u64 = 20_000;

/// What going on with a session costs at first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResumeCost {
    /// The tokens to be read again.
    pub tokens: u64,
    /// Whether they are still in the prompt cache.
    pub cached: bool,
    /// How long a prompt of the session stays there, in minutes.
    pub cache_minutes: i64,
    /// The same as an API message's counters: what a price is reckoned from.
    pub usage: Usage,
    /// How much of the context window they fill, between 0 and 1.
    pub window_used: f64,
    /// How many tokens are left before Claude Code compacts.
    pub until_compaction: u64,
    /// Whether a fork at an earlier message, or a new session, is worth a thought.
    pub offer_cheaper: bool,
}

/// The outlay for a context of so many tokens that was last used so many minutes ago.
///
/// `long_cache`: whether the session writes to the one-hour cache.
pub fn resume_cost(context_tokens: u64, minutes: Option<i64>, long_cache: bool) -> ResumeCost {
    let lasts = if long_cache { LONG_CACHE_MINUTES } else { CACHE_MINUTES };
    let cached = minutes.is_some_and(|minutes| minutes < lasts);
    let usage = match (cached, long_cache) {
        (true, _) => Usage { cache_read: context_tokens, ..Usage::default() },
        (false, true) => Usage { cache_write_1h: context_tokens, ..Usage::default() },
        (false, false) => Usage { cache_write_5m: context_tokens, ..Usage::default() },
    };
    let window = if context_tokens > WINDOW { LONG_WINDOW } else { WINDOW };
    let window_used = context_tokens as f64 / window as f64;
    let left = (COMPACTS_AT - window_used) * window as f64;
    ResumeCost {
        tokens: context_tokens,
        cached,
        cache_minutes: lasts,
        usage,
        window_used,
        until_compaction: whole(left),
        offer_cheaper: context_tokens >= LITTLE && (!cached || window_used >= NEAR),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to what a count can be")]
fn whole(number: f64) -> u64 {
    number.round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_again() {
        let check = |tokens, minutes, long, cached, until: u64, offer| {
            let found = resume_cost(tokens, minutes, long);
            assert_eq!((found.cached, found.until_compaction, found.offer_cheaper), (cached, until, offer));
            assert_eq!(found.usage.context(), tokens);
        };
        check(10_000, Some(600), false, false, 156_000, false);
        check(100_000, Some(4), false, true, 66_000, false);
        check(100_000, Some(5), false, false, 66_000, true);
        check(100_000, Some(59), true, true, 66_000, false);
        check(100_000, Some(60), true, false, 66_000, true);
        check(160_000, Some(0), false, true, 6_000, true);
        check(190_000, Some(0), false, true, 0, true);
        check(500_000, Some(0), false, true, 330_000, false);
        check(50_000, None, false, false, 116_000, true);
        check(0, None, false, false, 166_000, false);
    }
}
