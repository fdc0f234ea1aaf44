//! Which sessions a person asks for, without describing more of each than the filter looks at.

use std::collections::HashSet;

use model::SessionId;
use transcript::TranscriptFile;

use crate::assembly::Read;
use crate::card::Card;
use crate::catalog::{Detail, Found, Places};
use crate::describe::{Describer, Held, outlined};
use crate::filter::Filter;
use crate::others::Others;
use crate::overview::fresh;
use crate::renewal::renewed;

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Places, found: &Found, filter: &Filter) -> HashSet<SessionId> {
    let others = Others::read(places);
    let select = |file: &TranscriptFile, card: &Card<'_>, held: &Held| {
        let mut session = outlined(file, card, held);
        others.tell(&mut session);
        filter.lets_through(&session).then_some(session.id)
    };
    let mut describer = Describer::new(&places.global_files);
    let changed = |reads: Vec<Read>, describer: &mut Describer| {
        reads.iter().filter_map(|read| read.tell(describer, select)).collect()
    };
    let renewed = renewed(places, found, None, &mut describer, select, changed);
    let selected = renewed.map_or_else(
        |_| fresh(places, found, Detail::Facts, &mut |_| ()).kept(places, found, describer, select),
        |(selected, _)| selected,
    );
    selected.into_iter().collect()
}
