//! The lease that lets one daemon at a time start jobs; it expires if the daemon stops renewing it.

use jiff::{SignedDuration, Timestamp};

/// How long a lease lasts without renewal.
pub(crate) const DURATION: SignedDuration = SignedDuration::from_secs(30);

/// How much later than its own time stamp a check of the lease may happen.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(30);

/// The right of one daemon to start jobs. Every change that starts a job checks in the database that the
/// lease is still held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Text that identifies the daemon among all others.
    pub(crate) holder: String,
}

/// Whether another daemon may take over a lease that lasts until `until`. A lease that lasts longer than
/// possible comes from a clock that has since been set back.
pub(crate) fn is_free(until: Timestamp, now: Timestamp) -> bool {
    until <= now || until.duration_since(now) > DURATION + CLOCK_SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_free_once_expired_or_from_a_wrong_clock() {
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
