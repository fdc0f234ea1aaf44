//! The MCP server: the functions of the app as tools, resources and prompts for models.
//!
//! This crate implements the protocol and shapes answers; `app` answers each request, on a thread of its own. The async runtime
//! stays inside this crate.

mod arguments;
mod bridge;
mod call;
mod errors;
mod fields;
mod frames;
mod handler;
mod http;
mod http_sessions;
mod instructions;
mod limits;
mod next_step;
mod open_requests;
mod paging;
mod places;
mod prompts;
mod resources;
mod schema;
mod server;
mod size;
mod stdio;
mod token;
mod tool;
mod tools;
mod validation;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use app::{App, Error, Kind};

pub use http::headers;
pub use server::ServerMode;

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Through standard input and output.
    Stdio,
    /// By streamable HTTP at a loopback address.
    Http(SocketAddr),
}

/// Answers clients until they disconnect; relative paths are resolved to `directory`.
pub fn serve(
    app: Arc<App>,
    directory: PathBuf,
    mode: ServerMode,
    connection: Connection,
) -> Result<(), Error> {
    let failed = |error| Error::caused(Kind::Unavailable, "cannot start the server", &error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let server = server::Server::new(app, directory, mode);
    let outcome = match connection {
        Connection::Stdio => runtime.block_on(stdio::serve(server)).map_err(failed),
        Connection::Http(address) => runtime.block_on(http::serve(server, address)),
    };
    // A thread may still wait for standard input, or work on an answer that nobody reads.
    runtime.shutdown_background();
    outcome
}
