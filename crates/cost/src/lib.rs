//! What sessions took: the price of every API message.

mod name;
mod price;

pub use name::plain_model;
pub use price::{price, prices_as_of};
