//! The catalog with each session's tokens and price: the ledger goes over every message of every session, so it is
//! asked only where something has changed.

use std::hash::{Hash as _, Hasher as _};

use catalog::{Catalog, Progress};
use xxhash_rust::xxh3::Xxh3;

use crate::{App, ledger};

/// The catalog with every session's tokens and price.
pub(crate) fn with_totals(app: &App, progress: impl FnMut(Progress)) -> Catalog {
    catalog::overview(&app.config.places(), edition(), |entries| ledger::enter(app, entries), progress)
}

/// The ledger's rules: this program's, and its list of prices.
fn edition() -> u64 {
    let mut hash = Xxh3::new();
    (env!("CARGO_PKG_VERSION"), cost::prices_as_of().map(|date| date.to_string())).hash(&mut hash);
    hash.finish()
}
