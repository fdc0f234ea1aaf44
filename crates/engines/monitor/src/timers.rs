//! Durations after which silence has a meaning.

use jiff::{SignedDuration, Timestamp};

/// Durations after which silence has a meaning; the first three can be set by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// After this, an open tool call without new records may be waiting for permission; a guess.
    pub permission: SignedDuration,
    /// After this, a text block may have been the last one; a guess.
    pub text_idle: SignedDuration,
    /// After this, a session whose turn is over is idle.
    pub silent: SignedDuration,
    /// For this long, the registry's *idle* may only mark the gap between two turns while background tasks
    /// run.
    pub settle: SignedDuration,
    /// For this long, a complete message ending in a thinking block may still be followed by text.
    pub whole_message: SignedDuration,
    /// After this, an unregistered session has no process if its release would have registered one.
    pub unregistered: SignedDuration,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            permission: SignedDuration::from_secs(7),
            text_idle: SignedDuration::from_secs(5),
            silent: SignedDuration::from_mins(30),
            settle: SignedDuration::from_millis(300),
            whole_message: SignedDuration::from_millis(300),
            unregistered: SignedDuration::from_mins(1),
        }
    }
}

/// Whether `span` has passed since `then`.
pub(crate) fn is_over(now: Timestamp, then: Timestamp, span: SignedDuration) -> bool {
    now.duration_since(then) >= span
}

/// When `span` will have passed since `then`.
pub(crate) fn due(then: Timestamp, span: SignedDuration) -> Timestamp {
    then.checked_add(span).unwrap_or(Timestamp::MAX)
}
