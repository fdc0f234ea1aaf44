//! The flags passed to `claude` and the environment variables it does not inherit.
//!
//! `claude` runs either on the user's terminal ([`CommandLine`]) or as a worker that communicates through
//! pipes ([`worker_command`]).

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::quoted;
use crate::{PermissionMode, Program, Release, SessionStart, WorkerSpec};

/// Variables that a running `claude` sets for its children. A `claude` started from inside must not take them
/// for its own: 2.1.59 refuses to start, others join the wrong session.
pub(crate) const NOT_INHERITED: [&str; 11] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_PID",
    "CLAUDE_ENV_FILE",
    "AI_AGENT",
];
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Environment variable that marks the processes of a worker, so that a lost one can be found. A Backstory
/// that runs workers must not carry another worker's mark itself.
pub const MARK_VARIABLE: &str = "BACKSTORY_WORKER";

/// An argument that shells read differently, however it is quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` holds a control character, an invisible sign or bytes that are no text, which shells read differently",
    word.to_string_lossy()
)]
pub struct UnquotableWord {
    /// The argument that cannot be quoted.
    pub word: OsString,
}

/// A `claude` command, ready to run on the user's terminal.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// Path of the program.
    pub program: PathBuf,
    /// Name of the program as the user would type it.
    pub name: OsString,
    /// Working directory.
    pub directory: PathBuf,
    /// Claude Code's config folder, unless it is the default one.
    pub config_folder: Option<PathBuf>,
    /// What it is started for.
    pub task: ClaudeTask,
    /// Additional arguments from the user.
    pub extra: Vec<OsString>,
}

/// What a `claude` on the user's terminal is started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeTask {
    /// To hold a session.
    Session(SessionStart),
    /// To open the background job with this id.
    AttachJob(String),
    /// To stop the background job with this id.
    StopJob(String),
}

impl ClaudeTask {
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Session(start) => start.arguments(),
            Self::AttachJob(id) => vec!["attach".to_owned(), id.clone()],
            Self::StopJob(id) => vec!["stop".to_owned(), id.clone()],
        }
    }
}

impl CommandLine {
    /// The command as the user would type it in any shell.
    pub fn to_shell(&self) -> Result<String, UnquotableWord> {
        let quoted = |word: &OsStr| quoted(word).ok_or_else(|| UnquotableWord { word: word.to_owned() });
        // `cd -` would go elsewhere; an absolute path stays as it is.
        let directory = Path::new(".").join(&self.directory);
        let mut words = vec!["cd".to_owned(), quoted(directory.as_os_str())?, "&&".to_owned()];
        if let Some(folder) = &self.config_folder {
            words.push(format!("{CONFIG_DIR}={}", quoted(folder.as_os_str())?));
        }
        words.push(quoted(&self.name)?);
        for argument in self.arguments() {
            words.push(quoted(&argument)?);
        }
        Ok(words.join(" "))
    }

    /// The process to start.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.arguments()).current_dir(&self.directory);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        match &self.config_folder {
            Some(folder) => command.env(CONFIG_DIR, folder),
            None => command.env_remove(CONFIG_DIR),
        };
        command
    }

    /// All arguments. Ids are given as `--resume=<id>`, so that an id is never taken for a flag.
    fn arguments(&self) -> Vec<OsString> {
        self.task.arguments().into_iter().map(OsString::from).chain(self.extra.iter().cloned()).collect()
    }
}

impl SessionStart {
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Fresh(id) => vec![format!("--session-id={id}")],
            Self::Resume(id) => vec![format!("--resume={id}")],
            Self::Fork { from, to } => {
                let mut ours = vec![format!("--resume={from}"), "--fork-session".to_owned()];
                ours.extend(to.iter().map(|id| format!("--session-id={id}")));
                ours
            }
        }
    }
}

