//! Gathers the whole state of a repository in parallel.

use std::path::{Path, PathBuf};
use std::thread;

use schemars::JsonSchema;
use serde::Serialize;

use crate::child::line;
use crate::git::{self, GitChanges, GitState, git};
use crate::{GitHubState, ProjectDocs, RepoContext, github};

/// The state of a repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProjectStatus {
    /// The repository.
    pub repo: Repo,
    /// State of the git repository.
    pub git: GitState,
    /// State on GitHub, if available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<GitHubState>,
    /// Documents found.
    pub docs: ProjectDocs,
    /// Messages about what could not be determined.
    pub problems: Vec<String>,
}

/// A repository, or a directory outside any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Repo {
    /// Root of the work tree, else the directory.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Name of the main repository's folder.
    pub name: String,
    /// Whether this is a git repository.
    pub is_git_repo: bool,
}

/// Returns the state of the repository that contains the directory; failures are listed as problems.
pub fn status(context: &RepoContext) -> ProjectStatus {
    let mut problems = Vec::new();
    let mut keep = |why: String| {
        if !problems.contains(&why) {
            problems.push(why);
        }
    };
    let (branch, commits, changes, stashes, github, root, main) = thread::scope(|scope| {
        let branch = scope.spawn(|| git::branch(context));
        let commits = scope.spawn(|| git::commits(context));
        let changes = scope.spawn(|| git::changes(context));
        let stashes = scope.spawn(|| git::stashes(context));
        let github = scope.spawn(|| github::github(context));
        let root = scope.spawn(|| top_level(context));
        let main = common_folder(context);
        // A thread that panicked has no result.
        (
            branch.join().unwrap_or(Ok(None)),
            commits.join().unwrap_or(Ok(Vec::new())),
            changes.join().unwrap_or(Ok(GitChanges::default())),
            stashes.join().unwrap_or(Ok(0)),
            github.join().unwrap_or(Ok(None)),
            root.join().unwrap_or(None),
            main,
        )
    });
    let common = main.unwrap_or_else(|why| {
        keep(why);
        None
    });
    let is_git_repo = common.is_some();
    let path = root.unwrap_or_else(|| context.directory.clone());
    let name = name(common.as_deref(), &path);
    let repo = Repo { path, name, is_git_repo };
    let docs = ProjectDocs::find(&repo.path);
    if !is_git_repo {
        return ProjectStatus { repo, docs, problems, ..ProjectStatus::default() };
    }
    let recent_commits = commits.unwrap_or_else(|why| {
        keep(why);
        Vec::new()
    });
    let changes = changes.unwrap_or_else(|why| {
        keep(why);
        GitChanges::default()
    });
    let head = recent_commits.first();
    let git = GitState {
        current_branch: branch.unwrap_or_else(|why| {
            keep(why);
            None
        }),
        head_commit_sha: head.map(|commit| commit.sha.clone()),
        head_commit_message: head.map(|commit| commit.message.clone()),
        uncommitted_changes: changes.uncommitted,
        staged_changes: changes.staged,
        stash_count: stashes.unwrap_or_else(|why| {
            keep(why);
            0
        }),
        recent_commits,
    };
    let github = github.unwrap_or_else(|why| {
        keep(why);
        None
    });
    ProjectStatus { repo, git, github, docs, problems }
}

/// The checked-out branch; `None` for a detached head, outside a repository or if git fails.
pub fn branch(context: &RepoContext) -> Option<String> {
    git::branch(context).ok().flatten()
}

/// Root of the work tree that contains the directory, else the directory itself.
pub fn work_tree(context: &RepoContext) -> PathBuf {
    top_level(context).unwrap_or_else(|| context.directory.clone())
}

fn top_level(context: &RepoContext) -> Option<PathBuf> {
    let answer = git(context, &["rev-parse", "--show-toplevel"]).ok()?;
    line(&answer).filter(|line| !line.is_empty()).map(PathBuf::from)
}

/// The folder shared by all work trees of a repository; `None` outside a repository.
fn common_folder(context: &RepoContext) -> Result<Option<PathBuf>, String> {
    let answer = git(context, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    Ok(line(&answer).map(PathBuf::from))
}

fn name(common: Option<&Path>, path: &Path) -> String {
    let is_usual = common.and_then(Path::file_name).is_some_and(|name| name == ".git");
    let main = if is_usual { common.and_then(Path::parent) } else { None };
    // A submodule's git folder is in the repository around it: its name is that of its own folder.
    let named = main.unwrap_or(path).file_name();
    named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
