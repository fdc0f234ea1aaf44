//! The room of embedding, tested from outside.
#![allow(clippy::expect_used, reason = "a test that cannot go on should say where")]

mod endpoint;
mod sentences;
mod table;
mod vectors;
mod wordpiece;
