//! `mcp`: the server that gives models Backstory's tools.

use std::net::SocketAddr;
use std::sync::Arc;

use app::Context;
use app::bridge::{Bridge, WorkerId};
use mcp::{Connection, ServerMode, serve};

use crate::exit::Failure;

/// Give models Backstory's tools: an MCP server on standard input and output.
///
/// Connect Claude Code to it: claude mcp add --scope user backstory -- backstory mcp
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Listen on an address of this machine instead, by streamable HTTP; clients show the token that is printed.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8766")]
    http: Option<SocketAddr>,
    /// Serve the tools of this worker's OpenClaw agent instead; Backstory gives its workers this server.
    #[arg(long, value_name = "WORKER", conflicts_with = "http")]
    worker: Option<WorkerId>,
}

/// Answers clients until they are gone.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let mode = match args.worker {
        Some(worker) => ServerMode::Bridge(Arc::new(Bridge::open(context, worker)?)),
        None => ServerMode::Standalone,
    };
    let connection = args.http.map_or(Connection::Stdio, Connection::Http);
    Ok(serve(context.app.clone(), context.directory.clone(), mode, connection)?)
}
