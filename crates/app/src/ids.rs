//! New ids of sessions and messages.

use model::SessionId;

use crate::{Error, Kind};

/// A new UUID.
pub(crate) fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The id of a new session.
pub(crate) fn new_session_id() -> Result<SessionId, Error> {
    let made = new_uuid().parse();
    made.map_err(|error| Error::caused(Kind::Unavailable, "cannot create a session id", &error))
}
