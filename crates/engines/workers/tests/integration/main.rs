//! Workers that are the real `claude`, against a scripted model: asked, answered, interrupted, ended.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper that cannot go on fails its test")]
#![allow(clippy::similar_names, reason = "a stage has a state")]

mod exit;
mod many;
mod messages;
mod options;
mod permissions;
mod shells;
mod stage;
