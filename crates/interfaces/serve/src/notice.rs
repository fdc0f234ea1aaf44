//! What the server reports to the program that started it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::cron::DaemonEvent;

/// What the server reports to the program that started it.
#[derive(Debug, Clone)]
pub enum Notice {
    /// Something the person should know.
    Warning(String),
    /// It listens.
    Ready {
        /// Its address, without any token.
        place: String,
        /// The link for a browser; its token can be used once.
        link: String,
        /// The socket beside it.
        unix: Option<PathBuf>,
    },
    /// A request was answered; its address is without the query, which may hold a token.
    Request {
        /// `GET`, `POST`, …
        method: String,
        /// The path.
        path: String,
        /// The status of the answer.
        status: u16,
        /// The time until the answer began.
        took: Duration,
    },
    /// What its runner of scheduled jobs reports.
    Cron(Box<DaemonEvent>),
    /// So many notices were dropped, since the program did not take them in time.
    Dropped {
        /// How many.
        count: u64,
    },
    /// It stops.
    Stopping,
}

/// Receives what the server reports, on a thread of its own: it may block.
pub type Reporter = Arc<dyn Fn(Notice) + Send + Sync>;
