//! A connection to Claude Code: its config folders and program, for the requests made through it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::SessionId;

use crate::{App, Config, Context};

impl Context {
    /// The same request where more of Claude Code's config folders are read, and another `claude` is started if one is
    /// named. Workers in processes of their own are given both.
    #[must_use]
    pub fn with_claude_code(&self, folders: &[PathBuf], program: Option<&Path>) -> Self {
        let mut config: Config = self.config().clone();
        for folder in folders {
            if !config.claude_folders.contains(folder) {
                config.claude_folders.push(folder.clone());
                config.settings.claude.folders.push(folder.clone());
            }
        }
        // A path that a variable cannot hold beside others is read here, but not by workers.
        if let Ok(joined) = env::join_paths(&config.settings.claude.folders)
            && !joined.is_empty()
        {
            config.for_workers.insert("BACKSTORY_CLAUDE_FOLDERS".to_owned(), joined);
        }
        if let Some(program) = program {
            program.clone_into(&mut config.settings.claude.binary);
            config.for_workers.insert("BACKSTORY_CLAUDE_BINARY".to_owned(), OsString::from(program));
        }
        Self { app: Arc::new(App { config, ..App::clone(&self.app) }), ..self.clone() }
    }

    /// The transcript of a session, found by its name.
    pub fn transcript_of(&self, session: &SessionId) -> Option<PathBuf> {
        catalog::transcript_of(&self.config().places(), session)
    }

    /// A path that a person typed where there is no shell: `~/` is the home folder.
    pub fn typed_path(&self, typed: impl AsRef<Path>) -> PathBuf {
        let typed = typed.as_ref();
        typed.strip_prefix("~").map_or_else(|_| self.path(typed), |rest| self.config().home.join(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    #[test]
    fn folders_and_a_program_are_added_once_and_passed_to_workers() {
        let config =
            Config { home: "/h".into(), claude_folders: vec!["/h/.claude".into()], ..Config::default() };
        let before = context(config);
        let folders = ["/h/.claude".into(), "/x".into()];
        let after = before.with_claude_code(&folders, Some(Path::new("/bin/claude")));
        assert_eq!(after.config().claude_folders, ["/h/.claude", "/x"].map(Path::new));
        assert_eq!(after.config().settings.claude.binary, Path::new("/bin/claude"));
        let handed: Vec<String> = after
            .config()
            .for_workers
            .iter()
            .map(|(name, value)| format!("{name}={}", value.display()))
            .collect();
        assert_eq!(handed, ["BACKSTORY_CLAUDE_BINARY=/bin/claude", "BACKSTORY_CLAUDE_FOLDERS=/x"]);
        assert!(before.with_claude_code(&[], None).config().for_workers.is_empty());
        let typed = ["~", "~/a", "~a"].map(|text| after.typed_path(text));
        assert_eq!(typed[..2], ["/h", "/h/a"].map(PathBuf::from));
        assert!(typed[2].ends_with("~a"));
    }
}
