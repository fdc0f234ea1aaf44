//! The permission requests and questions of a conversation that wait for an answer, in the order they were made.

use std::collections::BTreeMap;

use crate::PermissionRequest;

/// Minimum length of a prefix that identifies a request.
const MIN_ID_PREFIX: usize = 4;

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    by_id: BTreeMap<String, PermissionRequest>,
    order: Vec<String>,
}

impl PendingRequests {
    /// Whether no request waits for an answer.
    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All requests, oldest first.
    pub(super) fn all(&self) -> Vec<PermissionRequest> {
        self.order.iter().filter_map(|id| self.by_id.get(id)).cloned().collect()
    }

    /// The request that has waited longest.
    pub(super) fn first(&self) -> Option<&PermissionRequest> {
        self.order.first().and_then(|id| self.by_id.get(id))
    }

    /// Adds a request.
    pub(super) fn add(&mut self, request: PermissionRequest) {
        self.order.push(request.request.clone());
        self.by_id.insert(request.request.clone(), request);
    }

    /// Removes a request; returns whether it was there.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.order.retain(|other| other != id);
        self.by_id.remove(id).is_some()
    }

    /// Keeps the requests for which `is_kept` returns true; returns the ids of the others.
    pub(super) fn remove_unless(&mut self, is_kept: impl Fn(&PermissionRequest) -> bool) -> Vec<String> {
        let by_id = &mut self.by_id;
        let (kept, removed): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.order).into_iter().partition(|id| by_id.get(id).is_some_and(&is_kept));
        self.order = kept;
        removed.into_iter().filter(|id| by_id.remove(id).is_some()).collect()
    }

    /// The request with this id, or the only one whose id begins with it; else a message that names the ids.
    pub(super) fn find(&self, id: &str) -> Result<&PermissionRequest, String> {
        let by_prefix = || {
            let mut all = self.by_id.values().filter(|request| request.request.starts_with(id));
            all.next().filter(|_| id.len() >= MIN_ID_PREFIX && all.next().is_none())
        };
        self.by_id.get(id).or_else(by_prefix).ok_or_else(|| match self.order.as_slice() {
            [] => "nothing is asked at the moment".to_owned(),
            ids => format!("`{id}` is not asked; what waits for an answer: {}", ids.join(", ")),
        })
    }
}
