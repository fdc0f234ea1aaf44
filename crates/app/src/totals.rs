//! Each session's tokens and price, kept between listings: the ledger goes over every message of every
//! session, and mostly nothing has changed.
//!
//! Ours to lose: what does not fit the files as they are now is reckoned anew.

use std::collections::HashMap;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::PathBuf;

use catalog::{Catalog, Detail, Entry, Found, Progress};
use model::{SessionId, Usage};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::{App, ledger};

/// The largest file that is read, in bytes.
const CAP: u64 = 256 << 20;

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// What the totals were reckoned from.
    fingerprint: u64,
    totals: HashMap<SessionId, (Usage, Option<f64>)>,
}

/// The catalog with every session's tokens and price.
pub(crate) fn with_totals(app: &App, progress: impl FnMut(Progress)) -> Catalog {
    let places = app.config.places();
    let (found, loaded) = catalog::find_and_load(&places, Detail::Facts);
    let fingerprint = fingerprint(&found);
    if let Some(mut kept) = load(app).filter(|kept| kept.fingerprint == fingerprint) {
        let mut catalog = catalog::read_found(&places, found, loaded, Detail::Facts, progress);
        for Entry { session, .. } in &mut catalog.sessions {
            if let Some((usage, cost)) = kept.totals.remove(&session.id) {
                (session.usage, session.cost_usd) = (usage, cost);
            }
        }
        return catalog;
    }
    let mut catalog = catalog::read_found(&places, found, loaded, Detail::Spending, progress);
    ledger::enter(app, &mut catalog.sessions);
    let total = |entry: &Entry| (entry.session.id.clone(), (entry.session.usage, entry.session.cost_usd));
    save(app, &Kept { fingerprint, totals: catalog.sessions.iter().map(total).collect() });
    catalog
}

/// A hash of all files, and of what else the totals depend on.
fn fingerprint(found: &Found) -> u64 {
    let mut hash = Xxh3::new();
    (env!("CARGO_PKG_VERSION"), cost::prices_as_of().map(|date| date.to_string())).hash(&mut hash);
    let sessions = found.sessions.iter().map(|file| (file.path.as_path(), &file.stamp));
    let agents = found.sessions.iter().flat_map(|file| &file.subagents).chain(&found.flat_subagents);
    transcript::fingerprint(sessions.chain(agents.map(|file| (file.path.as_path(), &file.stamp))))
        .hash(&mut hash);
    hash.finish()
}

fn file(app: &App) -> PathBuf {
    app.config.state.join("totals.bin")
}

fn load(app: &App) -> Option<Kept> {
    postcard::from_bytes(&transcript::read_small(&file(app), CAP).ok()?).ok()
}

/// Keeps the totals, whole or not at all; where they cannot be kept the next listing reckons again.
fn save(app: &App, kept: &Kept) {
    let Ok(bytes) = postcard::to_stdvec(kept) else { return };
    let written = tempfile::NamedTempFile::new_in(&app.config.state).and_then(|mut scratch| {
        scratch.write_all(&bytes)?;
        scratch.persist(file(app)).map_err(|error| error.error).map(drop)
    });
    // Nothing is lost but time.
    let _ = written;
}
