//! Which sessions a person asks for, without describing more of each than the filter looks at.

use std::collections::HashSet;

use model::SessionId;
use transcript::TranscriptFile;

use crate::assembly::Read;
use crate::card::{Card, Setting};
use crate::describe::{Describer, Held, outlined};
use crate::filter::Filter;
use crate::fresh::fresh;
use crate::others::Others;
use crate::renewal::renewed;
use crate::types::{Detail, Found, Places};

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, filter: &Filter) -> HashSet<SessionId> {
    let others = Others::read(places);
    // Thousands of sessions have few settings; nobody else knows more of those.
    let settle = |describer: &mut Describer, setting: &Setting<'_>| {
        let held = describer.held(setting);
        filter.suits(&held.whereabouts()).then_some(held)
    };
    let select = |file: &TranscriptFile, card: &Card<'_>, held: &Option<Held>| {
        let mut session = outlined(file, card, held.as_ref()?);
        others.tell(&mut session);
        filter.suits_otherwise(&session).then_some(session.id)
    };
    let mut describer = Describer::new(&places.global_files);
    let changed = |reads: Vec<Read>, describer: &mut Describer| {
        reads.iter().filter_map(|read| read.tell(describer, settle, select)).collect()
    };
    let renewed = renewed(places, found, None, &mut describer, settle, select, changed);
    let selected = renewed.map_or_else(
        |_| fresh(places, found, Detail::Facts, &mut |_| ()).kept(places, found, describer, settle, select),
        |(selected, _)| selected,
    );
    selected.into_iter().collect()
}
