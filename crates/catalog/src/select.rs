//! Which sessions a person asks for, without describing more of each than the filter looks at.

use std::collections::HashSet;

use model::{Session, SessionId};
use transcript::TranscriptFile;

use crate::assembly::Read;
use crate::card::Card;
use crate::catalog::{Detail, Found, Places, live};
use crate::describe::Describer;
use crate::filter::Filter;
use crate::merge::Registered;
use crate::overview::fresh;
use crate::renewal::renewed;

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, filter: &Filter) -> HashSet<SessionId> {
    let others = Others::read(places);
    let select = |file: &TranscriptFile, card: &Card<'_>, describer: &mut Describer| {
        let mut session = describer.outlined(file, card);
        others.tell(&mut session);
        filter.lets_through(&session).then_some(session.id)
    };
    let mut describer = Describer::new(&places.global_files);
    let changed = |reads: Vec<Read>, describer: &mut Describer| {
        reads.iter().map(|read| select(&read.file, &read.card(), describer)).collect()
    };
    let renewed = renewed(places, found, None, &mut describer, select, changed);
    let selected = renewed.map_or_else(
        |_| fresh(places, found, Detail::Facts, &mut |_| ()).kept(places, found, describer, select),
        |(selected, _)| selected,
    );
    selected.into_iter().flatten().collect()
}

/// What others than its own transcript know of a session.
struct Others {
    registered: Registered,
    /// The sessions that live processes hold.
    held: HashSet<SessionId>,
}

impl Others {
    fn read(places: &Places) -> Self {
        let held = live(&places.config_folders).into_iter().map(|live| live.session).collect();
        Self { registered: Registered::read(places), held }
    }

    fn tell(&self, session: &mut Session) {
        self.registered.attribute(session);
        session.is_running |= self.held.contains(&session.id);
    }
}
