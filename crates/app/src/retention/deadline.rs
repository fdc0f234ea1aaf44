//! When Claude Code deletes sessions: the notice of those that its next start deletes, and keeping them longer.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::SessionId;
use monitor::install;
use transcript::{ConfigFolder, TranscriptFile};

use crate::live::hooks::Plan;
use crate::retention::archive;
use crate::{Context, Error};

/// How often the notice is given.
const NOTICE_INTERVAL: Duration = Duration::from_hours(24);
/// Within how many days sessions have to be deleted for `doctor --fix` to offer to keep them longer.
const SOON: i64 = 7;
/// For how many days `doctor --fix` offers to keep sessions, and where they are kept that long already.
const LONGER: [u64; 2] = [365, 3650];

/// The sessions that the next start of Claude Code deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionNotice {
    /// Their ids, the oldest first.
    pub sessions: Vec<SessionId>,
    /// For how many days after its last change Claude Code keeps a session.
    pub days: u64,
    /// Whether they are copied to the archive.
    pub is_kept: bool,
    /// How many of them have no whole copy yet.
    pub uncopied: usize,
    /// How many of them are never copied: of excluded directories, and forgotten ones.
    pub left_out: usize,
}

/// The sessions that the next start of Claude Code deletes; once a day, and none where there are none. They are copied
/// before anything is said of them.
pub fn notice(context: &Context) -> Option<DeletionNotice> {
    if context.config().is_demo || context.is_limited() {
        return None;
    }
    let state = &context.config().state;
    let mark = state.join("deletion-notice");
    let last = fs::metadata(&mark).and_then(|found| found.modified()).ok();
    let now = std::time::SystemTime::from(context.now);
    if last.and_then(|last| now.duration_since(last).ok()).is_some_and(|ago| ago < NOTICE_INTERVAL) {
        return None;
    }
    let due = Due::find(context, context.now).into_iter().next()?;
    // If the mark cannot be written, the notice is not repeated with every command.
    system::create_private_folder(state)
        .and_then(|()| system::replace_private_file(&mark, b""))
        .and_then(|()| fs::File::options().write(true).open(&mark)?.set_modified(now))
        .ok()?;
    archive::copy_due(context);
    let copies = archive::uncopied(context, &due.projects, &due.files);
    Some(DeletionNotice {
        sessions: due.files.into_iter().map(|file| file.id).collect(),
        days: due.days,
        is_kept: archive::is_enabled(context),
        uncopied: copies.waiting.len(),
        left_out: copies.left_out.len(),
    })
}

/// The changes to Claude Code's settings with which sessions are kept longer that would be deleted within a week.
pub fn keep_longer(context: &Context) -> Result<Vec<Plan>, Error> {
    context.require_person("changing Claude Code's settings")?;
    let soon = context.now.checked_add(SignedDuration::from_hours(24 * SOON)).unwrap_or(Timestamp::MAX);
    let mut plans = Vec::new();
    for folder in context.config().claude_folders.iter().map(ConfigFolder::new) {
        let days = folder.cleanup_days();
        if Due::of(&folder, soon).files.is_empty() {
            continue;
        }
        let longer = LONGER.into_iter().find(|longer| *longer > days).unwrap_or(days.saturating_mul(2));
        let file = folder.root().join("settings.json");
        plans.push(Plan::new(context, file, "cleanup", |text, _| {
            install::with_member(text, "cleanupPeriodDays", &longer.to_string()).map(Some)
        })?);
    }
    Ok(plans)
}

/// The sessions of a config folder that are due by a time.
pub(crate) struct Due {
    /// Its projects folder.
    projects: PathBuf,
    /// For how many days after its last change Claude Code keeps a session.
    days: u64,
    /// Their transcripts, the oldest first.
    pub(crate) files: Vec<TranscriptFile>,
}

impl Due {
    /// Those of each config folder that has any.
    pub(crate) fn find(context: &Context, by: Timestamp) -> Vec<Self> {
        let folders = context.config().claude_folders.iter().map(ConfigFolder::new);
        folders.map(|folder| Self::of(&folder, by)).filter(|due| !due.files.is_empty()).collect()
    }

    fn of(folder: &ConfigFolder, by: Timestamp) -> Self {
        let days = folder.cleanup_days();
        let projects = folder.projects();
        let projects: PathBuf = projects.canonicalize().unwrap_or(projects);
        let found = ConfigFolder::from_projects(&projects).find(1).transcripts;
        let at = |file: &TranscriptFile| deletion(file.stamp.modified()?, days);
        let mut files: Vec<TranscriptFile> =
            found.into_iter().filter(|file| at(file).is_some_and(|at| at <= by)).collect();
        files.sort_by(|one, other| (at(one), &one.id).cmp(&(at(other), &other.id)));
        Self { projects, days, files }
    }
}

/// When Claude Code may delete what was written then.
pub(crate) fn deletion(modified: Timestamp, days: u64) -> Option<Timestamp> {
    modified.checked_add(SignedDuration::from_hours(i64::try_from(days).ok()?.checked_mul(24)?)).ok()
}

/// When Claude Code may delete a transcript: so many days after it was last written.
pub(crate) fn deletion_of(file: &Path, days: u64) -> Option<Timestamp> {
    deletion(Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok()?, days)
}
