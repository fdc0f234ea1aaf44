//! Who may come in: every request passes the one door, which checks its host, its origin, its credential and its size
//! before any handler sees it.

mod body;
mod door;
pub(crate) mod guard;
mod headers;
mod link;
mod origin;
mod scopes;
pub(crate) mod tokens;

pub(crate) use door::Door;
pub(crate) use origin::Bound;
pub(crate) use tokens::{Grant, TokenScope, Tokens};
