//! From text to meaning as numbers: the nearer two texts are in meaning, the larger the product of their
//! vectors.
//!
//! `Table` needs nothing but what is in the binary. Which texts are embedded, and what nearness is worth,
//! is the callers' business.

mod characters;
mod packing;
mod table;
mod vector;
mod vocabulary;
mod wordpiece;

pub use table::{DIMENSIONS, Embedder, Table};
pub use vector::{InBytes, Vector};
pub use vocabulary::Vocabulary;
pub use wordpiece::Tokenizer;
