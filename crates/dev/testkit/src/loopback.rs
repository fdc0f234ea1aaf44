//! A server on the loopback with a thread of its own.

use std::net::TcpListener;

use axum::Router;
use tokio::runtime::{Builder, Runtime};

/// A running server; it ends when dropped, whatever it was answering.
pub(crate) struct LoopbackServer {
    origin: String,
    runtime: Option<Runtime>,
}

impl LoopbackServer {
    /// Starts on a free port.
    pub(crate) fn start(router: Router) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("a bound socket"));
        listener.set_nonblocking(true).expect("a socket for tokio");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_io().build().expect("a runtime");
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a bound socket");
            axum::serve(listener, router).await
        });
        Self { origin, runtime: Some(runtime) }
    }

    /// Its URL without a path.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
