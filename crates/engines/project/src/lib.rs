//! The current state of a repository: git, GitHub if `gh` is available, and documents; linked work trees for
//! tasks; patches.
//!
//! Every program has a time limit and inherits nothing that could lead it to another repository. Anything
//! that cannot be determined is omitted and reported as a problem.

mod blame;
mod branch;
mod child;
mod docs;
mod git;
mod github;
mod head;
mod identity;
mod patch;
mod status;
mod worktree;

pub use blame::{BlamedLine, blame_line, commit_named};
pub use branch::branch_at;
pub use docs::ProjectDocs;
pub use git::{Commit, GitState, commits_between, recent_subjects};
pub use github::{Check, GitHubState, PullRequest};
pub use identity::{RepoIdentity, has_commit, identity};
pub use patch::{LineCounts, count_lines, patch};
pub use status::{ProjectStatus, Repo, branch, status, work_tree};
pub use worktree::{
    WorkTree, add_work_tree, is_own_work_tree, is_work_tree_name, remove_work_tree, unsaved_work,
};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How external programs are run.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// Where programs are looked up (`PATH`).
    pub search_path: OsString,
    /// Whether `gh` may be run.
    pub github: bool,
    /// Time limit of each git command.
    pub git_limit: Duration,
    /// Time limit for all of GitHub's answers together.
    pub github_limit: Duration,
}

impl ToolSettings {
    /// Default time limit of a git command.
    pub const GIT_LIMIT: Duration = Duration::from_secs(5);
}

/// A directory to query and how to run programs in it.
#[derive(Debug, Clone)]
pub struct RepoContext {
    /// The directory; an absolute path.
    pub directory: PathBuf,
    /// How external programs are run.
    pub tools: ToolSettings,
}
