//! Selects sessions by a filter, building only the fields that the filter examines.

use std::collections::HashSet;

use model::SessionId;
use transcript::TranscriptFile;

use crate::assembly::ReadSession;
use crate::describe::{Describer, InternedContext, describe_for_filter};
use crate::digest::{LaunchContext, SessionDigest};
use crate::filter::SessionFilter;
use crate::fresh::read_fresh;
use crate::overlay::SessionOverlay;
use crate::renewal::renew;
use crate::types::{Detail, Discovery, Locations, ReadProgress};

/// The sessions among those found that `filter` lets through; `progress` is called after every file that is read, and
/// ends the reading by returning false.
pub fn select(
    places: &Locations,
    found: &Discovery,
    filter: &SessionFilter,
    mut progress: impl FnMut(ReadProgress) -> bool,
) -> HashSet<SessionId> {
    let overlay = SessionOverlay::read(places);
    // Thousands of sessions share few launch contexts.
    let intern = |describer: &mut Describer, setting: &LaunchContext<'_>| {
        let held = describer.intern(setting);
        filter.matches_location(&held.location()).then_some(held)
    };
    let select = |file: &TranscriptFile, digest: &SessionDigest<'_>, held: &Option<InternedContext>| {
        let mut session = describe_for_filter(file, digest, held.as_ref()?);
        overlay.apply(&mut session);
        filter.matches_session(&session).then_some(session.id)
    };
    let mut describer = Describer::new(places);
    let changed = |reads: Vec<ReadSession>, describer: &mut Describer| {
        reads.iter().filter_map(|read| read.map_digest(describer, intern, select)).collect()
    };
    let renewed = renew(places, found, None, &mut describer, &mut progress, intern, select, changed);
    let selected = if let Ok((selected, _)) = renewed {
        selected
    } else {
        let fresh = read_fresh(places, found, Detail::Facts, &mut progress);
        fresh.kept(places, found, describer, intern, select)
    };
    selected.into_iter().collect()
}
