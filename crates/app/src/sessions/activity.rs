//! What the sessions of an answer do at the moment of the question.

use std::collections::HashMap;

use jiff::SignedDuration;
use model::{Session, SessionId};
use monitor::{ActivityProbe, Timers, WorkerReport};
use transcript::ConfigFolder;

use crate::Context;
use crate::live::hooks;

/// Writes its activity to each session; `reports` is what workers say.
pub(crate) fn enter(context: &Context, sessions: &mut [Session], reports: HashMap<SessionId, WorkerReport>) {
    let folders: Vec<ConfigFolder> = context.config().claude_folders.iter().map(ConfigFolder::new).collect();
    let probe = ActivityProbe::new(&folders, &hooks::folder(context), timers(context), context.now);
    let probe = probe.with_worker_reports(reports);
    for session in sessions {
        let activity = probe.activity(&session.id, session.file.as_deref(), session.last_modified);
        session.activity = Some(activity);
        session.background_job = probe.background_job(&session.id).cloned().map(Box::new);
    }
}

/// The spans of the timers, as the person set them.
pub(crate) fn timers(context: &Context) -> Timers {
    let settings = &context.config().settings.activity;
    Timers {
        permission: SignedDuration::from_secs(settings.permission_seconds.into()),
        text_idle: SignedDuration::from_secs(settings.text_idle_seconds.into()),
        silent: SignedDuration::from_mins(settings.silent_minutes.into()),
        ..Timers::default()
    }
}
