//! Following what workers do, as it happens.

pub(crate) mod follow;
