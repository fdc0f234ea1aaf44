//! Queries git about a directory. Output uses NUL between fields, so that no name or subject can break
//! parsing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use system::{CommandError, CommandOutput};

use crate::RepoContext;
use crate::child::{ask, first_error_line, has_succeeded, line, program};
use crate::head::{Head, head};

/// Limit on recent commits, as a git argument.
const COMMITS: &str = "-10";
/// Settings that override programs a repository's configuration could make git run.
const HARMLESS: [(&str, &str); 3] =
    [("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("log.showSignature", "false")];
/// Environment that keeps git from fetching missing objects, which would run programs the repository names.
const NO_FETCHING: [(&str, &str); 2] = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "")];
/// Arguments of `git status`. Changes inside submodules are ignored, since git would read the submodule's
/// settings to find them.
const STATUS: [&str; 5] =
    ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"];

/// The state of a git repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct GitState {
    /// The branch; `None` for a detached head.
    pub current_branch: Option<String>,
    /// Full hash of the newest commit; `None` before the first commit.
    pub head_commit_sha: Option<String>,
    /// Subject of the newest commit.
    pub head_commit_message: Option<String>,
    /// Paths that differ from the index, including untracked ones.
    pub uncommitted_changes: Vec<String>,
    /// Paths whose staged content differs from the newest commit.
    pub staged_changes: Vec<String>,
    /// Number of stashes.
    pub stash_count: usize,
    /// The newest commits, newest first.
    pub recent_commits: Vec<Commit>,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Commit {
    /// The full hash, in hexadecimal digits.
    pub sha: String,
    /// The first line of the message.
    pub message: String,
    /// Name of the author.
    pub author: String,
    /// The author's date; absent where it cannot be read.
    #[serde(serialize_with = "model::optional_time")]
    pub date: Option<Timestamp>,
}

/// Runs a git command that reads no files of the work tree and runs no program the repository names.
pub(crate) fn git(context: &RepoContext, arguments: &[&str]) -> Result<CommandOutput, String> {
    query(context, arguments, &[])
}

/// Runs a git command the user asked for, with the repository's filters and hooks.
pub(crate) fn git_with_hooks(context: &RepoContext, arguments: &[&str]) -> Result<CommandOutput, String> {
    run(context, arguments, |mut git| {
        override_settings(&mut git, vec![("core.fsmonitor".into(), "false")]);
        git
    })
}

fn query(context: &RepoContext, arguments: &[&str], filters: &[OsString]) -> Result<CommandOutput, String> {
    run(context, arguments, |mut git| {
        let mut settings: Vec<(OsString, &str)> =
            HARMLESS.iter().map(|(name, value)| (OsString::from(name), *value)).collect();
        for filter in filters {
            settings.extend([".clean", ".process", ".required"].map(|part| {
                let mut name = filter.clone();
                name.push(part);
                (name, if part == ".required" { "false" } else { "" })
            }));
        }
        override_settings(&mut git, settings);
        git.envs(NO_FETCHING);
        git
    })
}

