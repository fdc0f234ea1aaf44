//! One question to a model through Anthropic's Messages API: one call, no retry, answered in time or not at all.
//!
//! It is asked only where a person gave a key and a setting allows it, and nothing else in Backstory speaks HTTP
//! for a question of this kind.

mod ask;
mod model;

pub use ask::{Error, ModelRequest, ask};
pub use model::ModelName;
