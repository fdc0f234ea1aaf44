//! Sends one prompt to `claude -p`, without tools, settings or a stored session, bounded in time.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use system::{CommandError, CommandLimits, run_command};

use crate::command_line::NOT_INHERITED;
use crate::{Program, Release};

/// Maximum size of the answer in bytes.
const CAP: u64 = 1 << 20;

/// A prompt for a model, sent through `claude`.
#[derive(Debug, Clone)]
pub struct OneShotPrompt<'a> {
    /// The program.
    pub program: &'a Program,
    /// The program's release.
    pub release: Release,
    /// The model, as `--model` takes it.
    pub model: &'a str,
    /// An empty working directory.
    pub scratch: &'a Path,
    /// Time limit, including the start of the program.
    pub limit: Duration,
    /// The prompt.
    pub prompt: &'a str,
}

impl OneShotPrompt<'_> {
    /// Sends the prompt and returns the text of the answer, or a message saying why there is none.
    pub fn ask(&self) -> Result<String, String> {
        if !self.release.supports_no_persistence() {
            let first = Release::NO_PERSISTENCE;
            return Err(format!(
                "claude {} would keep the question as a session; {first} does not",
                self.release
            ));
        }
        let limits = CommandLimits { time: self.limit, stdout: CAP, stderr: 0 };
        let output = run_command(self.command(), Some(self.prompt.into()), limits);
        let output = output.map_err(|error| match error {
            CommandError::NotFound(error) | CommandError::Failed(error) => {
                format!("claude cannot be started: {error}")
            }
            CommandError::TimedOut(limit) => format!("no answer within {} ms", limit.as_millis()),
        })?;
        text(&output.stdout)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.path);
        command.args(["-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config"]);
        command.args(["--setting-sources", "", "--tools", "", "--model", self.model]);
        command.current_dir(self.scratch);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        command
    }
}

/// Extracts the answer from the output of `--output-format json`.
fn text(output: &[u8]) -> Result<String, String> {
    let result: Value = serde_json::from_slice(output).map_err(|_| "claude printed no result".to_owned())?;
    let text = result["result"].as_str().unwrap_or_default();
    if result["is_error"] != false {
        let short: String = text.chars().filter(|c| !c.is_control()).take(120).collect();
        return Err(format!("claude says: {}", if short.is_empty() { "an error" } else { &short }));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use testkit::claude::offline_environment;
    use testkit::{Answer, Claude, ModelServer, ScratchHome, Script};

    use super::*;

    #[test]
    fn the_output_of_claude_is_parsed() {
        let check = |output: &str, expected: Result<&str, &str>| {
            let found = text(output.as_bytes());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{output}");
        };
        check(r#"{"type":"result","is_error":false,"result":"[]"}"#, Ok("[]"));
        check(
            r#"{"type":"result","is_error":true,"result":"Not\nlogged in"}"#,
            Err("claude says: Notlogged in"),
        );
        check(r#"{"is_error":true}"#, Err("claude says: an error"));
        check("", Err("claude printed no result"));
    }

    fn ask(claude: &Claude, script: Script, limit: Duration) -> (Result<String, String>, usize, Vec<Value>) {
        let (home, server) = (ScratchHome::new(), ModelServer::start(script));
        let real = claude.install(&home);
        let lines: Vec<String> = offline_environment(&server)
            .iter()
            .map(|(name, value)| format!("export {name}='{value}'"))
            .chain(
                home.environment().iter().map(|(name, value)| format!("export {name}='{}'", value.display())),
            )
            .collect();
        // A program of its own environment: this test's process has another one.
        let path = home.write(
            "bin/asked",
            format!("#!/bin/sh\n{}\nexec '{}' \"$@\"\n", lines.join("\n"), real.display()),
        );
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let scratch = home.dir("empty");
        let program = Program { path, name: "asked".into() };
        let question = OneShotPrompt {
            program: &program,
            release: claude.version().parse().unwrap(),
            model: "haiku",
            scratch: &scratch,
            limit,
            prompt: "How relevant is it?",
        };
        let answer = question.ask();
        let tools = server.calls().iter().map(|call| call.body["tools"].clone()).collect();
        (answer, home.transcripts().len(), tools)
    }

    #[test]
    fn the_real_claude_answers_without_tools_and_keeps_nothing() {
        for claude in [Claude::newest(), Claude::v2_1_100()] {
            let script = Script::new().on("How relevant", [Answer::text("[1]")]);
            let (answer, kept, tools) = ask(&claude, script, testkit::PATIENCE);
            assert_eq!(answer.as_deref(), Ok("[1]"), "{}", claude.version());
            assert_eq!(kept, 0, "{} keeps a session", claude.version());
            assert!(tools.iter().all(|tools| tools.as_array().is_none_or(Vec::is_empty)), "{tools:?}");
        }
    }

    #[test]
    fn a_claude_that_is_late_or_too_old_is_not_waited_for() {
        let (answer, ..) = ask(&Claude::newest(), Script::new(), Duration::from_millis(1));
        assert_eq!(answer.unwrap_err(), "no answer within 1 ms");
        let program = Program { path: "/nowhere".into(), name: "claude".into() };
        let old = OneShotPrompt {
            program: &program,
            release: "1.0.60".parse().unwrap(),
            model: "haiku",
            scratch: Path::new("/"),
            limit: Duration::from_secs(1),
            prompt: "",
        };
        assert!(old.ask().unwrap_err().starts_with("claude 1.0.60 would keep the question"));
    }
}
