//! What this crate's own tests share.

use model::Session;

/// A session of which nothing is known but its id.
pub(crate) fn session(id: &str) -> Session {
    Session::blank(id.parse().unwrap())
}
