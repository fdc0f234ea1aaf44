//! The catalog with each session's tokens and price: the ledger goes over every message of every session, so it is
//! asked only where something has changed.

use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};

use catalog::{Catalog, CatalogEntry, Discovery, Projection, ReadProgress, SessionFilter};
use jiff::Timestamp;
use model::{Session, SessionId};
use xxhash_rust::xxh3::Xxh3;

use crate::sessions::ledger;
use crate::{Context, Error, Progress};

/// The catalog with every session's tokens and price.
pub(crate) fn with_totals(context: &Context) -> Result<Catalog, Error> {
    let places = context.config().places();
    let mut catalog = catalog::overview(
        &places,
        &context.transcripts(),
        pricing_version(context),
        |entries| ledger::enter(context, entries),
        keep_reading(context),
    );
    context.check_cancelled()?;
    if context.is_limited() {
        let visible = context.visible_filter();
        catalog.sessions.retain(|entry| visible.matches(&entry.session));
        catalog.subagents = catalog.sessions.iter().map(|entry| entry.session.subagents.len()).sum();
        // What cannot be read may be anybody's.
        catalog.problems.clear();
    }
    Ok(catalog)
}

/// One session with its tokens and price; the others are read only where its price depends on them.
pub(crate) fn find(context: &Context, id: &SessionId) -> Result<Option<Session>, Error> {
    let enter = |entries: &mut [CatalogEntry]| ledger::enter(context, entries);
    let places = context.config().places();
    let (found, version) = (context.transcripts(), pricing_version(context));
    let session = catalog::overview_of(&places, &found, id, version, enter, keep_reading(context));
    context.check_cancelled()?;
    if session.is_some() {
        return Ok(session.filter(|session| context.visible_filter().matches(session)));
    }
    let mut all = with_totals(context)?.sessions;
    let at = all.iter().position(|entry| entry.session.id == *id);
    Ok(at.map(|at| *all.swap_remove(at).session))
}

/// The sessions among those found that meet a filter.
pub(crate) fn select(
    context: &Context,
    found: &Discovery,
    filter: &SessionFilter,
) -> Result<HashSet<SessionId>, Error> {
    let selected = catalog::select(&context.config().places(), found, filter, keep_reading(context));
    context.check_cancelled()?;
    Ok(selected)
}

/// Reports how far the reading of transcripts is, and ends it when the request is cancelled.
pub(crate) fn keep_reading(context: &Context) -> impl FnMut(ReadProgress) -> bool + '_ {
    |progress| {
        context.report(Progress::from(progress));
        !context.cancellation.is_cancelled()
    }
}

/// Maps every session that the caller may see, with its tokens and price, as of now or before a moment, in
/// any order.
pub(crate) fn map_visible_sessions<T: Send>(
    context: &Context,
    as_of: Option<Timestamp>,
    extent: Projection,
    map: impl Fn(CatalogEntry) -> Option<T> + Sync,
) -> Result<Vec<T>, Error> {
    let visible = context.visible_filter();
    let map = |entry: CatalogEntry| if visible.matches(&entry.session) { map(entry) } else { None };
    map_all_sessions(context, as_of, extent, map)
}

/// Like [`map_visible_sessions`], for everybody's sessions.
pub(crate) fn map_all_sessions<T: Send>(
    context: &Context,
    as_of: Option<Timestamp>,
    extent: Projection,
    map: impl Fn(CatalogEntry) -> Option<T> + Sync,
) -> Result<Vec<T>, Error> {
    let (places, enter) =
        (context.config().places(), |entries: &mut [CatalogEntry]| ledger::enter(context, entries));
    let Some(then) = as_of else {
        let mapped = catalog::map_sessions(
            &places,
            &context.transcripts(),
            pricing_version(context),
            extent,
            enter,
            keep_reading(context),
            map,
        );
        context.check_cancelled()?;
        return Ok(mapped.sessions);
    };
    let past = catalog::catalogs_at(&places, &[then], || !context.cancellation.is_cancelled()).pop();
    context.check_cancelled()?;
    let mut past = past.unwrap_or_default().entries;
    enter(&mut past);
    Ok(past.into_iter().filter_map(map).collect())
}

/// The ledger's rules: this program's, its list of prices, and the person's own.
fn pricing_version(context: &Context) -> u64 {
    let mut hash = Xxh3::new();
    let own = format!("{:?}", context.config().settings.prices);
    (cost::RULES_VERSION, env!("CARGO_PKG_VERSION"), cost::prices_as_of().map(|date| date.to_string()), own)
        .hash(&mut hash);
    hash.finish()
}
