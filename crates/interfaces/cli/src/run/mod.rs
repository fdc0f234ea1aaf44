//! A worker on the terminal: what it says and does, what it asks, and what the person wants of it.

mod follow;
mod interrupts;
mod prompt;
mod questions;
mod show;
mod signals;
mod slow;
mod thinking;
mod which;
mod wrap;

pub(crate) use follow::{Follow, Role, follow, in_a_line};
pub(crate) use signals::{Signal, signals};
pub(crate) use slow::Slow;
pub(crate) use which::settled;
