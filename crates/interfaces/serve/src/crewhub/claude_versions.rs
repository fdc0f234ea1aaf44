//! The versions of the `claude` programs that connections start. A program is run for its version only where its file is
//! another one than before or the answer is a minute old: a front end lists connections all the time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::proceed::claude_path;
use app::{Context, Error, doctor};
use jiff::{SignedDuration, Timestamp};
use system::FileStamp;

/// For how long a version counts while the program's file is unchanged: a script may start another program than before.
const FRESH: SignedDuration = SignedDuration::from_mins(1);
/// For how long it counts that there was none: the program may have been replaced at that moment.
const FRESH_FAILURE: SignedDuration = SignedDuration::from_secs(5);
/// How many programs are remembered.
const MOST: usize = 100;

/// A program, and its version or why it has none.
pub(super) type ClaudeVersion = (PathBuf, Result<String, String>);

/// The versions that programs reported.
#[derive(Debug, Default)]
pub(crate) struct ClaudeVersions(Mutex<HashMap<PathBuf, Reported>>);

/// What a program reported, and when.
#[derive(Debug)]
struct Reported {
    stamp: FileStamp,
    time: Timestamp,
    /// `None` where it reported nothing.
    version: Option<String>,
}

impl Reported {
    fn is_fresh(&self, stamp: FileStamp, now: Timestamp) -> bool {
        let limit = if self.version.is_some() { FRESH } else { FRESH_FAILURE };
        // A clock may be set back.
        self.stamp == stamp && now.duration_since(self.time).abs() < limit
    }
}

impl ClaudeVersions {
    /// The program that a request starts, with its version; `None` where there is no program.
    pub(super) fn known(&self, context: &Context) -> Result<Option<ClaudeVersion>, Error> {
        let Some(path) = claude_path(context) else { return Ok(None) };
        let Some(stamp) = stamp_of(&path) else { return self.fresh(context) };
        // Others that ask for a version at the same time wait for the one that runs the program.
        let mut reported = self.locked();
        let known = reported.get(&path).filter(|known| known.is_fresh(stamp, context.now));
        if let Some(known) = known {
            return Ok(Some(described(path, known.version.clone())));
        }
        run(context, &mut reported)
    }

    /// The same, from the program itself.
    pub(super) fn fresh(&self, context: &Context) -> Result<Option<ClaudeVersion>, Error> {
        run(context, &mut self.locked())
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<PathBuf, Reported>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(context: &Context, reported: &mut HashMap<PathBuf, Reported>) -> Result<Option<ClaudeVersion>, Error> {
    // A program that is replaced while it runs is run again.
    let stamp = claude_path(context).and_then(|path| stamp_of(&path));
    let Some(claude) = doctor::claude(context)? else { return Ok(None) };
    if reported.len() >= MOST {
        reported.clear();
    }
    if let Some(stamp) = stamp {
        let version = claude.version.clone();
        reported.insert(claude.path.clone(), Reported { stamp, time: context.now, version });
    }
    Ok(Some(described(claude.path, claude.version)))
}

fn stamp_of(path: &Path) -> Option<FileStamp> {
    path.metadata().ok().map(|metadata| FileStamp::from_metadata(&metadata))
}

fn described(path: PathBuf, version: Option<String>) -> ClaudeVersion {
    let silent = || format!("{} does not report its version", path.display());
    let version = version.ok_or_else(silent);
    (path, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_counts_for_a_minute_and_a_failure_for_seconds() {
        let stamp = FileStamp { ino: 1, mtime: 7, ..FileStamp::default() };
        let check = |version: Option<&str>, stamp_now: FileStamp, seconds: i64, expected: bool| {
            let version = version.map(str::to_owned);
            let reported = Reported { stamp, time: Timestamp::UNIX_EPOCH, version };
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
            assert_eq!(reported.is_fresh(stamp_now, now), expected, "{reported:?} {stamp_now:?} {seconds}");
        };
        let known = Some("2.1.330");
        check(known, stamp, 0, true);
        check(known, stamp, 59, true);
        check(known, stamp, 60, false);
        check(known, stamp, -60, false);
        check(known, FileStamp { ino: 2, ..stamp }, 0, false);
        check(known, FileStamp { mtime: 8, ..stamp }, 0, false);
        check(None, stamp, 4, true);
        check(None, stamp, 5, false);
    }
}
