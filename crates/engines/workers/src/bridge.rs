//! The MCP server through which a worker's agent asks OpenClaw's questions: it is this program, started with the worker's number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use crate::{WorkerId, WorkerOptions};

/// Name of the server; its tools are called `mcp__openclaw-bridge__…`.
pub const BRIDGE: &str = "openclaw-bridge";

/// How the server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeServer {
    /// The path of this program.
    pub program: PathBuf,
    /// Environment variables beyond those that `claude` passes on.
    pub environment: BTreeMap<String, String>,
}

impl BridgeServer {
    /// Gives a worker the server, with all its tools loaded and allowed from the beginning.
    pub(crate) fn add_to(&self, options: &mut WorkerOptions, worker: WorkerId) {
        let server = json!({
            "type": "stdio",
            "command": self.program,
            "args": ["mcp", "--worker", worker.to_string()],
            "env": self.environment,
            "alwaysLoad": true,
        });
        options.mcp_config.push(json!({"mcpServers": {BRIDGE: server}}).to_string());
        options.allowed_tools.push(format!("mcp__{BRIDGE}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_knows_its_worker_and_needs_no_permission() {
        let server = BridgeServer {
            program: "/opt/backstory".into(),
            environment: [("BACKSTORY_HOME".to_owned(), "/s".to_owned())].into(),
        };
        let mut options = WorkerOptions { mcp_config: vec!["own.json".into()], ..WorkerOptions::default() };
        server.add_to(&mut options, "7".parse().unwrap());
        assert_eq!(options.mcp_config[0], "own.json");
        let config: serde_json::Value = serde_json::from_str(&options.mcp_config[1]).unwrap();
        let server = &config["mcpServers"]["openclaw-bridge"];
        assert_eq!(server["command"], "/opt/backstory");
        assert_eq!(server["args"], json!(["mcp", "--worker", "7"]));
        assert_eq!(server["env"]["BACKSTORY_HOME"], "/s");
        assert_eq!(server["alwaysLoad"], true);
        assert_eq!(options.allowed_tools, ["mcp__openclaw-bridge"]);
    }
}
