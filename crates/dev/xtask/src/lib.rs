//! Tools that developers run by hand; nothing here is shipped.

mod distil;
pub mod fit;
pub mod logistic;
pub mod openapi;
mod principal;
pub mod redactions;
mod round;
pub mod schema;
pub mod settings;
mod train;

pub use distil::{Args, distil};

/// A failure that ends the task, in its own words.
pub type Failure = Box<dyn std::error::Error>;
