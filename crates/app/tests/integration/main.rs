//! `app` as a library: many callers in one process.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod apart;
mod bridge;
mod callers;
mod cancelling;
mod lengths;
mod owners;
mod paging;
mod retention;
mod scene;
mod watching;
