//! The session store as a whole: files, locks and processes.

#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its own small files, and tells its child what to do"
)]

mod crash;
mod large_stores;
mod send_policies;
mod stores;
