//! Tests of the crate's public interface, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod catalogue;
