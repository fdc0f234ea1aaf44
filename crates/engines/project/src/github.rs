//! Queries GitHub through `gh` if it is installed, logged in and responds in time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{CommandError, CommandOutput};

use crate::RepoContext;
use crate::child::{ask, first_error_line, program};

/// Open pull requests and failing checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GitHubState {
    /// The newest open pull requests.
    pub open_prs: Vec<PullRequest>,
    /// Failing checks of the current branch's pull request.
    pub failing_checks: Vec<Check>,
}

/// An open pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct PullRequest {
    /// Number of the pull request.
    pub number: u64,
    /// Title of the pull request.
    pub title: String,
    /// The branch to be merged.
    #[serde(rename(deserialize = "headRefName"))]
    pub branch: String,
    /// State as reported by GitHub, such as `OPEN`.
    pub state: String,
}

/// A check of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// Result as reported by GitHub, such as `FAILURE`.
    #[serde(rename(deserialize = "state"))]
    pub status: String,
}

/// Runs `gh pr list` and `gh pr checks`; returns `None` if there is neither a pull request nor a failure.
pub(crate) fn github(context: &RepoContext) -> Result<Option<GitHubState>, String> {
    const LIST: [&str; 6] = ["pr", "list", "--json", "number,title,headRefName,state", "--limit", "5"];
    const CHECKS: [&str; 4] = ["pr", "checks", "--json", "name,state"];
    if !context.tools.github {
        return Ok(None);
    }
    let (list, checks) = system::join(|| gh(context, &LIST), || gh(context, &CHECKS));
    let Some(list) = list? else { return Ok(None) };
    let open_prs: Vec<PullRequest> = parsed(&list.stdout)
        .ok_or_else(|| format!("`gh pr list` says: {}", or_default(&first_error_line(&list))))?;
    // A branch without a pull request has no checks, and `gh` calls that a failure.
    let checks = checks.ok().flatten();
    let checks: Vec<Check> = checks.and_then(|answer| parsed(&answer.stdout)).unwrap_or_default();
    let failing_checks: Vec<Check> = checks.into_iter().filter(has_failed).collect();
    let is_empty = open_prs.is_empty() && failing_checks.is_empty();
    Ok((!is_empty).then_some(GitHubState { open_prs, failing_checks }))
}

fn gh(context: &RepoContext, arguments: &[&str]) -> Result<Option<CommandOutput>, String> {
    let asked = program(context, "gh").and_then(|mut gh| {
        gh.args(arguments);
        ask(gh, context.tools.github_limit)
    });
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(CommandError::NotFound(_)) => Ok(None),
        Err(CommandError::TimedOut(limit)) => {
            Err(format!("`gh` did not answer within {:.1} s", limit.as_secs_f64()))
        }
        Err(CommandError::Failed(error)) => Err(format!("`gh` cannot be run: {error}")),
    }
}

/// Parses a list. `gh pr checks` fails if a check failed, yet prints its answer.
fn parsed<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<Vec<T>> {
    serde_json::from_slice(bytes).ok()
}

fn has_failed(check: &Check) -> bool {
    matches!(check.status.as_str(), "FAILURE" | "ERROR" | "TIMED_OUT" | "STARTUP_FAILURE")
}

fn or_default(first_error_line: &str) -> &str {
    if first_error_line.is_empty() { "nothing that can be understood" } else { first_error_line }
}
