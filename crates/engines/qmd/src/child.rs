//! One run of qmd: bounded in time and size, and ended with all it started.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use system::{CommandError, CommandLimits, CommandOutput, run_command};

/// How much of an answer is read, in bytes.
const CAP: u64 = 8 << 20;
/// How much of a complaint is read, in bytes; qmd's own is followed by a trace.
const COMPLAINT: u64 = 64 << 10;

/// An installed qmd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qmd {
    /// The program.
    pub program: PathBuf,
    /// How long one command may take.
    pub limit: Duration,
}

impl Qmd {
    /// Runs one command, and returns its output, or says why there is none.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<CommandOutput, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("NO_COLOR", "1");
        let limits = CommandLimits { time: self.limit, stdout: CAP, stderr: COMPLAINT };
        run_command(command, None, limits).map_err(|error| match error {
            CommandError::NotFound(error) | CommandError::Failed(error) => {
                format!("{} cannot be started: {error}", self.program.display())
            }
            CommandError::TimedOut(limit) => format!("no answer within {} ms", limit.as_millis()),
        })
    }

    /// Reads the collections' files again, and embeds them: `qmd update`, then `qmd embed`.
    ///
    /// Both take as long as they take; what they say goes to standard error, for whoever waits to see.
    pub fn index(&self) -> Result<(), String> {
        ["update", "embed"].into_iter().try_for_each(|name| self.run_visibly(name))
    }

    fn run_visibly(&self, name: &str) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(name).stdin(Stdio::null()).stdout(io::stderr()).stderr(io::stderr());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`qmd {name}` failed ({status}); see its output above")),
            Err(error) => Err(format!("{} cannot be started: {error}", self.program.display())),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    /// A program of a few words of shell that plays qmd.
    pub(crate) fn script(folder: &Path, text: &str, limit: Duration) -> Qmd {
        let program = folder.join("qmd");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Qmd { program, limit }
    }

    #[test]
    fn whatever_it_does_it_is_over_in_time() {
        let scratch = tempfile::tempdir().unwrap();
        let check = |text: &str, limit: u64, expected: Result<(bool, &str), &str>| {
            let found = script(scratch.path(), text, Duration::from_millis(limit)).run(&["query"]);
            let found = found
                .as_ref()
                .map(|output| (output.status.success(), String::from_utf8_lossy(&output.stdout)));
            let found =
                found.as_ref().map(|(success, text)| (*success, &**text)).map_err(|error| error.as_str());
            assert_eq!(found, expected, "{text}");
        };
        check("echo \"$1\"", 20_000, Ok((true, "query\n")));
        check("echo no >&2; exit 3", 20_000, Ok((false, "")));
        check("sleep 600 & wait", 300, Err("no answer within 300 ms"));
        check("trap '' TERM; while :; do :; done", 300, Err("no answer within 300 ms"));
        let gone = Qmd { program: "/nowhere/qmd".into(), limit: Duration::from_secs(1) };
        assert!(gone.run(&[]).unwrap_err().starts_with("/nowhere/qmd cannot be started"));
    }

    #[test]
    fn one_that_never_stops_talking_is_cut_off() {
        let scratch = tempfile::tempdir().unwrap();
        let said = script(scratch.path(), "yes", Duration::from_mins(1)).run(&[]).unwrap();
        assert_eq!((said.stdout.len() as u64, said.is_truncated), (CAP, true));
    }
}
