//! Chunks, words and ranking: the index over all sessions and how a question is answered from it.

mod chunk;
mod facts;
mod kind;
mod paths;
mod words;
pub use kind::Kind;
