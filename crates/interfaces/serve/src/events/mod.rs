//! The event stream: what sessions do, published to everybody who listens.

pub(crate) mod hub;
pub(crate) mod route;
pub(crate) mod watching;

pub(crate) use hub::Hub;
