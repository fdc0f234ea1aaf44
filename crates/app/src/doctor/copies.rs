//! What `doctor` says about sessions that the archive has no copy of.

use jiff::{SignedDuration, Timestamp};
use transcript::{ConfigFolder, TranscriptFile};

use super::{Finding, Severity, Steps, WARNING, plural};
use crate::retention::archive;
use crate::retention::deadline::deletion;
use crate::{Context, NextStep};

/// For how long a session has to be unchanged to be missed: what is being worked on is copied by the next command.
const AT_REST: SignedDuration = SignedDuration::from_hours(24);

/// The sessions at rest that have no copy, and how many of them Claude Code deletes soon.
pub(super) fn about(context: &Context) -> Vec<Finding<Steps>> {
    if !archive::is_enabled(context) {
        return Vec::new();
    }
    let is_before = |file: &TranscriptFile, by: Option<Timestamp>| {
        file.stamp.modified().zip(by).is_some_and(|(at, by)| at <= by)
    };
    let (mut waiting, mut soon) = (0, 0);
    for folder in context.config().claude_folders.iter().map(ConfigFolder::new) {
        let projects = folder.projects();
        let projects = projects.canonicalize().unwrap_or(projects);
        let found = ConfigFolder::from_projects(&projects).find(1).transcripts;
        let at_rest: Vec<TranscriptFile> =
            found.into_iter().filter(|file| is_before(file, context.now.checked_sub(AT_REST).ok())).collect();
        let days = folder.cleanup_days();
        let is_due = |file: &TranscriptFile| {
            let by = context.now.checked_add(WARNING).ok();
            file.stamp.modified().and_then(|at| deletion(at, days)).zip(by).is_some_and(|(at, by)| at <= by)
        };
        let due = at_rest.iter().filter(|file| is_due(file));
        soon += archive::uncopied(context, &projects, due).waiting.len();
        waiting += archive::uncopied(context, &projects, &at_rest).waiting.len();
    }
    if waiting == 0 {
        return Vec::new();
    }
    let verb = if waiting == 1 { "has" } else { "have" };
    let due = match soon {
        0 => String::new(),
        soon => format!("; Claude Code will delete {soon} of them within 7 days"),
    };
    let what = format!("{} {verb} no copy yet{due}", plural(waiting as u64, "session"));
    let next_step = vec![NextStep::Archive];
    vec![Finding { severity: Severity::Advice, what, path: Some(archive::folder(context)), next_step }]
}
