//! Work done after an answer is printed, so that nobody waits for it.

use std::path::PathBuf;

use crate::Context;
use crate::retention::archive;
use crate::search::index::repair;

/// Verifies the search index once a day, and copies some of what is new; returns where to, when that began just now.
///
/// Failures are left to `doctor`, `archive` and the next search: the answer does not depend on them.
pub fn after_an_answer(context: &Context) -> Option<PathBuf> {
    let _ = repair::daily(context);
    archive::copy_some(context)
}
