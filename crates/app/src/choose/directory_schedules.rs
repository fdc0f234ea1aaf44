//! The prompts that Claude Code asks on a schedule in every session of a directory, for the sessions of that directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use model::{ArmedKind, ArmedWork};
use transcript::{ScheduledTask, preview};

/// The prompts of the directories that were asked for.
#[derive(Debug, Default)]
pub(crate) struct DirectorySchedules {
    known: HashMap<PathBuf, Vec<ArmedWork>>,
}

impl DirectorySchedules {
    /// What a session in a directory asks.
    pub(crate) fn of(&mut self, directory: Option<&Path>) -> &[ArmedWork] {
        let Some(directory) = directory else { return &[] };
        if !self.known.contains_key(directory) {
            let tasks = ScheduledTask::of_directory(directory).into_iter().map(armed).collect();
            self.known.insert(directory.to_owned(), tasks);
        }
        self.known.get(directory).map_or(&[], Vec::as_slice)
    }
}

fn armed(task: ScheduledTask) -> ArmedWork {
    ArmedWork {
        kind: ArmedKind::DirectoryCron,
        what: preview(&task.prompt),
        schedule: Some(task.cron),
        at: task.created,
        until: task.until,
        line: 0,
    }
}
