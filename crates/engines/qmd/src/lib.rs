//! Integration with qmd, another search over the same sessions: running it, exporting Markdown for it, and
//! keeping the export up to date.
//!
//! Only this crate knows qmd's flags and the head of an exported document.

mod answer;
mod ask;
mod child;
mod collection;
mod document;
mod folder;
mod scheduled_export;

pub use answer::QmdHit;
pub use ask::{QmdAnswer, QmdCommand, QmdFailure, QmdQuery, QmdUnanswered};
pub use child::Qmd;
pub use collection::{Collection, DocumentState, DocumentTarget};
pub use document::{DocumentHead, FILE_TYPE};
pub use scheduled_export::{ScheduleTexts, ScheduledExport, collection_add, plist_text, unit_word};
