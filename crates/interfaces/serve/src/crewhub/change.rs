//! What routes share that change something: the body of a change, the change itself, ids, times, and the answer that
//! something is gone.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::crewhub::store::StoredData;
use crate::problem::Problem;
use crate::state::Shared;

/// The fields to change, by their names.
pub(super) type Change = Map<String, Value>;

/// Something was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Removed {
    success: bool,
    /// Its id or key.
    deleted: String,
}

impl Removed {
    pub(super) fn new(deleted: impl Into<String>) -> Self {
        Self { success: true, deleted: deleted.into() }
    }
}

/// Something was done.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    success: bool,
}

impl Done {
    pub(super) fn new() -> Self {
        Self { success: true }
    }
}

/// Changes what is stored, where nothing else has to be known for that.
pub(super) async fn edit_stored<T: Send + 'static>(
    server: &Shared,
    change: impl FnOnce(&mut StoredData) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    server.work(move |server, _| server.store.edit(change)).await
}

/// Removes the one that is meant, or says that it is missing.
pub(super) fn take<T>(
    all: &mut Vec<T>,
    is_meant: impl Fn(&T) -> bool,
    missing: impl FnOnce() -> Problem,
) -> Result<(), Problem> {
    let before = all.len();
    all.retain(|one| !is_meant(one));
    if all.len() == before { Err(missing()) } else { Ok(()) }
}

/// The time of a request, in milliseconds since 1970.
pub(super) fn now(server: &Shared) -> i64 {
    server.context().now.as_millisecond()
}

/// A time in milliseconds since 1970.
pub(super) fn milliseconds(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_millisecond)
}

/// A new id.
pub(super) fn new_id() -> String {
    Uuid::new_v4().to_string()
}

/// An id that a person chose; it is plain, so that it needs no escapes in an address.
pub(super) fn plain(id: &str) -> Result<(), Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !id.is_empty() && id.len() <= 128 && id.bytes().all(is_plain) {
        return Ok(());
    }
    Err(Problem::usage("an id has letters, digits, dots, dashes and underscores"))
}
