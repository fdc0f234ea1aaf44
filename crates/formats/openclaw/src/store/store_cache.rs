//! Caches stores in memory for a short time. Callers get their own copy.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use system::FileStamp;

use super::agent_store::{AgentStore, LoadedStore};
use super::session_store::SessionStore;

/// How long a store is kept, where nothing is set.
const DEFAULT_TTL: Duration = Duration::from_secs(45);

/// A cache of stores, shared by its clones.
#[derive(Debug, Clone)]
pub struct StoreCache {
    lifetime: Duration,
    stores: Arc<Mutex<HashMap<PathBuf, CachedStore>>>,
}

#[derive(Debug)]
struct CachedStore {
    at: Timestamp,
    stamp: FileStamp,
    store: SessionStore,
}

impl Default for StoreCache {
    fn default() -> Self {
        Self::new(None)
    }
}

impl StoreCache {
    /// A cache with the lifetime that `OPENCLAW_SESSION_CACHE_TTL_MS` says, in milliseconds; with 0 nothing is kept.
    pub fn new(variable: Option<&str>) -> Self {
        let millis = variable.and_then(|text| text.trim().parse().ok());
        Self { lifetime: millis.map_or(DEFAULT_TTL, Duration::from_millis), stores: Arc::default() }
    }

    /// The store of an agent, read again where it is too old, or its file has another time or size.
    pub fn load(&self, store: &AgentStore, now: Timestamp) -> LoadedStore {
        let stamp = std::fs::metadata(store.path()).ok().map(|found| FileStamp::from_metadata(&found));
        let lifetime = SignedDuration::try_from(self.lifetime).unwrap_or(SignedDuration::MAX);
        let mut stores = self.stores.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(kept) = stores.get(store.path())
            && Some(&kept.stamp) == stamp.as_ref()
            && now.duration_since(kept.at) <= lifetime
            && kept.store.owner() == store.agent()
        {
            return LoadedStore { store: kept.store.clone(), problem: None };
        }
        stores.remove(store.path());
        drop(stores);
        let loaded = store.load();
        if let (None, Some(stamp), false) = (&loaded.problem, stamp, self.lifetime.is_zero()) {
            let kept = CachedStore { at: now, stamp, store: loaded.store.clone() };
            let mut stores = self.stores.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            stores.insert(store.path().to_owned(), kept);
        }
        loaded
    }

    /// Forgets a store, after it was written.
    pub fn forget(&self, store: &AgentStore) {
        self.stores.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(store.path());
    }
}
