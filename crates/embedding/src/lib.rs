//! From text to meaning as numbers: the nearer two texts are in meaning, the larger the product of their
//! vectors.
//!
//! `Table` needs nothing but what is in the binary; `VectorWriter` keeps vectors, `Vectors` finds the
//! nearest. Which texts are embedded, when a row counts, and what nearness is worth is the callers' business.

mod characters;
mod error;
mod packing;
mod rows;
mod table;
mod vector;
mod vectors;
mod vocabulary;
mod wordpiece;
mod writer;

pub use error::Error;
pub use rows::{Key, Model};
pub use table::{DIMENSIONS, Embedder, Table};
pub use vector::{InBytes, Vector};
pub use vectors::{Found, Look, Near, Vectors};
pub use vocabulary::Vocabulary;
pub use wordpiece::Tokenizer;
pub use writer::VectorWriter;
