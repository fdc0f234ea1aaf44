//! `mcp`: the server that gives models Backstory's tools.

use std::net::{Ipv4Addr, SocketAddr};
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
    /// Serve streamable HTTP on an address of this machine instead; clients need a token.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8766", value_parser = address)]
    http: Option<SocketAddr>,
    /// Print the headers that clients of `--http` send, with the token, as Claude Code's `headersHelper` wants them.
    #[arg(long, conflicts_with_all = ["http", "worker"])]
    headers: bool,
    /// Serve the tools of this worker's OpenClaw agent instead; Backstory gives its workers this server.
    #[arg(long, value_name = "WORKER", conflicts_with = "http")]
    worker: Option<WorkerId>,
}

/// An address of this machine: `127.0.0.1:9000`, `[::1]:9000`, `localhost:9000`, or the port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text).parse();
    let local = port.map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    local
        .or_else(|_| text.parse())
        .map_err(|_| "give a port, or an address such as 127.0.0.1:9000".to_owned())
}

/// Answers clients until they are gone.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.headers {
        return super::json(&mcp::headers(&context.config().state)?);
    }
    // Only a client on standard input and output is the one that started this.
    let context = &if args.http.is_some() { context.for_other_processes() } else { context.clone() };
    let mode = match args.worker {
        Some(worker) => ServerMode::Bridge(Arc::new(Bridge::open(context, worker)?)),
        None => ServerMode::Standalone,
    };
    let connection = args.http.map_or(Connection::Stdio, Connection::Http);
    Ok(serve(context.app.clone(), context.directory.clone(), mode, connection)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(address(text).ok().map(|address| address.to_string()).as_deref(), expected, "{text}");
        };
        check("18770", Some("127.0.0.1:18770"));
        check("localhost:9000", Some("127.0.0.1:9000"));
        check("127.0.0.1:0", Some("127.0.0.1:0"));
        check("[::1]:9000", Some("[::1]:9000"));
        check("example.com:9000", None);
        check("70000", None);
    }
}
