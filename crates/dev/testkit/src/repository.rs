//! Real git repositories made by real git, with a fixed author and fixed dates so that a commit made twice
//! has the same hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ScratchHome;

/// The author's date of every commit.
const DATE: &str = "2026-01-02T03:04:05Z";

/// A git repository in a scratch home.
pub struct Repository<'home> {
    home: &'home ScratchHome,
    path: PathBuf,
}

impl ScratchHome {
    /// A real git repository under the home, with one commit on `main`.
    pub fn repository(&self, name: &str) -> Repository<'_> {
        Repository::init(self, self.dir(name))
    }
}

impl<'home> Repository<'home> {
    fn init(home: &'home ScratchHome, path: PathBuf) -> Self {
        let new = Self { home, path };
        new.git(["init", "--quiet", "--initial-branch=main"]);
        new.commit("README.md", "A project for tests.\n", "First commit");
        new
    }

    /// The work tree's root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file and commits it; answers the commit's hash.
    pub fn commit(&self, file: &str, content: &str, subject: &str) -> String {
        let path = self.path.join(file);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder for the file");
        fs::write(&path, content).expect("a file in the repository");
        self.git(["add", "--", file]);
        self.git(["commit", "--quiet", "-m", subject]);
        self.git(["rev-parse", "HEAD"])
    }

    /// Makes a branch at the current commit and switches to it.
    pub fn branch(&self, name: &str) {
        self.git(["switch", "--quiet", "--create", name]);
    }

    /// A linked work tree on a new branch, beside the repository.
    pub fn worktree(&self, branch: &str) -> PathBuf {
        let name = format!("{}-{}", self.path.to_string_lossy(), branch.replace('/', "-"));
        self.git(["worktree", "add", "--quiet", "-b", branch, &name]);
        PathBuf::from(name)
    }

    /// Runs git here and answers what it printed, without the last newline.
    pub fn git<const N: usize>(&self, arguments: [&str; N]) -> String {
        let output = self.command().args(arguments).output().expect("git, which scripts/test installs");
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?} failed: {problem}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn command(&self) -> Command {
        let mut git = self.home.command("git");
        git.current_dir(&self.path)
            .envs([("GIT_AUTHOR_NAME", "Ana Tester"), ("GIT_AUTHOR_EMAIL", "ana@example.com")])
            .envs([("GIT_COMMITTER_NAME", "Ana Tester"), ("GIT_COMMITTER_EMAIL", "ana@example.com")])
            .envs([("GIT_AUTHOR_DATE", DATE), ("GIT_COMMITTER_DATE", DATE)]);
        git
    }
}