/// The process of a worker. `mark` identifies the worker; `budget` is what is left of the session's budget in
/// US dollars.
pub(crate) fn worker_command(
    spec: &WorkerSpec,
    program: &Program,
    release: Release,
    mark: &str,
    budget: Option<f64>,
) -> Command {
    let mut command = Command::new(&program.path);
    command.args(["-p", "--verbose", "--input-format=stream-json", "--output-format=stream-json"]);
    command.args(["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool=stdio"]);
    command.args(worker_arguments(spec, release, budget)).current_dir(&spec.directory);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    match &spec.config_folder {
        Some(folder) => command.env(CONFIG_DIR, folder),
        None => command.env_remove(CONFIG_DIR),
    };
    command.env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1").env(MARK_VARIABLE, mark);
    command.envs(&spec.options.environment);
    // Its own group, so that what it starts ends with it, and a Ctrl-C at the terminal reaches only us.
    command.process_group(0);
    command
}

/// Appends a flag followed by its values, unless there are none.
fn follow<'a>(all: &mut Vec<OsString>, name: &str, words: impl Iterator<Item = &'a OsStr>) {
    let words: Vec<_> = words.map(OsStr::to_owned).collect();
    if !words.is_empty() {
        all.push(name.into());
        all.extend(words);
    }
}

/// Options as `--name=value` where possible, so that no value is taken for a flag and no list swallows the
/// next argument.
fn worker_arguments(spec: &WorkerSpec, release: Release, budget: Option<f64>) -> Vec<OsString> {
    let mut all: Vec<OsString> = spec.start.arguments().into_iter().map(OsString::from).collect();
    let mut give = |name: &str, value: &OsStr| {
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        all.push(word);
    };
    let texts = [
        ("--model", &spec.options.model),
        ("--effort", &spec.options.effort),
        ("--agent", &spec.options.agent_definition),
        ("--name", &spec.options.name),
        ("--settings", &spec.options.settings),
        ("--system-prompt", &spec.options.system_prompt),
        ("--append-system-prompt", &spec.options.append_system_prompt),
    ];
    for (name, value) in texts {
        if let Some(value) = value {
            give(name, value.as_ref());
        }
    }
    // If a flag is repeated, 2.1.100 uses only the last one, so rules are joined with commas.
    let rules = [
        ("--allowedTools", &spec.options.allowed_tools),
        ("--disallowedTools", &spec.options.disallowed_tools),
    ];
    for (name, rules) in rules.into_iter().filter(|(_, rules)| !rules.is_empty()) {
        give(name, rules.join(",").as_ref());
    }
    if spec.options.permission_mode != PermissionMode::Default {
        give("--permission-mode", spec.options.permission_mode.as_str().as_ref());
    }
    if let Some(budget) = budget {
        give("--max-budget-usd", format!("{budget:.6}").as_ref());
    }
    // A resumed session keeps its original prompt unless this flag is given.
    let prompt_changes = spec.options.append_system_prompt.is_some() || spec.options.system_prompt.is_some();
    let goes_on = !matches!(spec.start, SessionStart::Fresh(_));
    if prompt_changes && goes_on && release.keeps_system_prompt() {
        give("--system-prompt-snapshot", "off".as_ref());
    }
    if spec.options.strict_mcp_config {
        all.push("--strict-mcp-config".into());
    }
    all.extend(spec.options.flags.iter().map(OsString::from));
    // These follow their flag for the same reason; `WorkerSpec::validation_error` ensures that none looks like a flag.
    let directories = spec.options.add_directories.iter().map(|directory| directory.as_os_str());
    let servers = spec.options.mcp_config.iter().map(AsRef::as_ref);
    follow(&mut all, "--add-dir", directories);
    follow(&mut all, "--mcp-config", servers);
    all
}

#[cfg(test)]
mod tests {
    use model::SessionId;

    use super::*;
    use crate::WorkerOptions;

    fn line(start: SessionStart) -> CommandLine {
        CommandLine {
            program: "/opt/claude/bin/claude".into(),
            name: "claude".into(),
            directory: "/home/ana/my shop".into(),
            config_folder: None,
            task: ClaudeTask::Session(start),
            extra: Vec::new(),
        }
    }

    fn id(text: &str) -> SessionId {
        text.parse().unwrap()
    }

