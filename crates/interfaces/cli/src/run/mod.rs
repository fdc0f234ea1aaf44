//! Following a worker on the terminal: shows its events, asks its questions, sends it what the person types.

mod follow;
mod interrupts;
mod prompt;
mod questions;
mod show;
mod signals;
mod slow;
mod thinking;
mod which;

pub(crate) use follow::{Follow, OnPermission, Role, follow, request_line};
pub(crate) use prompt::{Prompt, Step, offer_lines, whole};
pub(crate) use signals::{Signal, signals};
pub(crate) use slow::SlowNotice;
pub(crate) use which::resolve_choice;
