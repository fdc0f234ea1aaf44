//! Single requests to a model through Anthropic's Messages API: one call, no retries, bounded in time.
//!
//! Requests are made only if the user provided a key and a setting allows it.

mod ask;
mod model;

pub use ask::{Error, ModelRequest, ask};
pub use model::ModelName;
