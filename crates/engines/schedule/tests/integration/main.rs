//! The book on a real disk, over several connections, and daemons that are killed.

#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]

mod daemon;
mod scene;
mod store;
