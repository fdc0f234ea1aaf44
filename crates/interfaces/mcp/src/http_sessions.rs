//! The sessions over HTTP: a limited number, of which the least recently used one is evicted for a new one. The protocol lets
//! a server end a session at any time; the client gets a 404 and starts another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderValue;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio::sync::OwnedMutexGuard;

use crate::open_requests::OpenRequests;

/// The maximum number of sessions.
pub(crate) const MAX_SESSIONS: usize = 64;
/// How long an idle session is kept. A waiting tool is silent for up to an hour.
const KEEP_ALIVE: Duration = Duration::from_mins(90);

/// The sessions of all clients; its clones are the same ones.
#[derive(Debug, Clone)]
pub(crate) struct HttpSessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    pub(crate) open: OpenRequests,
    uses: Arc<Mutex<LastUses>>,
    /// Held while a session starts, so that several do not take the same place.
    starting: Arc<tokio::sync::Mutex<()>>,
}

/// When each session was used last, as the number of the use.
#[derive(Debug, Default)]
struct LastUses {
    count: u64,
    last: HashMap<SessionId, u64>,
}

impl HttpSessions {
    pub(crate) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(KEEP_ALIVE);
        Self {
            manager: Arc::new(manager),
            open: OpenRequests::default(),
            uses: Arc::default(),
            starting: Arc::default(),
        }
    }

    /// Makes room for a new session, reserved while the guard is held; `None` where every session has a request in
    /// progress.
    pub(crate) async fn make_room(&self) -> Option<OwnedMutexGuard<()>> {
        let guard = Arc::clone(&self.starting).lock_owned().await;
        let kept: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        let evicted = {
            let mut uses = self.uses();
            uses.last.retain(|id, _| kept.contains(id));
            if kept.len() < MAX_SESSIONS {
                return Some(guard);
            }
            uses.least_recent(&kept, |id| self.open.has_one_in(id))?.clone()
        };
        // If it cannot be closed, it has already ended.
        let _ = self.manager.close_session(&evicted).await;
        Some(guard)
    }

    /// Records that a session has started.
    pub(crate) fn started(&self, id: &HeaderValue) {
        if let Ok(id) = id.to_str() {
            self.uses().note(id.into());
        }
    }

    /// Records the use of a session; unknown ids are ignored.
    pub(crate) fn used(&self, id: &HeaderValue) {
        let Ok(id) = id.to_str() else { return };
        let mut uses = self.uses();
        if uses.last.contains_key(id) {
            uses.note(id.into());
        }
    }

    fn uses(&self) -> MutexGuard<'_, LastUses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LastUses {
    fn note(&mut self, id: SessionId) {
        self.count += 1;
        self.last.insert(id, self.count);
    }

    /// The session to evict: the least recently used one without a request in progress.
    fn least_recent<'a>(
        &self,
        kept: &'a [SessionId],
        is_busy: impl Fn(&str) -> bool,
    ) -> Option<&'a SessionId> {
        // A session whose client disconnected while it started was never used.
        kept.iter().filter(|id| !is_busy(id)).min_by_key(|id| self.last.get(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_session_is_evicted() {
        let kept: Vec<SessionId> = ["a", "b", "c"].map(SessionId::from).to_vec();
        let mut uses = LastUses::default();
        let check = |uses: &LastUses, answered: &[&str], expected: Option<&str>| {
            let found = uses.least_recent(&kept, |id| answered.contains(&id));
            assert_eq!(found.map(AsRef::as_ref), expected, "{answered:?}");
        };
        for id in ["a", "b", "c", "a"] {
            uses.note(id.into());
        }
        check(&uses, &[], Some("b"));
        check(&uses, &["b"], Some("c"));
        check(&uses, &["b", "c"], Some("a"));
        check(&uses, &["a", "b", "c"], None);
        uses.last.remove("a");
        check(&uses, &[], Some("a"));
    }
}
