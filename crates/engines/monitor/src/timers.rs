//! How long a silence has to last until it means something.

use jiff::{SignedDuration, Timestamp};

/// The spans of the timers; a person may change the first three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// A tool open for so long, with no record, may wait for a permission. A guess.
    pub permission: SignedDuration,
    /// A text block followed by so long a silence may have been the last. A guess.
    pub text_idle: SignedDuration,
    /// A turn that has been over for so long leaves the session idle.
    pub silent: SignedDuration,
    /// For so long the registry's *idle* may be a moment between two turns, while something runs in the background.
    pub settle: SignedDuration,
    /// A whole message whose last block is a thought may still be followed by its text for so long.
    pub whole_message: SignedDuration,
    /// A session that was silent for so long has no process, where its release would have registered one.
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

/// The moment at which `span` will have passed since `then`.
pub(crate) fn due(then: Timestamp, span: SignedDuration) -> Timestamp {
    then.checked_add(span).unwrap_or(Timestamp::MAX)
}
