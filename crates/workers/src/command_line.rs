//! The flags we give `claude`, and the environment it does not inherit.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use model::SessionId;

use crate::shell::quoted;

/// What a `claude` that runs Backstory tells its children about itself. A `claude` started from inside must
/// not take it for its own: 2.1.59 refuses to start, others join the wrong session.
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

/// How a conversation begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The session goes on in its own file.
    Resume(SessionId),
    /// A copy of the session goes on under an id of its own.
    Fork {
        /// The session that is copied.
        from: SessionId,
        /// The copy's id, where it has to be known before; a UUID.
        to: Option<SessionId>,
    },
}

/// A `claude` that is ready to be run.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The program.
    pub program: PathBuf,
    /// The program's name as a person would type it.
    pub name: OsString,
    /// Where it runs.
    pub directory: PathBuf,
    /// Claude Code's config folder, where it is not the usual one.
    pub config_folder: Option<PathBuf>,
    /// How it begins.
    pub start: Start,
    /// What the person passes on to it.
    pub extra: Vec<OsString>,
}

impl CommandLine {
    /// Becomes `claude`, which takes over the terminal; comes back only when that fails.
    pub fn exec(&self) -> io::Error {
        self.command().exec()
    }

    /// The line a person would type for it.
    pub fn for_a_shell(&self) -> String {
        let mut words = vec!["cd".to_owned(), quoted(self.directory.as_os_str()), "&&".to_owned()];
        if let Some(folder) = &self.config_folder {
            words.push(format!("{CONFIG_DIR}={}", quoted(folder.as_os_str())));
        }
        words.push(quoted(&self.name));
        words.extend(self.arguments().iter().map(quoted));
        words.join(" ")
    }

    /// The process as it will be started.
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

    /// An id is given as `--resume=<id>`, so that nothing in it is ever taken for another flag.
    fn arguments(&self) -> Vec<OsString> {
        let ours = match &self.start {
            Start::Resume(id) => vec![format!("--resume={id}")],
            Start::Fork { from, to } => {
                let mut ours = vec![format!("--resume={from}"), "--fork-session".to_owned()];
                ours.extend(to.iter().map(|id| format!("--session-id={id}")));
                ours
            }
        };
        ours.into_iter().map(OsString::from).chain(self.extra.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(start: Start) -> CommandLine {
        CommandLine {
            program: "/opt/claude/bin/claude".into(),
            name: "claude".into(),
            directory: "/home/ana/my shop".into(),
            config_folder: None,
            start,
            extra: Vec::new(),
        }
    }

    fn id(text: &str) -> SessionId {
        text.parse().unwrap()
    }

    #[test]
    fn a_person_could_type_it() {
        let check = |line: CommandLine, expected: &str| assert_eq!(line.for_a_shell(), expected);
        check(line(Start::Resume(id("a1"))), "cd '/home/ana/my shop' && claude --resume=a1");
        check(
            line(Start::Fork { from: id("a1"), to: None }),
            "cd '/home/ana/my shop' && claude --resume=a1 --fork-session",
        );
        check(
            CommandLine {
                config_folder: Some("/x y".into()),
                extra: vec!["-p".into(), "what now?".into()],
                ..line(Start::Fork { from: id("a1"), to: Some(id("b2")) })
            },
            "cd '/home/ana/my shop' && CLAUDE_CONFIG_DIR='/x y' claude --resume=a1 --fork-session \
             --session-id=b2 -p 'what now?'",
        );
    }

    #[test]
    fn a_claude_around_us_is_not_passed_on() {
        let command = line(Start::Resume(id("a1"))).command();
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
