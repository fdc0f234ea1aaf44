//! How many of something each owner may have at the same time, so that one that leaks them harms only itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::connection_table::Owner;

/// What is shared, and how much of it each owner has.
pub(crate) struct Shares {
    /// The most that one owner has.
    most: usize,
    /// The most that one administrator has.
    most_of_admin: usize,
    taken: Mutex<HashMap<String, usize>>,
}

/// One of them, until it is dropped.
pub(crate) struct Share {
    shares: Arc<Shares>,
    owner: String,
}

impl Shares {
    /// So many for each owner, and for each administrator.
    pub(crate) fn new(most: usize, most_of_admin: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_admin, taken: Mutex::default() })
    }

    /// Takes one, unless the owner has too many already.
    pub(crate) fn take(self: &Arc<Self>, owner: Owner) -> Option<Share> {
        let most = if owner.is_admin { self.most_of_admin } else { self.most };
        let mut taken = self.taken();
        let count = taken.entry(owner.name.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Share { shares: Arc::clone(self), owner: owner.name })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        if let Some(count) = taken.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_all_of_its_own_takes_none_of_another() {
        let shares = Shares::new(2, 3);
        let take = |name: &str, is_admin| shares.take(Owner { name: name.to_owned(), is_admin });
        let mut held: Vec<Share> = (0..2).filter_map(|_| take("phone", false)).collect();
        assert!(take("phone", false).is_none() && held.len() == 2);
        let desk: Vec<Share> = (0..5).filter_map(|_| take("desk", true)).collect();
        assert_eq!(desk.len(), 3);
        assert!(take("tablet", false).is_some());
        held.pop();
        assert!(take("phone", false).is_some());
        drop((held, desk));
        assert!(shares.taken().is_empty());
    }
}
