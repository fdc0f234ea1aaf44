//! A repository's state now: what git says, what GitHub says where `gh` is there, and which documents it has.
//!
//! Every program it asks has a time limit and inherits nothing that could lead it to another repository. What
//! could not be learned is left out and said.

mod branch;
mod child;
mod docs;
mod git;
mod github;
mod head;
mod status;
mod worktree;

pub use branch::branch_at;
pub use docs::ProjectDocs;
pub use git::{Commit, GitState, recent_subjects};
pub use github::{Check, GitHubState, PullRequest};
pub use status::{ProjectStatus, Repo, branch, status, work_tree};
pub use worktree::{WorkTree, add_work_tree, is_work_tree_name, remove_work_tree, unsaved_work};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How the programs are asked.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// Where they are looked for (`PATH`).
    pub search_path: OsString,
    /// Whether `gh` may be asked.
    pub github: bool,
    /// How long git may take for each answer.
    pub git_limit: Duration,
    /// How long GitHub's answers are waited for, all of them together.
    pub github_limit: Duration,
}

impl ToolSettings {
    /// How long git may take for one answer.
    pub const GIT_LIMIT: Duration = Duration::from_secs(5);
}

/// A directory whose repository is asked about.
#[derive(Debug, Clone)]
pub struct RepoContext {
    /// The directory.
    pub directory: PathBuf,
    /// How.
    pub tools: ToolSettings,
}
