//! Repositories: which one a person means, and what state it is in.

pub(crate) mod other_names;
pub(crate) mod schedules;
pub mod status;
pub(crate) mod target;
