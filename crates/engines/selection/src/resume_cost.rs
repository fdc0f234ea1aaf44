//! What resuming a session costs before its first answer: its whole context is sent again.

use model::Usage;

/// How long a prompt stays in the default prompt cache, in minutes.
pub const CACHE_MINUTES: i64 = 5;
/// How long a prompt stays in the one-hour prompt cache, in minutes.
const LONG_CACHE_MINUTES: i64 = 60;
/// The usual context window of a model, in tokens; a session with more has a window of a million.
pub const WINDOW: u64 = 200_000;
const LONG_WINDOW: u64 = 1_000_000;
/// Claude Code compacts when about so much of the window is full.
const COMPACTS_AT: f64 = 0.83;
/// From here on a resumed session is soon compacted.
const NEAR: f64 = 0.75;
/// Reading fewer tokens than this again is not mentioned.
const LITTLE: u64 = 20_000;

/// What resuming a session costs before its first answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextCost {
    /// The tokens to be read again.
    pub tokens: u64,
    /// Whether they are still in the prompt cache.
    pub cached: bool,
    /// How long a prompt of the session stays in the prompt cache, in minutes.
    pub cache_minutes: i64,
    /// The tokens as counters of an API message, from which the price is computed.
    pub usage: Usage,
    /// The share of the context window they fill, from 0 to 1.
    pub window_used: f64,
    /// The number of tokens left before Claude Code compacts.
    pub until_compaction: u64,
    /// Whether to suggest a fork at an earlier message or a new session.
    pub offer_cheaper: bool,
}

/// The cost of resuming a context of `context_tokens` tokens that was last used `minutes` ago.
///
/// `long_cache`: whether the session writes to the one-hour cache.
pub fn resume_cost(context_tokens: u64, minutes: Option<i64>, long_cache: bool) -> ContextCost {
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
    ContextCost {
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
    fn resume_cost_depends_on_the_cache() {
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
