//! The server: what it answers from, and for whom.

use std::path::PathBuf;
use std::sync::Arc;

use app::App;
use app::bridge::Bridge;
use tokio_util::sync::CancellationToken;

/// For whom a server answers, which decides what its tools are.
#[derive(Debug, Clone)]
pub enum ServerMode {
    /// For a model that works for the person.
    Standalone,
    /// For the model of a worker of an OpenClaw agent.
    Bridge(Arc<Bridge>),
}

/// The server; its clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    /// What relative paths begin at.
    pub(crate) directory: PathBuf,
    pub(crate) mode: ServerMode,
    /// Set when the client is gone: what only waits ends.
    pub(crate) closing: CancellationToken,
}

impl Server {
    pub(crate) fn new(app: Arc<App>, directory: PathBuf, mode: ServerMode) -> Self {
        Self { app, directory, mode, closing: CancellationToken::new() }
    }
}
