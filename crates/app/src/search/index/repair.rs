//! A damaged index: noticed where a search fails, once a day, and by `doctor`; set aside, and built again by the next pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use search::Remedy;

use crate::Context;
use crate::search::index::folder;

/// How old a verification is when the next one is made: it reads the whole index.
const EVERY: Duration = Duration::from_hours(24);
/// The file whose time says when the index was last verified.
const VERIFIED: &str = "verified";

/// Sets the index aside where it is damaged and a failure may come from that; returns whether it did.
pub(crate) fn set_aside_if_damaged(context: &Context, error: &search::Error) -> bool {
    error.remedy() == Remedy::Rebuild && !damaged(context).is_empty() && set_aside(context)
}

/// Verifies the index if that was not done for a day, and sets it aside where it is damaged; returns what it found.
pub(crate) fn daily(context: &Context) -> Option<String> {
    let verified = folder(context).join(VERIFIED);
    let now = SystemTime::from(context.now);
    if context.config().is_demo || context.is_limited() || !is_due(&verified, now) {
        return None;
    }
    let file = system::private_file().create(true).write(true).truncate(true).open(&verified).ok()?;
    file.set_modified(now).ok()?;
    let damaged = damaged(context).into_iter().next()?;
    set_aside(context).then(|| format!("{} was damaged; the search index is built again", damaged.display()))
}

/// The damaged files of the index. Where they cannot be read, the search says so.
pub(crate) fn damaged(context: &Context) -> Vec<PathBuf> {
    search::damaged_files(&folder(context)).unwrap_or_default()
}

fn set_aside(context: &Context) -> bool {
    search::set_aside(&folder(context)).is_ok()
}

fn is_due(verified: &Path, now: SystemTime) -> bool {
    let since = fs::metadata(verified).and_then(|file| file.modified());
    // One from the future says nothing: the clock was set back.
    match since {
        Ok(since) => now.duration_since(since).map_or(true, |age| age >= EVERY),
        Err(_) => verified.parent().is_some_and(Path::exists),
    }
}
