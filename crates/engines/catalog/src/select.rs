//! Selects sessions by a filter, building no more of each than the filter looks at.

use std::collections::HashSet;

use model::SessionId;
use transcript::TranscriptFile;

use crate::assembly::ReadSession;
use crate::describe::{Describer, InternedContext, outlined};
use crate::digest::{LaunchContext, SessionDigest};
use crate::filter::SessionFilter;
use crate::fresh::fresh;
use crate::overlay::SessionOverlay;
use crate::renewal::renewed;
use crate::types::{Detail, Discovery, Locations};

/// The sessions among those found that `filter` lets through.
pub fn select(places: &Locations, found: &Discovery, filter: &SessionFilter) -> HashSet<SessionId> {
    let overlay = SessionOverlay::read(places);
    // Thousands of sessions have few settings; nobody else knows more of those.
    let intern = |describer: &mut Describer, setting: &LaunchContext<'_>| {
        let held = describer.intern(setting);
        filter.matches_location(&held.whereabouts()).then_some(held)
    };
    let select = |file: &TranscriptFile, card: &SessionDigest<'_>, held: &Option<InternedContext>| {
        let mut session = outlined(file, card, held.as_ref()?);
        overlay.apply(&mut session);
        filter.matches_session(&session).then_some(session.id)
    };
    let mut describer = Describer::new(&places.global_files);
    let changed = |reads: Vec<ReadSession>, describer: &mut Describer| {
        reads.iter().filter_map(|read| read.map_digest(describer, intern, select)).collect()
    };
    let renewed = renewed(places, found, None, &mut describer, intern, select, changed);
    let selected = renewed.map_or_else(
        |_| fresh(places, found, Detail::Facts, &mut |_| true).kept(places, found, describer, intern, select),
        |(selected, _)| selected,
    );
    selected.into_iter().collect()
}
