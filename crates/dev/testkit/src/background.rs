//! Claude Code's own background jobs in a scratch home, under a daemon that ends with the test.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Claude, ModelServer, PATIENCE, ScratchHome};

/// The daemon that runs the background jobs of one scratch home; it and they end when this is dropped.
pub struct BackgroundJobs<'a> {
    claude: &'a Claude,
    home: &'a ScratchHome,
    server: &'a ModelServer,
}

impl<'a> BackgroundJobs<'a> {
    /// Lets jobs be started in `directory`, which the person has said to trust.
    pub fn new(claude: &'a Claude, home: &'a ScratchHome, server: &'a ModelServer, directory: &Path) -> Self {
        let trusted = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        let known = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["sk-ant-not-a-key"], "rejected": []},
            "projects": {directory.display().to_string(): trusted},
        });
        home.write(".claude.json", known.to_string());
        Self { claude, home, server }
    }

    /// Starts a job as a person does, with `claude --bg`; returns its id.
    pub fn start(&self, directory: &Path, arguments: &[&str]) -> String {
        let arguments = [&["--bg"], arguments].concat();
        let run = self.claude.run(self.home, self.server, directory, &arguments).succeeded();
        let id = run.stdout.strip_prefix("backgrounded · ").and_then(|rest| rest.split_whitespace().next());
        id.unwrap_or_else(|| panic!("no job was started: {} {}", run.stdout, run.stderr)).to_owned()
    }

    /// All jobs as listed by `claude agents --json --all`.
    pub fn list(&self) -> Vec<Value> {
        let arguments = ["agents", "--json", "--all"];
        let run = self.claude.run(self.home, self.server, self.home.path(), &arguments).succeeded();
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
    }
}

impl Drop for BackgroundJobs<'_> {
    #[expect(clippy::disallowed_methods, reason = "the end of somebody else's child tells nobody")]
    fn drop(&mut self) {
        // It may be that none was started.
        let _ = self.claude.run(self.home, self.server, self.home.path(), &["daemon", "stop", "--any"]);
        // What the daemon kept ready for further jobs ends a moment later, and the home is still its own till then.
        let began = Instant::now();
        while is_process_of(self.home) && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Whether a process has this home.
fn is_process_of(home: &ScratchHome) -> bool {
    let wanted = format!("HOME={}", home.path().display());
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let mut environments = processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    environments.any(|all| all.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
}
