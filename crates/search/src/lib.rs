//! Chunks, words and ranking: the index over all sessions and how a question is answered from it.

mod chunk;
mod document;
mod error;
mod facts;
mod files;
mod kind;
mod paths;
mod schema;
mod sync;
mod words;
mod writer;

pub use error::Error;
pub use kind::Kind;
pub use sync::{Progress, Source, Synced, pending, sync};
