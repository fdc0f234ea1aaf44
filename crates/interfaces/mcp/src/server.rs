//! The server: its app and its mode.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::bridge::Bridge;
use app::{App, Context};
use tokio_util::sync::CancellationToken;

use crate::limits::RequestLimits;

/// Whom a server serves, which decides its tools.
#[derive(Debug, Clone)]
pub enum ServerMode {
    /// A model that works for the person.
    Standalone,
    /// The model of an OpenClaw agent's worker.
    Bridge(Arc<Bridge>),
}

/// The server; clones share its state.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    /// The directory to which relative paths are resolved.
    pub(crate) directory: PathBuf,
    pub(crate) mode: ServerMode,
    /// Cancelled when the client has disconnected: what only waits ends.
    pub(crate) closing: CancellationToken,
    pub(crate) limits: RequestLimits,
    /// Whether the data of a bridge is being prepared.
    is_preparing: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn new(app: Arc<App>, directory: PathBuf, mode: ServerMode) -> Self {
        let (closing, is_preparing) = (CancellationToken::new(), Arc::default());
        Self { app, directory, mode, closing, limits: RequestLimits::new(), is_preparing }
    }

    /// Prepares the data of a bridge's tools in the background.
    pub(crate) fn prepare(&self) {
        let ServerMode::Bridge(bridge) = &self.mode else { return };
        if self.is_preparing.swap(true, Ordering::AcqRel) {
            return;
        }
        let (bridge, is_preparing) = (Arc::clone(bridge), Arc::clone(&self.is_preparing));
        let context = Context::new(self.app.clone(), self.directory.clone());
        // It ends with the process.
        std::thread::spawn(move || {
            bridge.prepare(&context);
            is_preparing.store(false, Ordering::Release);
        });
    }
}
