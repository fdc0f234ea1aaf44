//! The catalog with each session's tokens and price: the ledger goes over every message of every session, so it is
//! asked only where something has changed.

use std::hash::{Hash as _, Hasher as _};

use catalog::{Catalog, CatalogEntry, Projection, ReadProgress};
use jiff::Timestamp;
use xxhash_rust::xxh3::Xxh3;

use crate::sessions::ledger;
use crate::{Context, Error, Progress};

/// The catalog with every session's tokens and price.
pub(crate) fn with_totals(context: &Context) -> Result<Catalog, Error> {
    let places = context.config().places();
    let mut catalog = catalog::overview(
        &places,
        edition(),
        |entries| ledger::enter(context, entries),
        keep_reading(context),
    );
    context.check_cancelled()?;
    if context.is_limited() {
        let sight = context.sight();
        catalog.sessions.retain(|entry| sight.matches(&entry.session));
        // What cannot be read may be anybody's.
        catalog.problems.clear();
    }
    Ok(catalog)
}

/// Reports how far the reading of transcripts is, and ends it when the request is cancelled.
pub(crate) fn keep_reading(context: &Context) -> impl FnMut(ReadProgress) -> bool + '_ {
    |progress| {
        context.report(Progress::from(progress));
        !context.cancellation.is_cancelled()
    }
}

/// What `tell` makes of every session there is, or was before a moment, with its tokens and price, in any order.
pub(crate) fn survey<T: Send>(
    context: &Context,
    as_of: Option<Timestamp>,
    extent: Projection,
    tell: impl Fn(CatalogEntry) -> Option<T> + Sync,
) -> Result<Vec<T>, Error> {
    let (places, enter) =
        (context.config().places(), |entries: &mut [CatalogEntry]| ledger::enter(context, entries));
    let sight = context.sight();
    let tell = |entry: CatalogEntry| if sight.matches(&entry.session) { tell(entry) } else { None };
    let Some(then) = as_of else {
        let mapped = catalog::map_sessions(&places, edition(), extent, enter, keep_reading(context), tell);
        context.check_cancelled()?;
        return Ok(mapped.sessions);
    };
    let mut past = catalog::catalogs_at(&places, &[then]).pop().unwrap_or_default().entries;
    enter(&mut past);
    Ok(past.into_iter().filter_map(tell).collect())
}

/// The ledger's rules: this program's, and its list of prices.
fn edition() -> u64 {
    let mut hash = Xxh3::new();
    (cost::RULES_VERSION, env!("CARGO_PKG_VERSION"), cost::prices_as_of().map(|date| date.to_string()))
        .hash(&mut hash);
    hash.finish()
}
