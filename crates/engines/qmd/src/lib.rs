//! qmd, another search over the same sessions: how it is asked, the Markdown it reads, how that is kept fresh.
//!
//! Nobody else knows a flag of qmd or the head of an exported document.

mod answer;
mod ask;
mod child;
mod collection;
mod document;
mod folder;
mod schedule;

pub use answer::Found;
pub use ask::{Failure, Question, Reply, Step, Unanswered};
pub use child::Qmd;
pub use collection::{Collection, Kept, Page};
pub use document::{Document, FILE_TYPE};
pub use schedule::{Errand, Texts, collection_add};
