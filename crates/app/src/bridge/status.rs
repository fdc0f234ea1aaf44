//! `openclaw_project_status`: the state of the worker's repository, in both shapes that OpenClaw's documents have.
//!
//! The nested fields are those of `ProjectStatus`, the flat ones those of OpenClaw's own bridge. `repo` and `docs` are in
//! both: `repo` is the nested one, and `docs` has the fields of both.

use std::path::PathBuf;

use jiff::Timestamp;
use model::Session;
use project::{Check, Commit, ProjectDocs, ProjectStatus, PullRequest, Repo};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bridge::Bridge;
use crate::bridge::sessions::{DiscoveredSession, of_repository};
use crate::repository::status::redact_project;
use crate::repository::target::RepoTarget;
use crate::{Context, Error};

/// How many of the newest sessions are listed.
const RECENT: usize = 5;
/// How many of the agent's own.
const OWN: usize = 3;

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeProjectStatus")]
pub struct Answer {
    /// Which repository it is.
    pub repo: RepoName,
    /// Its branch, commits and changes.
    pub git: Git,
    /// Its state on GitHub, where `gh` knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<GitHub>,
    /// The sessions that work or worked in it.
    pub sessions: Sessions,
    /// Which of the usual documents it has.
    pub docs: Docs,
    /// What could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The time of this answer.
    #[serde(serialize_with = "model::time")]
    pub timestamp: Timestamp,
    /// The same facts under the flat names that older bridges use.
    #[serde(flatten)]
    pub flat: FlatStatus,
}

/// The name of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeRepo")]
pub struct RepoName {
    /// The root of its work tree.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// The name of its folder.
    pub name: String,
    /// Whether it is a git repository.
    pub is_git_repo: bool,
}

/// The git state of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeGit")]
pub struct Git {
    /// The branch; empty for a detached head.
    pub current_branch: String,
    /// The hash of the newest commit; empty before the first one.
    pub head_commit_sha: String,
    /// The subject of the newest commit.
    pub head_commit_message: String,
    /// Paths that differ from the index.
    pub uncommitted_changes: Vec<String>,
    /// Paths whose staged content differs from the newest commit.
    pub staged_changes: Vec<String>,
    /// The number of stashes.
    pub stash_count: usize,
    /// The newest commits, newest first.
    pub recent_commits: Vec<Commit>,
}

/// The state of a repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeGitHub")]
pub struct GitHub {
    /// The newest open pull requests.
    pub open_prs: Vec<PullRequest>,
    /// Failing checks of the current branch's pull request.
    pub failing_checks: Vec<Check>,
}

/// The sessions of a repository that the agent may know of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeRepoSessions")]
pub struct Sessions {
    /// Those that a live process holds.
    pub active: Vec<DiscoveredSession>,
    /// The newest sessions, whoever started them.
    pub recent: Vec<DiscoveredSession>,
    /// The newest of the agent itself.
    pub own_recent: Vec<DiscoveredSession>,
}

/// The documents of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "OpenClaw has these fields")]
#[schemars(rename = "BridgeDocs")]
pub struct Docs {
    /// Whether there is a `CLAUDE.md`.
    pub has_claude_md: bool,
    /// Whether there are specifications.
    pub has_specs: bool,
    /// The paths of the specifications.
    pub spec_files: Vec<String>,
    /// Whether there is a `TODO.md`.
    pub has_todo: bool,
    /// Whether there is a `README`.
    pub has_readme: bool,
    /// The same as `hasClaudeMd`.
    pub claude_md: bool,
    /// The same as `specFiles`.
    pub specs: Vec<String>,
    /// The same as `hasTodo`.
    pub todo: bool,
}

/// The fields that OpenClaw's own bridge has at the top.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BridgeFlatStatus")]
pub struct FlatStatus {
    /// The branch; empty for a detached head.
    pub branch: String,
    /// The hash of the newest commit.
    pub head_commit: String,
    /// Paths that differ from the index.
    pub uncommitted_changes: Vec<String>,
    /// Paths whose staged content differs from the newest commit.
    pub staged_changes: Vec<String>,
    /// The number of stashes.
    pub stash_count: usize,
    /// The newest commits, newest first.
    pub recent_commits: Vec<Commit>,
    /// Sessions that a live process holds.
    pub active_sessions: Vec<DiscoveredSession>,
    /// The newest sessions, whoever started them.
    pub recent_sessions: Vec<DiscoveredSession>,
    /// The newest open pull requests.
    pub open_prs: Vec<PullRequest>,
}

/// The state of the worker's repository.
pub fn project_status(context: &Context, bridge: &Bridge) -> Result<Answer, Error> {
    let place =
        RepoTarget { directory: bridge.directory.clone(), root: bridge.directory.clone() }.place(context);
    let (mut project, sessions) = system::join(|| project::status(&place), || of_repository(context, bridge));
    redact_project(context, &mut project);
    Ok(answer(context, bridge, project, sessions?))
}

fn answer(context: &Context, bridge: &Bridge, project: ProjectStatus, mut all: Vec<Session>) -> Answer {
    all.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
    let some = |which: &dyn Fn(&&Session) -> bool, most: usize| -> Vec<DiscoveredSession> {
        all.iter().filter(which).take(most).map(DiscoveredSession::from).collect()
    };
    let sessions = Sessions {
        active: some(&|session| session.is_running, usize::MAX),
        recent: some(&|_| true, RECENT),
        own_recent: some(&|session| session.origin.agent() == Some(&bridge.agent), OWN),
    };
    let ProjectStatus { repo, git, github, docs, problems } = project;
    let github =
        github.map(|github| GitHub { open_prs: github.open_prs, failing_checks: github.failing_checks });
    let git = Git {
        current_branch: git.current_branch.unwrap_or_default(),
        head_commit_sha: git.head_commit_sha.unwrap_or_default(),
        head_commit_message: git.head_commit_message.unwrap_or_default(),
        uncommitted_changes: git.uncommitted_changes,
        staged_changes: git.staged_changes,
        stash_count: git.stash_count,
        recent_commits: git.recent_commits,
    };
    Answer {
        flat: FlatStatus::of(&git, github.as_ref(), &sessions),
        repo: RepoName::from(repo),
        git,
        github,
        sessions,
        docs: Docs::from(docs),
        problems,
        timestamp: context.now,
    }
}

impl FlatStatus {
    fn of(git: &Git, github: Option<&GitHub>, sessions: &Sessions) -> Self {
        let Git { uncommitted_changes, staged_changes, stash_count, recent_commits, .. } = git.clone();
        Self {
            branch: git.current_branch.clone(),
            head_commit: git.head_commit_sha.clone(),
            uncommitted_changes,
            staged_changes,
            stash_count,
            recent_commits,
            active_sessions: sessions.active.clone(),
            recent_sessions: sessions.recent.clone(),
            open_prs: github.map(|github| github.open_prs.clone()).unwrap_or_default(),
        }
    }
}

impl From<Repo> for RepoName {
    fn from(repo: Repo) -> Self {
        Self { path: repo.path, name: repo.name, is_git_repo: repo.is_git_repo }
    }
}

impl From<ProjectDocs> for Docs {
    fn from(docs: ProjectDocs) -> Self {
        let specs: Vec<String> = docs.spec_files.iter().map(|path| path.display().to_string()).collect();
        Self {
            has_claude_md: docs.has_claude_md,
            has_specs: docs.has_specs,
            spec_files: specs.clone(),
            has_todo: docs.has_todo,
            has_readme: docs.has_readme,
            claude_md: docs.has_claude_md,
            specs,
            todo: docs.has_todo,
        }
    }
}
