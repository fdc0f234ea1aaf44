//! Chunks, words and ranking: the index over all sessions and how a question is answered from it.

mod chunk;
mod columns;
mod conversation;
mod document;
mod error;
mod facts;
mod files;
mod gather;
mod kind;
mod meaning;
mod near;
mod notes;
mod paths;
mod plain;
mod postings;
mod query;
mod rank;
mod schema;
mod searcher;
mod sessions;
mod snippet;
mod source;
mod sync;
mod vectors;
mod words;
mod writer;

pub use chunk::texts;
pub use error::Error;
pub use kind::Kind;
pub use query::{Filter, FilterName, Query, role, tags, without_tag};
pub use searcher::{Count, Hit, Meaning, Mode, Outcome, Scope, Searcher, Size, Why};
pub use snippet::Snippet;
pub use source::{SourceKind, names_of, sources_of};
pub use sync::{Progress, Source, Synced, pending, sync};
pub use vectors::can_embed;
pub use writer::discard;