/// Overrides settings through the environment instead of `-c`, because a filter's name may contain `=`.
fn override_settings(git: &mut Command, settings: Vec<(OsString, &str)>) {
    git.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (name, value)) in settings.into_iter().enumerate() {
        git.env(format!("GIT_CONFIG_KEY_{number}"), name);
        git.env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

fn run(
    context: &RepoContext,
    arguments: &[&str],
    prepare: impl FnOnce(Command) -> Command,
) -> Result<CommandOutput, String> {
    let asked = || arguments.first().copied().unwrap_or_default();
    let answer = program(context, "git").map(prepare).and_then(|mut git| {
        git.args(arguments);
        ask(git, context.tools.git_limit)
    });
    answer.map_err(|error| match error {
        // A missing directory gives the same error.
        CommandError::NotFound(_) if !context.directory.is_dir() => {
            format!("the directory {} is gone", context.directory.display())
        }
        CommandError::NotFound(_) => "there is no program `git` on your PATH".to_owned(),
        CommandError::TimedOut(limit) => {
            format!("`git {}` did not answer within {} s", asked(), limit.as_secs())
        }
        CommandError::Failed(error) => format!("`git {}` cannot be run: {error}", asked()),
    })
}

/// Names of all configured filters, as `filter.<name>`; each would run a program over files.
///
/// With filters disabled, a file that a filter would have cleaned and that was written since git last looked
/// counts as changed.
fn filters(context: &RepoContext) -> Result<Vec<OsString>, String> {
    let answer = git(context, &["config", "--null", "--name-only", "--get-regexp", r"^filter\."])?;
    if answer.is_truncated {
        return Err("the repository's settings name too many filters".to_owned());
    }
    let keys = answer.stdout.split(|byte| *byte == 0);
    let filters = keys.filter_map(|key| key.get(..key.iter().rposition(|byte| *byte == b'.')?));
    let filters: BTreeSet<&[u8]> = filters.collect();
    Ok(filters.into_iter().map(|filter| OsStr::from_bytes(filter).to_owned()).collect())
}

/// The checked-out branch, even before its first commit; `None` for a detached head.
pub(crate) fn branch(context: &RepoContext) -> Result<Option<String>, String> {
    match head(&context.directory) {
        Some(Head::Branch(name)) => return Ok(Some(name)),
        Some(Head::Detached) => return Ok(None),
        None => {}
    }
    let answer = git(context, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    Ok(line(&answer).filter(|name| !name.is_empty()))
}

/// The newest commits, newest first; empty before the first commit.
pub(crate) fn commits(context: &RepoContext) -> Result<Vec<Commit>, String> {
    let answer = git(context, &["log", "-z", COMMITS, "--format=%H%x00%an%x00%aI%x00%s"])?;
    if !has_succeeded(&answer) {
        return Ok(Vec::new());
    }
    let fields: Vec<String> = fields(&answer.stdout).collect();
    Ok(fields.chunks(4).filter_map(commit).collect())
}

/// The first commit in what `git log` prints with the format of [`commits`].
pub(crate) fn commit_of(log: &[u8]) -> Option<Commit> {
    commit(&fields(log).take(4).collect::<Vec<_>>())
}

fn commit(fields: &[String]) -> Option<Commit> {
    match fields {
        [sha, author, date, message] => Some(Commit {
            sha: sha.clone(),
            message: message.clone(),
            author: author.clone(),
            date: date.parse().ok(),
        }),
        _ => None,
    }
}

/// The commits on any branch that were made between two moments, newest first, at most `most`; none if git fails.
pub fn commits_between(context: &RepoContext, from: Timestamp, to: Timestamp, most: usize) -> Vec<Commit> {
    let (from, to) = (format!("--since={from}"), format!("--until={to}"));
    let most = format!("--max-count={most}");
    let arguments = ["log", "-z", "--all", &from, &to, &most, "--format=%H%x00%an%x00%aI%x00%s"];
    let Ok(answer) = git(context, &arguments) else { return Vec::new() };
    if !has_succeeded(&answer) {
        return Vec::new();
    }
    let fields: Vec<String> = fields(&answer.stdout).collect();
    // The last of them may be cut off.
    fields.chunks(4).filter_map(commit).collect()
}

/// Hash and subject of up to `most` of the newest commits on any branch; `None` if git fails.
pub fn recent_subjects(context: &RepoContext, most: usize) -> Option<Vec<(String, String)>> {
    let most = format!("--max-count={most}");
    let answer = git(context, &["log", "-z", "--all", &most, "--format=%H%x00%s"]).ok()?;
    let fields: Vec<String> =
        if has_succeeded(&answer) { fields(&answer.stdout).collect() } else { return None };
    // The last of them may be cut off.
    let pair = |pair: &[String]| Some((pair.first()?.clone(), pair.get(1)?.clone()));
    Some(fields.chunks(2).filter_map(pair).collect())
}

/// Number of stashes.
pub(crate) fn stashes(context: &RepoContext) -> Result<usize, String> {
    let answer = git(context, &["stash", "list", "-z", "--format=%H"])?;
    Ok(if has_succeeded(&answer) { fields(&answer.stdout).count() } else { 0 })
}

/// Unstaged and staged paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitChanges {
    pub(crate) uncommitted: Vec<String>,
    pub(crate) staged: Vec<String>,
}

/// The changed paths; empty in a repository without a work tree.
pub(crate) fn changes(context: &RepoContext) -> Result<GitChanges, String> {
    let answer = status(context)?;
    if answer.is_truncated {
        return Err("there are more changes than are shown".to_owned());
    }
    if !has_succeeded(&answer) && !first_error_line(&answer).contains("must be run in a work tree") {
        return Err(format!("git does not say what has changed: {}", first_error_line(&answer)));
    }
    Ok(if has_succeeded(&answer) { parse_changes(&answer.stdout) } else { GitChanges::default() })
}

/// Runs a git command that reads files of the work tree, without running programs the repository names.
pub(crate) fn git_without_filters(
    context: &RepoContext,
    arguments: &[&str],
) -> Result<CommandOutput, String> {
    query(context, arguments, &filters(context)?)
}

/// Runs `git status` without running programs the repository names.
fn status(context: &RepoContext) -> Result<CommandOutput, String> {
    let filters = filters(context)?;
    let answer = query(context, &STATUS, &filters)?;
    if has_succeeded(&answer) {
        return Ok(answer);
    }
    // Renames are found by content, which may be missing where little of a repository was fetched: then they are
    // reported as a removal and an addition.
    let plain = query(context, &[&STATUS[..], &["--no-renames"]].concat(), &filters)?;
    Ok(if has_succeeded(&plain) { plain } else { answer })
}

/// Parses `XY path` entries; a renamed or copied path is followed by its old path.
fn parse_changes(bytes: &[u8]) -> GitChanges {
    let mut changes = GitChanges::default();
    let mut fields = fields(bytes);
    while let Some(field) = fields.next() {
        let mut letters = field.chars();
        let (Some(staged), Some(unstaged)) = (letters.next(), letters.next()) else { continue };
        let path = letters.as_str().strip_prefix(' ').unwrap_or(letters.as_str()).to_owned();
        if matches!(staged, 'R' | 'C') || matches!(unstaged, 'R' | 'C') {
            fields.next();
        }
        if matches!(unstaged, 'M' | 'A' | 'D' | 'R' | 'C' | 'T' | 'U' | '?') {
            changes.uncommitted.push(path.clone());
        }
        if matches!(staged, 'M' | 'A' | 'D' | 'R' | 'C' | 'T') {
            changes.staged.push(path);
        }
    }
    changes
}

/// The NUL-separated fields; invalid UTF-8 is replaced.
pub(crate) fn fields(bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    let whole = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let parts = (!whole.is_empty()).then(|| whole.split(|byte| *byte == 0));
    parts.into_iter().flatten().map(|part| String::from_utf8_lossy(part).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_and_unstaged_changes_are_distinguished() {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let check = |text: &str, uncommitted: &[&str], staged: &[&str]| {
            let found = parse_changes(text.as_bytes());
            assert_eq!((found.uncommitted, found.staged), (owned(uncommitted), owned(staged)), "{text:?}");
        };
        check("", &[], &[]);
        check(" M a.rs\0?? new file\0", &["a.rs", "new file"], &[]);
        check("M  a\0MM b\0A  c\0", &["b"], &["a", "b", "c"]);
        check("R  new\0old\0 M x\0", &["x"], &["new"]);
        check("UU both\0 D gone\0T  kind\0", &["both", "gone"], &["kind"]);
        check(" M line\nbreak \"quoted\"\0", &["line\nbreak \"quoted\""], &[]);
        check("x", &[], &[]);
        check("R  torn\0", &[], &["torn"]);
    }
}