    #[test]
    fn the_printed_command_can_be_typed() {
        let check = |line: CommandLine, expected: &str| assert_eq!(line.to_shell().unwrap(), expected);
        check(line(SessionStart::Resume(id("a1"))), "cd '/home/ana/my shop' && claude --resume=a1");
        check(
            line(SessionStart::Fork { from: id("a1"), to: None }),
            "cd '/home/ana/my shop' && claude --resume=a1 --fork-session",
        );
        check(
            CommandLine {
                config_folder: Some("/x y".into()),
                extra: vec!["-p".into(), "what now?".into()],
                ..line(SessionStart::Fork { from: id("a1"), to: Some(id("b2")) })
            },
            "cd '/home/ana/my shop' && CLAUDE_CONFIG_DIR='/x y' claude --resume=a1 --fork-session \
             --session-id=b2 -p 'what now?'",
        );
        let attach = ClaudeTask::AttachJob("6dc62884".to_owned());
        check(
            CommandLine { task: attach, ..line(SessionStart::Resume(id("a1"))) },
            "cd '/home/ana/my shop' && claude attach 6dc62884",
        );
    }

    #[test]
    fn every_option_of_a_worker_has_its_flag() {
        let options = WorkerOptions {
            model: Some("opus".into()),
            effort: Some("high".into()),
            agent_definition: Some("reviewer".into()),
            name: Some("The tour".into()),
            settings: Some("{}".into()),
            system_prompt: Some("--not-a-flag".into()),
            append_system_prompt: Some("More.".into()),
            allowed_tools: vec!["Bash(git *)".into(), "Edit".into()],
            disallowed_tools: vec!["Write".into()],
            mcp_config: vec!["a.json".into()],
            add_directories: vec!["/b".into()],
            permission_mode: PermissionMode::Plan,
            strict_mcp_config: true,
            flags: vec!["--fallback-model".into(), "haiku".into()],
            ..WorkerOptions::default()
        };
        let plain = WorkerSpec::new(SessionStart::Resume(id("a1")), "/p".into(), "Go on.".into());
        let spec = WorkerSpec { options, ..plain };
        let words = |spec: &WorkerSpec, release: &str, budget| -> Vec<String> {
            let all = worker_arguments(spec, release.parse().unwrap(), budget);
            all.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        let expected = [
            "--resume=a1",
            "--model=opus",
            "--effort=high",
            "--agent=reviewer",
            "--name=The tour",
            "--settings={}",
            "--system-prompt=--not-a-flag",
            "--append-system-prompt=More.",
            "--allowedTools=Bash(git *),Edit",
            "--disallowedTools=Write",
            "--permission-mode=plan",
            "--max-budget-usd=0.500000",
            "--system-prompt-snapshot=off",
            "--strict-mcp-config",
            "--fallback-model",
            "haiku",
            "--add-dir",
            "/b",
            "--mcp-config",
            "a.json",
        ];
        assert_eq!(words(&spec, "2.1.329", Some(0.5)), expected);
        // An older release has no snapshot to turn off, and a new session none to keep.
        let has_snapshot = |spec: &WorkerSpec, release: &str| {
            words(spec, release, None).iter().any(|word| word.starts_with("--system-prompt-snapshot"))
        };
        assert!(!has_snapshot(&spec, "2.1.100"));
        let fresh = WorkerSpec { start: SessionStart::Fresh(id("b2")), ..spec };
        assert!(!has_snapshot(&fresh, "2.1.329"));
        let plain = WorkerSpec::new(SessionStart::Fresh(id("b2")), "/p".into(), "Go on.".into());
        assert_eq!(words(&plain, "2.1.329", None), ["--session-id=b2"]);
    }

    #[test]
    fn variables_of_an_outer_claude_are_not_inherited() {
        let command = line(SessionStart::Resume(id("a1"))).command();
        let removed: Vec<_> = command
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        for name in NOT_INHERITED.iter().chain(&[CONFIG_DIR]) {
            assert!(removed.iter().any(|found| found == name), "{name} is passed on");
        }
    }
}
