//! Chunks, words and ranking: the index over all sessions and how a question is answered from it.

mod chunk;
mod columns;
mod document;
mod error;
mod facts;
mod files;
mod gather;
mod kind;
mod meaning;
mod paths;
mod plain;
mod postings;
mod query;
mod rank;
mod schema;
mod searcher;
mod sessions;
mod snippet;
mod sync;
mod vectors;
mod words;
mod writer;

pub use chunk::texts;
pub use error::Error;
pub use kind::Kind;
pub use query::{Filter, FilterName, Query, role};
pub use searcher::{Hit, Meaning, Mode, Outcome, Scope, Searcher, Why};
pub use snippet::Snippet;
pub use sync::{Progress, Source, Synced, pending, sync};
pub use writer::discard;
