//! What others than its own transcript know of a session: OpenClaw's registries, and live processes.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::{Live, Problem};

use crate::describe::Describer;
use crate::merge::Registered;
use crate::types::{Entry, Found, Places};

/// What others know of all sessions.
pub(crate) struct Others {
    registered: Registered,
    /// The sessions that live processes hold.
    held: HashSet<SessionId>,
}

impl Others {
    /// Reads what they know.
    pub(crate) fn read(places: &Places) -> Self {
        let live = places.config_folders.iter().flat_map(|folder| Live::find(&folder.live_registry()));
        Self { registered: Registered::read(places), held: live.map(|live| live.session).collect() }
    }

    /// Lays it over one of the sessions.
    pub(crate) fn tell(&self, session: &mut Session) {
        self.registered.attribute(session);
        session.is_running |= self.held.contains(&session.id);
    }

    /// The sessions of which there is no transcript.
    pub(crate) fn alone(&self, found: &Found, describer: &mut Describer) -> Vec<Entry> {
        self.registered.alone(found, describer).into_iter().map(Entry::of).collect()
    }

    /// What could not be read.
    pub(crate) fn problems(self) -> Vec<Problem> {
        self.registered.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_process_holds_one_session() {
        let others =
            Others { registered: Registered::default(), held: HashSet::from(["s".parse().unwrap()]) };
        let is_running = ["s", "t"].map(|id| {
            let mut session = Session::blank(id.parse().unwrap());
            others.tell(&mut session);
            session.is_running
        });
        assert_eq!(is_running, [true, false]);
    }
}
