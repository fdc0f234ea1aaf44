//! The event stream: what sessions do, sent to everybody who listens.

pub(crate) mod hub;
pub(crate) mod route;
pub(crate) mod watching;

pub(crate) use hub::Hub;
