//! Repositories: which one a person means, and what state it is in.

pub mod status;
pub(crate) mod target;
