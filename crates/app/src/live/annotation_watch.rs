//! Notices that sessions were annotated, by whichever program: a page, the command line, or another server.

use std::path::{Path, PathBuf};

use catalog::AnnotationIndex;
use model::{Annotations, Session, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use system::FileStamp;

use crate::Context;

/// A session's annotations, which were changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnotationChange {
    /// The session's id.
    pub session_id: SessionId,
    /// Its annotations of now; blank where it has none any more.
    pub annotations: Annotations,
}

/// The annotations as they were at the last check.
#[derive(Debug, Default)]
pub struct AnnotationWatch {
    stamps: [Option<FileStamp>; 2],
    known: AnnotationIndex,
}

impl AnnotationWatch {
    /// Remembers the annotations as they are.
    pub fn start(context: &Context) -> Self {
        let mut watch = Self::default();
        watch.changed(context);
        watch
    }

    /// The annotations that changed since the last call, redacted. Unchanged files cost two `stat` calls.
    pub fn changed(&mut self, context: &Context) -> Vec<AnnotationChange> {
        let Some(path) = context.config().places().annotations else { return Vec::new() };
        // The stamps are older than what is read, so that a change in between is seen at the next look.
        let stamps = [stamp(&path), stamp(&log_of(&path))];
        if stamps == self.stamps {
            return Vec::new();
        }
        // Where it cannot be read now, it is tried again at the next look.
        let Ok(now) = AnnotationIndex::read(&path) else { return Vec::new() };
        let changed = now.changed_since(&self.known);
        (self.stamps, self.known) = (stamps, now);
        changed.into_iter().map(|(session, annotations)| redacted(context, session, annotations)).collect()
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    std::fs::metadata(path).ok().map(|metadata| FileStamp::from_metadata(&metadata))
}

/// The file in which SQLite has what is not in the database yet.
fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn redacted(context: &Context, session_id: SessionId, annotations: Annotations) -> AnnotationChange {
    let mut session = Session::new(session_id);
    session.annotations = Some(Box::new(annotations));
    context.redact_session(&mut session);
    let annotations = session.annotations.map(|annotations| *annotations).unwrap_or_default();
    AnnotationChange { session_id: session.id, annotations }
}
