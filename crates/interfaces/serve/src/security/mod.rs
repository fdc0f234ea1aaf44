//! Security: every request is authorized in one place, which checks its host, its origin, its credential, its scope and its size
//! before any handler gets it.

pub(crate) mod authorization;
mod body;
mod credentials;
mod headers;
mod link;
mod origin;
pub(crate) mod scopes;
pub(crate) mod tokens;

pub(crate) use credentials::Credentials;
pub(crate) use origin::Bound;
pub(crate) use tokens::{Grant, TokenScope, Tokens};
