//! The event stream: what sessions do, published to all subscribers.

pub(crate) mod hub;
pub(crate) mod route;
pub(crate) mod watching;

pub(crate) use hub::Hub;
