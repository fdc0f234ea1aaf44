//! Excerpts: a few short texts of each session that stand for it, embedded by a small transformer on both sides. They find a session by
//! what was meant where it was said in other words; the built-in table, which has looked at everything, stays beside them.

mod choice;
mod embed;
mod looked;
mod store;

pub use embed::{ExcerptReport, embed_excerpts};
pub(crate) use looked::is_due;
pub(crate) use store::{ExcerptVectors, folder, retain};
