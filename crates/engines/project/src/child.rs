//! Runs git or gh once, with an environment that cannot lead it to another repository, bounded in time and output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;
use std::time::Duration;

use system::{CommandError, CommandLimits, CommandOutput, run_command};

use crate::RepoContext;

/// How much output is read, in bytes; longer output is cut off and reported.
const CAP: u64 = 8 << 20;
/// How much of the error output is read, in bytes.
const STDERR_CAP: u64 = 4 << 10;

/// Variables that would make git look at another repository, or write where it is only asked.
const NOT_INHERITED: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_TRACE",
    "GH_REPO",
];

/// Whether a program succeeded: it exited with status 0, or was killed because it printed more than is read.
pub(crate) fn has_succeeded(output: &CommandOutput) -> bool {
    output.status.success() || output.is_truncated
}

/// The standard output of a program that succeeded, as one line of text.
pub(crate) fn line(output: &CommandOutput) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    has_succeeded(output).then(|| text.trim_end_matches('\n').to_owned())
}

/// The first line of a program's standard error.
pub(crate) fn first_error_line(output: &CommandOutput) -> String {
    String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned()
}

/// A command for a program in the context's directory, with an environment that cannot lead it elsewhere.
pub(crate) fn program(context: &RepoContext, name: &str) -> Result<Command, CommandError> {
    if !context.directory.is_absolute() {
        let why = format!("{} is no absolute path", context.directory.display());
        return Err(CommandError::Failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let search_path = search_path(&context.tools.search_path)
        .ok_or_else(|| CommandError::NotFound(io::ErrorKind::NotFound.into()))?;
    let mut command = Command::new(name);
    command.current_dir(&context.directory).env("PATH", search_path);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    command.envs([
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("LC_ALL", "C"),
        ("GH_PROMPT_DISABLED", "1"),
        ("GH_NO_UPDATE_NOTIFIER", "1"),
        ("NO_COLOR", "1"),
    ]);
    Ok(command)
}

/// Where programs are looked for: an empty or relative entry would be a folder of the repository.
fn search_path(path: &OsStr) -> Option<OsString> {
    let absolute = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(absolute).ok().filter(|path| !path.is_empty())
}

/// Runs a program made by [`program`] within a time limit.
pub(crate) fn ask(command: Command, limit: Duration) -> Result<CommandOutput, CommandError> {
    run_command(command, None, CommandLimits { time: limit, stdout: CAP, stderr: STDERR_CAP })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_not_looked_up_in_the_repository() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(search_path(path.as_ref()).as_deref(), expected.map(OsStr::new), "{path}");
        };
        check("/usr/bin:/bin", Some("/usr/bin:/bin"));
        check(":/usr/bin::.:bin:../x:/bin:", Some("/usr/bin:/bin"));
        check(".", None);
        check("", None);
    }
}
