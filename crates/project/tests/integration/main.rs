//! The state of real repositories, made by the real git.

#![allow(clippy::expect_used, reason = "a test says what it expects")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test reads its own small files and takes the time a command took"
)]

mod github;
mod past;
mod repositories;
mod worktrees;
