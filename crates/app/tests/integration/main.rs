//! `app` as a library: many callers in one process.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod apart;
mod bridge;
mod callers;
mod cancelling;
mod kept;
mod paging;
mod scene;
mod watching;
