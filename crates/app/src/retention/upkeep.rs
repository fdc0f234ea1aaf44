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

/// Copies some of what is new after an answer that needs no index; returns where to, when that began just now.
pub fn after_a_listing(context: &Context) -> Option<PathBuf> {
    archive::copy_some(context)
}

/// Copies what Claude Code deletes at its start, because it is about to be started.
pub fn before_claude(context: &Context) {
    archive::copy_due(context);
}
