//! The real `claude`, as `scripts/test` installed it, run in a scratch home against a scripted model.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use crate::long::amount;
use crate::{ModelServer, PATIENCE, ScratchHome};

/// One installed release of Claude Code.
#[derive(Debug, Clone)]
pub struct Claude {
    version: &'static str,
    file: PathBuf,
    needs_node: bool,
}

impl Claude {
    /// 2.1.332, the newest format: one native binary.
    pub fn newest() -> Self {
        Self::installed("2.1.332", "@anthropic-ai/claude-code-linux-x64/claude", false)
    }

    /// 2.1.100, the older format: a script that node runs.
    pub fn v2_1_100() -> Self {
        Self::installed("2.1.100", "claude-code-2-1-100/cli.js", true)
    }

    /// 2.1.197, between the two: the first native binaries.
    pub fn v2_1_197() -> Self {
        Self::installed("2.1.197", "claude-code-2-1-197/claude", false)
    }

    /// The releases that a test of every release asks: the newest and the oldest, and with `--long` what is between them.
    pub fn releases() -> Vec<Self> {
        let ends = vec![Self::newest(), Self::v2_1_100()];
        amount(ends.clone(), [ends, vec![Self::v2_1_197()]].concat())
    }

    /// Another release, anywhere: for making recordings of it.
    pub fn at(version: &'static str, file: PathBuf) -> Self {
        let needs_node = file.extension().is_some_and(|extension| extension == "js");
        Self { version, file, needs_node }
    }

    fn installed(version: &'static str, file: &str, needs_node: bool) -> Self {
        let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/node_modules");
        let file = modules.join(file);
        let missing = file.display();
        assert!(file.exists(), "claude {version} is not installed ({missing}): run `scripts/test` once");
        Self { version, file, needs_node }
    }

    /// Its version, as its transcripts record it.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// Makes it the `claude` that programs find on this home's `PATH`.
    ///
    /// It keeps sessions for ever: those of tests are of fixed days, and it deletes what is older than thirty as soon as
    /// it has been up for a while.
    pub fn install(&self, home: &ScratchHome) -> PathBuf {
        let settings = home.config_dir().join("settings.json");
        if !settings.exists() {
            fs::write(settings, "{\"cleanupPeriodDays\": 36500}\n").expect("settings in the scratch home");
        }
        let link = home.path().join("bin/claude");
        if self.needs_node {
            fs::write(&link, format!("#!/bin/sh\nexec node '{}' \"$@\"\n", self.file.display()))
                .and_then(|()| fs::set_permissions(&link, fs::Permissions::from_mode(0o755)))
        } else {
            symlink(&self.file, &link)
        }
        .expect("a new `claude` in the scratch home");
        link
    }

    /// Runs it in `directory` until it ends, with no standard input.
    pub fn run(&self, home: &ScratchHome, server: &ModelServer, directory: &Path, arguments: &[&str]) -> Run {
        let mut command = self.command(home, server);
        command.args(arguments).current_dir(directory);
        Run::of(command)
    }

    /// A command for tests that talk to the process themselves.
    pub fn command(&self, home: &ScratchHome, server: &ModelServer) -> Command {
        let mut command = if self.needs_node {
            let mut node = home.command("node");
            node.arg(&self.file);
            node
        } else {
            home.command(&self.file)
        };
        command.envs(offline_environment(server));
        command
    }
}

/// Variables with which any `claude` below a process talks to `server` and to nothing else.
pub fn offline_environment(server: &ModelServer) -> [(&'static str, String); 7] {
    let on = || "1".to_owned();
    [
        ("ANTHROPIC_BASE_URL", server.url().to_owned()),
        ("ANTHROPIC_API_KEY", "sk-ant-not-a-key".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
        ("CLAUDE_CODE_MAX_RETRIES", on()),
        ("DISABLE_AUTOUPDATER", on()),
        ("DISABLE_ERROR_REPORTING", on()),
        ("DISABLE_TELEMETRY", on()),
    ]
}

/// A run that ended.
#[derive(Debug)]
pub struct Run {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Everything that the process wrote to standard output.
    pub stdout: String,
    /// Everything that the process wrote to standard error.
    pub stderr: String,
}

impl Run {
    /// Runs a command to its end; one that hangs fails the test.
    pub fn of(mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let pid = child.id().to_string();
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = ended.recv_timeout(PATIENCE) else {
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
            panic!("{command:?} did not end within {PATIENCE:?}");
        };
        Self::from(output.expect("the output of a child"))
    }

    /// The run itself when it succeeded; otherwise the test fails with all it printed.
    #[track_caller]
    #[must_use]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// The output without the last newline: in plain print mode, the model's answer.
    pub fn answer(&self) -> &str {
        self.stdout.trim_end()
    }

    /// The last line as JSON: the result in `--output-format json` and `stream-json`.
    pub fn result(&self) -> Value {
        let last = self.answer().lines().next_back().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("not JSON ({error}): {last}"))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
