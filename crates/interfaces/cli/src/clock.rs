//! The clock.

use jiff::Timestamp;

/// Reads the clock.
#[expect(clippy::disallowed_methods, reason = "the clock is read here and nowhere else")]
pub(crate) fn clock() -> Timestamp {
    Timestamp::now()
}
