//! The choice as a whole: the verification list, a table computed by hand, and what always holds.

#![allow(clippy::expect_used, reason = "a test says what it expects")]

mod by_hand;
mod calibrated;
mod properties;
mod tree;
