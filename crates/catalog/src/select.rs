//! Which sessions a person asks for, without describing more of each than the filter looks at.

use std::collections::HashSet;

use model::{Session, SessionId};

use crate::catalog::{Detail, Found, Places, live};
use crate::describe::{mark_running, outlined};
use crate::filter::Filter;
use crate::kept_cards::Bytes;
use crate::merge::Registered;
use crate::overview::fresh;
use crate::project::Projects;

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, filter: &Filter) -> HashSet<SessionId> {
    let projects = Projects::new(&places.global_files);
    let sessions = match Bytes::load(places).told(found, None, places.threads, &projects, outlined) {
        Some(sessions) => outlines(places, sessions),
        None => fresh(places, found, Detail::Facts, &mut |_| ()).outlines(places, found),
    };
    sessions.into_iter().filter(|session| filter.lets_through(session)).map(|session| session.id).collect()
}

/// Sessions as far as a filter looks at them, with what OpenClaw and live processes know of them.
pub(crate) fn outlines(places: &Places, mut sessions: Vec<Session>) -> Vec<Session> {
    Registered::read(places).attribute(&mut sessions);
    mark_running(sessions.iter_mut(), &live(&places.config_folders));
    sessions
}
