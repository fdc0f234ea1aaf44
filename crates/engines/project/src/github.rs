//! What GitHub says, through `gh`, where that is there, logged in and quick; nothing else depends on it.

use serde::{Deserialize, Serialize};

use crate::RepoContext;
use crate::child::{Silence, ask, program};

/// Open pull requests and failing checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GitHubState {
    /// The newest open pull requests.
    pub open_prs: Vec<PullRequest>,
    /// The checks of this branch's pull request that failed.
    pub failing_checks: Vec<Check>,
}

/// An open pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// The branch it would merge.
    #[serde(rename(deserialize = "headRefName"))]
    pub branch: String,
    /// `OPEN`, as GitHub says it.
    pub state: String,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// `FAILURE` or another word for it, as GitHub says it.
    #[serde(rename(deserialize = "state"))]
    pub status: String,
}

/// What `gh pr list` and `gh pr checks` say; nothing where there is neither pull request nor failure.
pub(crate) fn github(context: &RepoContext) -> Result<Option<GitHubState>, String> {
    const LIST: [&str; 6] = ["pr", "list", "--json", "number,title,headRefName,state", "--limit", "5"];
    const CHECKS: [&str; 4] = ["pr", "checks", "--json", "name,state"];
    if !context.tools.github {
        return Ok(None);
    }
    let (list, checks) = std::thread::scope(|scope| {
        let checks = scope.spawn(|| gh(context, &CHECKS));
        (gh(context, &LIST), checks.join())
    });
    let Some(list) = list? else { return Ok(None) };
    let open_prs: Vec<PullRequest> =
        parsed(&list.bytes).ok_or_else(|| format!("`gh pr list` says: {}", or_nothing(&list.complaint)))?;
    // A branch without a pull request has no checks, and `gh` calls that a failure.
    let checks = checks.ok().and_then(Result::ok).flatten();
    let checks: Vec<Check> = checks.and_then(|answer| parsed(&answer.bytes)).unwrap_or_default();
    let failing_checks: Vec<Check> = checks.into_iter().filter(has_failed).collect();
    let is_empty = open_prs.is_empty() && failing_checks.is_empty();
    Ok((!is_empty).then_some(GitHubState { open_prs, failing_checks }))
}

fn gh(context: &RepoContext, arguments: &[&str]) -> Result<Option<crate::child::Answer>, String> {
    let asked = program(context, "gh").and_then(|mut gh| {
        gh.args(arguments);
        ask(gh, context.tools.github_limit)
    });
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(Silence::Missing) => Ok(None),
        Err(Silence::Late(limit)) => Err(format!("`gh` did not answer within {:.1} s", limit.as_secs_f64())),
        Err(Silence::Failed(error)) => Err(format!("`gh` cannot be run: {error}")),
    }
}

/// `gh pr checks` ends badly when a check failed, and prints its answer all the same.
fn parsed<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<Vec<T>> {
    serde_json::from_slice(bytes).ok()
}

fn has_failed(check: &Check) -> bool {
    matches!(check.status.as_str(), "FAILURE" | "ERROR" | "TIMED_OUT" | "STARTUP_FAILURE")
}

fn or_nothing(complaint: &str) -> &str {
    if complaint.is_empty() { "nothing that can be understood" } else { complaint }
}
