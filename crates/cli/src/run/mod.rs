//! A worker on the terminal: what it says and does, what it asks, and what the person wants of it.

mod follow;
mod prompt;
mod show;
mod signals;

pub(crate) use follow::{Follow, Role, follow};
pub(crate) use signals::{Signal, signals};
