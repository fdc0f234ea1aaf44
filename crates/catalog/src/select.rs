//! Which sessions a person asks for, without reading what else is known of each.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::FileStamp;

use crate::catalog::{Detail, Found, Places, live, read_found};
use crate::describe::{Outline, mark_running, outlined};
use crate::filter::Filter;
use crate::merge::Registered;
use crate::project::Projects;
use crate::reading::{ByPath, Kept};
use crate::summary_cache::SummaryCache;

/// What is kept of every session as far as a filter looks at it.
#[derive(Debug)]
pub struct Outlines(ByPath<(FileStamp, Outline)>);

impl Outlines {
    /// Loads them.
    pub fn load(places: &Places) -> Self {
        Self(SummaryCache::open(places.cache.as_deref()).outlines())
    }
}

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, outlines: Outlines, filter: &Filter) -> HashSet<SessionId> {
    let sessions = by_outline(places, found, outlines).unwrap_or_else(|| {
        let kept = Kept::load(places.cache.as_deref(), Detail::Facts);
        let catalog = read_found(places, found.clone(), kept, Detail::Facts, |_| ());
        catalog.sessions.into_iter().map(|entry| entry.session).collect()
    });
    sessions.into_iter().filter(|session| filter.lets_through(session)).map(|session| session.id).collect()
}

/// The sessions as far as a filter looks at them; `None` when a transcript is not as it was kept.
fn by_outline(places: &Places, found: &Found, outlines: Outlines) -> Option<Vec<Session>> {
    let Outlines(mut outlines) = outlines;
    let mut projects = Projects::new(&places.global_files);
    let mut sessions = Vec::with_capacity(found.sessions.len());
    for file in &found.sessions {
        let (stamp, outline) = outlines.remove(file.path.as_os_str())?;
        if stamp != file.stamp {
            return None;
        }
        sessions.push(outlined(file, outline, &mut projects));
    }
    Registered::read(places).attribute(&mut sessions);
    mark_running(sessions.iter_mut(), &live(&places.config_folders));
    Some(sessions)
}
