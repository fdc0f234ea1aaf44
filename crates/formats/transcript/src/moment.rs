//! Moments as Claude Code writes them beside its records: milliseconds since 1970.

use jiff::Timestamp;

use crate::json::Raw;

/// A moment in milliseconds since 1970; 0 is none.
pub(crate) fn moment(milliseconds: Raw<'_>) -> Option<Timestamp> {
    let since = milliseconds.count().filter(|since| *since > 0)?;
    Timestamp::from_millisecond(i64::try_from(since).ok()?).ok()
}
