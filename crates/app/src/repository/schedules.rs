//! The prompts that Claude Code asks on a schedule in any session of a directory, as answers show them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use transcript::ScheduledTask;

use crate::Context;

/// A prompt that any session in a directory asks, and pays for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectorySchedule {
    /// The directory.
    #[serde(serialize_with = "model::path")]
    pub directory: PathBuf,
    /// What is asked.
    pub prompt: String,
    /// When, as cron writes it, in local time.
    pub schedule: String,
    /// Whether it is asked again and again; else once.
    pub recurring: bool,
    /// When it was made.
    #[serde(serialize_with = "model::optional_time")]
    pub created: Option<Timestamp>,
    /// When it was asked last.
    #[serde(serialize_with = "model::optional_time")]
    pub last_asked: Option<Timestamp>,
    /// When Claude Code deletes it; absent where it does not by itself.
    #[serde(serialize_with = "model::optional_time")]
    pub until: Option<Timestamp>,
    /// The session that made it.
    pub made_by: Option<SessionId>,
}

impl DirectorySchedule {
    /// The prompts that are still asked in a directory.
    pub(crate) fn of_directory(context: &Context, directory: &Path) -> Vec<Self> {
        let is_asked = |task: &ScheduledTask| task.until.is_none_or(|until| until > context.now);
        let tasks = ScheduledTask::of_directory(directory).into_iter().filter(is_asked);
        tasks.map(|task| Self::new(context, directory, task)).collect()
    }

    /// The prompts of all directories in which sessions were started, by directory.
    pub(crate) fn of_sessions<'a>(
        context: &Context,
        sessions: impl Iterator<Item = &'a Session>,
    ) -> Vec<Self> {
        let directories: BTreeSet<&Path> = sessions.filter_map(|session| session.cwd.as_deref()).collect();
        directories.into_iter().flat_map(|directory| Self::of_directory(context, directory)).collect()
    }

    fn new(context: &Context, directory: &Path, task: ScheduledTask) -> Self {
        Self {
            directory: directory.to_owned(),
            prompt: context.secrets.redacted(task.prompt.into()),
            schedule: context.secrets.redacted(task.cron.into()),
            recurring: task.is_recurring,
            created: task.created,
            last_asked: task.last_asked,
            until: task.until,
            made_by: task.made_by,
        }
    }
}
