//! The catalog with each session's totals: from the saved digests, or from the transcripts that changed.

use model::{Keywords, Session, SessionId};
use transcript::TranscriptFile;

use crate::assembly::ReadSession;
use crate::describe::{Describer, InternedContext, describe_fully, describe_scalars};
use crate::digest::SessionDigest;
use crate::fresh::read_fresh;
use crate::overlay::SessionOverlay;
use crate::renewal::{Renewed, renew, renew_one};
use crate::types::{
    Catalog, CatalogEntry, Detail, Discovery, IoStats, Locations, ReadProgress, ReadReport, assemble_catalog,
    sort,
};

/// Reads the catalog of the transcripts that were found, with each session's tokens and cost.
///
/// `apply_totals` writes them into entries. It is called only for sessions that changed since the last time, or for
/// all of them if copies have to be separated or `pricing_version`, which identifies its rules, is another one.
/// `progress` is called after every file that is read, and ends the reading by returning false.
pub fn overview(
    places: &Locations,
    found: &Discovery,
    pricing_version: u64,
    apply_totals: impl Fn(&mut [CatalogEntry]),
    progress: impl FnMut(ReadProgress) -> bool,
) -> Catalog {
    let mut catalog =
        map_sessions(places, found, pricing_version, Projection::Full, apply_totals, progress, Some);
    sort(&mut catalog.sessions);
    catalog
}

/// Describes one session as [`overview`] does, with its tokens and cost, without describing the others.
///
/// `None` where that is not possible: it is not found, another one was added or removed since the last time, or its
/// cost may depend on changes in others.
pub fn overview_of(
    places: &Locations,
    found: &Discovery,
    id: &SessionId,
    pricing_version: u64,
    apply_totals: impl Fn(&mut [CatalogEntry]),
    mut progress: impl FnMut(ReadProgress) -> bool,
) -> Option<Session> {
    let mut describer = Describer::new(places);
    let renewed =
        renew_one(places, found, id, pricing_version, &mut describer, &mut progress, describe_fully)?;
    let mut session = match renewed {
        Renewed::Kept(session) => session,
        Renewed::Read(mut read) => {
            let mut entries = [read.entry(&mut describer)];
            apply_totals(&mut entries);
            let [entry] = entries;
            entry.session
        }
    };
    describer.remember();
    SessionOverlay::read(places).apply(&mut session);
    Some(*session)
}

/// How much of each session is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// All fields.
    Full,
    /// Only numbers, times and the title; prompts, nickname and sub-agents may be missing.
    Scalars,
}

/// Calls `map` for every session that was found, in any order, and collects what it returns. One entry exists at a time, so
/// thousands are never in memory together.
///
/// Tokens and cost are computed as in [`overview`].
pub fn map_sessions<T: Send>(
    places: &Locations,
    found: &Discovery,
    pricing_version: u64,
    extent: Projection,
    apply_totals: impl Fn(&mut [CatalogEntry]),
    mut progress: impl FnMut(ReadProgress) -> bool,
    map: impl Fn(CatalogEntry) -> Option<T> + Sync,
) -> Catalog<T> {
    let overlay = SessionOverlay::read(places);
    let map = |mut entry: CatalogEntry| {
        overlay.apply(&mut entry.session);
        map(entry)
    };
    let mut describer = Describer::new(places);
    let surveyed = match renew_all(
        places,
        found,
        (pricing_version, extent),
        &apply_totals,
        &mut describer,
        &mut progress,
        map,
    ) {
        Ok(surveyed) => surveyed,
        Err(work) => {
            let mut fresh = read_fresh(places, found, Detail::Spending, &mut progress);
            fresh.report.work += work;
            let entries = fresh.with_totals(places, found, pricing_version, apply_totals, &mut describer);
            (entries.into_iter().filter_map(&map).collect(), fresh.report)
        }
    };
    let (mut sessions, report) = surveyed;
    sessions.extend(overlay.registry_only(found, &mut describer).into_iter().filter_map(&map));
    describer.remember();
    assemble_catalog(found, sessions, overlay.into_problems(), report)
}

fn renew_all<T: Send>(
    places: &Locations,
    found: &Discovery,
    (pricing_version, extent): (u64, Projection),
    apply_totals: impl Fn(&mut [CatalogEntry]),
    describer: &mut Describer,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
    map: impl Fn(CatalogEntry) -> Option<T> + Sync,
) -> Result<(Vec<T>, ReadReport), IoStats> {
    let describe = match extent {
        Projection::Full => describe_fully,
        Projection::Scalars => describe_scalars,
    };
    let map_kept = |file: &TranscriptFile, digest: &SessionDigest<'_>, held: &InternedContext| {
        let keywords = Some(Keywords::from_bytes(&digest.keywords));
        map(CatalogEntry { keywords, ..CatalogEntry::new(describe(file, digest, held)) })
    };
    let map_changed = |mut reads: Vec<ReadSession>, describer: &mut Describer| {
        let mut entries: Vec<_> = reads.iter_mut().map(|read| read.entry(describer)).collect();
        apply_totals(&mut entries);
        entries.into_iter().filter_map(&map).collect()
    };
    let version = Some(pricing_version);
    renew(places, found, version, describer, progress, Describer::intern, map_kept, map_changed)
}
