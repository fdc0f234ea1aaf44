//! The index as its users see it: what is found after what happened to the transcripts.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say where"
)]

mod changes;
mod crash;
mod damage;
mod embedding_models;
mod faults;
mod forget;
mod history;
mod openclaw_memory;
mod questions;
