//! Secrets that are found, texts that are left alone, and the time that any text takes.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

mod adversary;
mod beginning;
mod frames;
mod harmless;
mod joined;
mod made_up;
mod recall;
