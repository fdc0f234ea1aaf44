//! `mcp`: the server that gives models Backstory's tools.

use std::net::SocketAddr;

use app::Context;
use mcp::{Connection, ServerMode, serve};

use crate::exit::Failure;

/// Give models Backstory's tools, as an MCP server on standard input and output.
///
/// Connect Claude Code to it: claude mcp add --scope user backstory -- backstory mcp
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Listen on an address of this machine instead, by streamable HTTP; clients show the token that is printed.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8766")]
    http: Option<SocketAddr>,
}

/// Answers clients until they are gone.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let connection = args.http.map_or(Connection::Stdio, Connection::Http);
    Ok(serve(context.app.clone(), context.directory.clone(), ServerMode::Standalone, connection)?)
}
