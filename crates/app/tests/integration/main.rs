//! `app` as a library: many callers in one process.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bridge;
mod callers;
mod cancellation;
mod identity;
mod isolation;
mod lengths;
mod owners;
mod paging;
mod retention;
mod scene;
mod typing;
mod watch;
