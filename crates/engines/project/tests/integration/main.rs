//! The state of real repositories, made by the real git.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its own small files and takes the time a command took"
)]

mod github;
mod hostile;
mod past;
mod repositories;
mod worktrees;
