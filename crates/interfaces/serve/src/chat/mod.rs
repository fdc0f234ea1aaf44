//! Following what workers do: as it happens, or until one message is answered.

pub(crate) mod follow;
pub(crate) mod turn;
