//! Reading what other people's machines leave behind: one binary for all of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail the test that called them"
)]

mod content;
mod exit;
mod files;
#[allow(unreachable_pub, reason = "public to the fuzz targets, whose library it is")]
#[path = "../../../../../fuzz/src/lib.rs"]
mod fuzz;
mod memory;
mod pages;
mod properties;
mod recent;
