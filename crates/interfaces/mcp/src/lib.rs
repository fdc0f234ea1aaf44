//! The MCP server: the functions of the app as tools, resources and prompts for models.
//!
//! This crate speaks the protocol and shapes answers; what is asked is answered by `app`, each request on a thread of its
//! own. The async runtime is a guest here: nothing outside this crate knows it.

mod arguments;
mod bounds;
mod bridge;
mod call;
mod failure;
mod frames;
mod handler;
mod http;
mod instructions;
mod lean;
mod next_step;
mod paging;
mod prompts;
mod resources;
mod schema;
mod server;
mod stdio;
mod token;
mod tool;
mod tools;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use app::{App, Error, Kind};

pub use server::ServerMode;

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Through standard input and output.
    Stdio,
    /// By streamable HTTP at an address of the loopback.
    Http(SocketAddr),
}

/// Answers clients until they are gone; `directory` is what relative paths begin at.
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
        Connection::Stdio => {
            runtime.block_on(stdio::serve(server));
            Ok(())
        }
        Connection::Http(address) => runtime.block_on(http::serve(server, address)),
    };
    // A thread may still wait for standard input, or answer what nobody wants any more.
    runtime.shutdown_background();
    outcome
}
