//! Which sessions a person asks for, without describing more of each than the filter looks at.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::TranscriptFile;

use crate::card::Card;
use crate::catalog::{Detail, Found, Places, live};
use crate::describe::{mark_running, outlined};
use crate::filter::Filter;
use crate::merge::Registered;
use crate::overview::{Bytes, fresh};
use crate::project::Projects;

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, filter: &Filter) -> HashSet<SessionId> {
    let bytes = Bytes::load(places);
    let sessions = match bytes.cards(found) {
        Some(cards) => outlines(places, found.sessions.iter().zip(&cards)),
        None => fresh(places, found, Detail::Facts, &mut |_| ()).outlines(places, found),
    };
    sessions.into_iter().filter(|session| filter.lets_through(session)).map(|session| session.id).collect()
}

/// Sessions as far as a filter looks at them.
pub(crate) fn outlines<'a>(
    places: &Places,
    cards: impl Iterator<Item = (&'a TranscriptFile, &'a Card<'a>)>,
) -> Vec<Session> {
    let mut projects = Projects::new(&places.global_files);
    let mut sessions: Vec<Session> = cards.map(|(file, card)| outlined(file, card, &mut projects)).collect();
    Registered::read(places).attribute(&mut sessions);
    mark_running(sessions.iter_mut(), &live(&places.config_folders));
    sessions
}
