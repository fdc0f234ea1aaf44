//! The sessions that the person has hidden: they are not watched.

use std::collections::HashSet;

use app::Context;
use app::live::annotation_watch::AnnotationWatch;
use model::{SessionEvent, SessionId, SessionInfo};

/// The hidden sessions, as they are now.
#[derive(Debug, Default)]
pub(crate) struct HiddenSessions {
    watch: AnnotationWatch,
    ids: HashSet<SessionId>,
}

impl HiddenSessions {
    /// Notices what was hidden and shown since the last call; returns whether anything was.
    pub(crate) fn refresh(&mut self, context: &Context) -> bool {
        let changed = self.watch.changed(context);
        let has_changed = !changed.is_empty();
        for change in changed {
            if change.annotations.hidden {
                self.ids.insert(change.session_id);
            } else {
                self.ids.remove(&change.session_id);
            }
        }
        has_changed
    }

    /// Their ids.
    pub(crate) fn ids(&self) -> &HashSet<SessionId> {
        &self.ids
    }

    /// Whether the event is one of a hidden session.
    pub(crate) fn has(&self, event: &SessionEvent) -> bool {
        event.session().is_some_and(|session| self.ids.contains(session))
    }

    /// Leaves the hidden sessions out.
    pub(crate) fn leave_out(&self, sessions: &mut Vec<SessionInfo>) {
        sessions.retain(|info| !self.ids.contains(&info.session_id));
    }
}
