//! From text to meaning as numbers: the nearer two texts are in meaning, the larger the product of their
//! vectors.
//!
//! `TokenTable` needs nothing but what is in the binary; `VectorWriter` keeps vectors, `Vectors` finds the
//! nearest. `SentenceModel` is the choice of those who have a transformer on disk, `Endpoint`
//! of those who have an account. Which texts are embedded, when a row counts, and what nearness is worth is the callers' business.

mod bert;
mod characters;
mod chosen;
mod endpoint;
mod error;
mod half_bytes;
mod hub;
mod matrix;
#[cfg(test)]
mod pack;
mod packing;
mod projection;
mod rows;
mod sentences;
mod table;
mod vector;
mod vectors;
mod vocabulary;
mod weights;
mod wordpiece;
mod writer;

pub use chosen::{ChosenModel, ModelChoice};
pub use endpoint::{ApiKey, Endpoint};
pub use error::Error;
pub use hub::{cached, is_hub_name};
pub use projection::{TEACHER_HASH, to_table};
pub use rows::{VectorKey, VectorModel};
pub use sentences::SentenceModel;
pub use table::{DIMENSIONS, Embedder, TokenTable};
pub use vector::{QuantizedVector, Vector};
pub use vectors::{NearestVectors, Neighbor, RowAction, Vectors};
pub use vocabulary::Vocabulary;
pub use wordpiece::Tokenizer;
pub use writer::VectorWriter;
