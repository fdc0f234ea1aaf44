//! A worker on the terminal: what it says and does, what it asks, and what the person wants of it.

mod follow;
mod prompt;
mod questions;
mod show;
mod signals;
mod slow;

pub(crate) use follow::{Follow, Role, follow, in_a_line};
pub(crate) use signals::{Signal, signals};
pub(crate) use slow::Slow;
