//! Daily backups of the databases that nothing else can restore.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use database::Backup;

use crate::Context;

/// How old a backup is when the next one is made.
const INTERVAL: Duration = Duration::from_hours(24);

/// The databases that cannot be rebuilt.
pub(crate) fn precious(context: &Context) -> Vec<PathBuf> {
    let state = &context.config().state;
    let own =
        [context.config().decisions_file(), state.join(workers::store::FILE), state.join(schedule::FILE)];
    own.into_iter().chain(context.config().places().annotations).collect()
}

/// Backs up what is due, and restores what is damaged; returns what went wrong.
pub(crate) fn daily(context: &Context) -> Vec<String> {
    if context.config().is_demo {
        return Vec::new();
    }
    let now = SystemTime::from(context.now);
    let back_up = |path: PathBuf| match database::back_up_regularly(&path, now, INTERVAL) {
        Ok(Backup::Restored) => {
            Some(format!("{} was damaged; its newest backup took its place", path.display()))
        }
        Ok(Backup::Made | Backup::NotDue) => None,
        Err(error) => Some(system::error_chain(&error)),
    };
    precious(context).into_iter().filter_map(back_up).collect()
}
