//! A person's desk: a home with a project, an installed `claude`, a model to talk to, and `backstory`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::claude::{Run, offline_environment};
use testkit::files::records;
use testkit::{Claude, ModelServer, Repository, ScratchHome, Script};

use crate::schemas;

/// Everything a test of the program needs.
pub(crate) struct Desk {
    pub(crate) home: ScratchHome,
    pub(crate) claude: Claude,
    pub(crate) server: ModelServer,
}

impl Desk {
    /// A desk with this release installed.
    pub(crate) fn new(claude: Claude, script: Script) -> Self {
        let home = ScratchHome::new();
        claude.install(&home);
        Self { home, claude, server: ModelServer::start(script) }
    }

    /// A project in the home.
    pub(crate) fn project(&self, name: &str) -> Repository<'_> {
        self.home.repository(name)
    }

    /// Makes a session, or goes on with one, as a person does: with `claude` itself.
    pub(crate) fn claude(&self, project: &Path, arguments: &[&str]) -> String {
        self.claude.run(&self.home, &self.server, project, arguments).succeeded().answer().to_owned()
    }

    /// Runs `backstory` from the home, as if a `claude` were around it.
    pub(crate) fn backstory(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments))
    }

    /// The command that [`Self::backstory`] runs.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_backstory"));
        command.envs(offline_environment(&self.server)).args(arguments);
        command.envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "not-this-one"), ("CLAUDE_PID", "1")]);
        command
    }

    /// The answer of `backstory … --json`, which has its schema.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let run = self.backstory(&[arguments, &["--json"]].concat()).succeeded();
        let answer =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout));
        schemas::check_answer(arguments, &answer);
        answer
    }

    /// Lets this test's process hold a session, by Claude Code's own registry of live processes.
    pub(crate) fn hold(&self, id: &str, directory: &Path) {
        let record = serde_json::json!({"pid": std::process::id(), "sessionId": id, "cwd": directory, "status": "busy"});
        self.home.write(&format!(".claude/sessions/{id}.json"), record.to_string());
    }

    /// The transcript of a session that was started in `directory`.
    pub(crate) fn transcript(&self, directory: &Path, id: &str) -> PathBuf {
        self.home.project_folder(directory).join(format!("{id}.jsonl"))
    }

    /// The program's output with the scratch home's name taken out.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.home.path().display().to_string(), "~")
    }
}

/// The person's prompts in a transcript, in order.
pub(crate) fn prompts(file: &Path) -> Vec<String> {
    let said = |record: &Value| {
        let is_prompt = record["type"] == "user" && record["isMeta"] != true;
        is_prompt.then(|| record["message"]["content"].as_str().map(str::to_owned)).flatten()
    };
    records(file).iter().filter_map(said).collect()
}
