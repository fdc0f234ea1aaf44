//! The activity of sessions: by the table of `docs/activity.md`, by files that are written, moved and torn, and with
//! the real `claude`.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]
#![allow(clippy::needless_pass_by_value, reason = "tests write `json!(…)` in place, without a `&`")]

mod claude;
mod recordings;
mod stage;
mod table;
mod variations;
mod watch;
