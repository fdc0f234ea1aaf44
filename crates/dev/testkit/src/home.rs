//! A temporary folder that plays a person's home, and the only environment a tested program is given.
//! Nothing of the real home or of the caller's environment reaches a child process.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::ProjectSlug;
use tempfile::TempDir;

use crate::PATIENCE;

/// A home of its own for one test; removed when dropped.
pub struct ScratchHome {
    _folder: TempDir,
    path: PathBuf,
    config_dir: Option<PathBuf>,
}

impl Default for ScratchHome {
    fn default() -> Self {
        Self::new()
    }
}

impl ScratchHome {
    /// An empty home with a `.claude` folder and a `bin` that comes first in `PATH`.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("home-").tempdir().expect("a temporary folder");
        // Claude Code names a project's folder by its physical path.
        let path = folder.path().canonicalize().expect("the folder just made");
        let home = Self { _folder: folder, path, config_dir: None };
        home.dir("bin");
        home.dir(".claude/projects");
        home
    }

    /// The same home with its config folder elsewhere, named to children by `CLAUDE_CONFIG_DIR`.
    #[must_use]
    pub fn with_config_dir(mut self, name: &str) -> Self {
        self.config_dir = Some(self.dir(name));
        self
    }

    /// The home's physical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claude Code's config folder.
    pub fn config_dir(&self) -> PathBuf {
        self.config_dir.clone().unwrap_or_else(|| self.path.join(".claude"))
    }

    /// Where Backstory keeps its own files (`BACKSTORY_HOME`).
    pub fn state_dir(&self) -> PathBuf {
        self.path.join(".backstory")
    }

    /// The folder that holds the transcripts of sessions started in `cwd`.
    pub fn project_folder(&self, cwd: &Path) -> PathBuf {
        let slug = ProjectSlug::from_path(&cwd.to_string_lossy());
        self.config_dir().join("projects").join(slug.as_str())
    }

    /// Every session's transcript, sorted by path; sub-agents' files are not among them.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let mut found: Vec<_> = children(&self.config_dir().join("projects"))
            .iter()
            .flat_map(|folder| children(folder))
            .filter(|path| path.extension() == Some(OsStr::new("jsonl")) && !is_subagent(path))
            .collect();
        found.sort();
        found
    }

    /// A directory under the home, made when missing.
    pub fn dir(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).expect("a directory in the scratch home");
        path
    }

    /// Writes a file under the home with the folders it needs.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder for the file");
        fs::write(&path, content).expect("a file in the scratch home");
        path
    }

    /// A command that sees this home and nothing of the caller's environment, started in the home.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(&self.path);
        command
    }

    /// The whole environment of a child process.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut all = vec![
            ("PATH", self.search_path()),
            ("HOME", self.path.clone().into()),
            ("TMPDIR", self.dir(".tmp").into()),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("TERM", "xterm-256color".into()),
            ("BACKSTORY_HOME", self.state_dir().into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            // Nothing goes on behind a test in a folder that it takes away.
            ("BACKSTORY_EMBEDDING_EXCERPTS", "off".into()),
        ];
        all.extend(patient_limits());
        all.extend(self.config_dir.iter().map(|dir| ("CLAUDE_CONFIG_DIR", dir.clone().into())));
        all
    }

    fn search_path(&self) -> OsString {
        let ours = std::iter::once(self.path.join("bin"));
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(ours.chain(std::env::split_paths(&inherited))).expect("a plain PATH")
    }
}

/// How long Backstory waits for other programs and for itself: how busy the machine is, is what no test is about. One about
/// a limit sets it in the environment, which comes before the settings' file.
fn patient_limits() -> [(&'static str, OsString); 7] {
    let (seconds, milliseconds) = (PATIENCE.as_secs().to_string(), PATIENCE.as_millis().to_string());
    [
        ("BACKSTORY_SEARCH_BUDGET_SECONDS", seconds.clone().into()),
        ("BACKSTORY_SEARCH_FIRST_BUDGET_SECONDS", seconds.clone().into()),
        ("BACKSTORY_WORKERS_START_SECONDS", seconds.into()),
        ("BACKSTORY_EMBEDDING_QUESTION_TIMEOUT_MS", milliseconds.clone().into()),
        ("BACKSTORY_FORK_QMD_TIMEOUT_MS", milliseconds.clone().into()),
        ("BACKSTORY_PROJECT_GITHUB_TIMEOUT_MS", milliseconds.clone().into()),
        ("BACKSTORY_SELECTION_RELEVANCE_TIMEOUT_MS", milliseconds.into()),
    ]
}

fn children(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |all| all.flatten().map(|entry| entry.path()).collect())
}

fn is_subagent(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
}
