//! What this crate's own tests share.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::Session;

use crate::{App, Config, Context, RecentFiles};

/// A request at the beginning of 1970 in the root directory.
pub(crate) fn context(config: Config) -> Context {
    let app = App {
        config,
        clock: || Timestamp::UNIX_EPOCH,
        zone: || TimeZone::UTC,
        program: "/backstory".into(),
        recent_files: RecentFiles::default(),
    };
    Context::new(Arc::new(app), "/".into())
}

/// A session of which nothing is known but its id.
pub(crate) fn session(id: &str) -> Session {
    Session::new(id.parse().unwrap())
}
