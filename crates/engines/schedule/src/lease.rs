//! The right to fire: one daemon has it at a time, and it runs out by itself when that daemon is gone.

use jiff::{SignedDuration, Timestamp};

/// So long a lease holds when it is not renewed.
pub(crate) const DURATION: SignedDuration = SignedDuration::from_secs(30);

/// By so much whoever asks may have looked at the clock before the lease was renewed.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(30);

/// The right to fire, as one daemon holds it. Every change that fires a job asks the database whether it still does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// A text no other daemon has.
    pub(crate) holder: String,
}

/// Whether somebody else may take a lease that runs until then. One that runs longer than any can comes from a clock
/// that has since been set back.
pub(crate) fn is_free(until: Timestamp, now: Timestamp) -> bool {
    until <= now || until.duration_since(now) > DURATION + CLOCK_SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_it_is_free() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let check = |seconds: i64, expected: bool| {
            assert_eq!(is_free(now + SignedDuration::from_secs(seconds), now), expected, "{seconds}");
        };
        check(-1, true);
        check(0, true);
        check(1, false);
        check(30, false);
        // Renewed since the asker looked at the clock.
        check(31, false);
        check(60, false);
        check(61, true);
    }
}
