//! Finds the branch checked out at a given time from git's reflog of `HEAD`.

use jiff::Timestamp;

use crate::RepoContext;
use crate::child::has_succeeded;
use crate::git::{fields, git};

/// Returns the branch checked out at `then`; `None` for a detached head.
///
/// The first reflog entry after that time names the branch that was left; without one, the current branch
/// applies. Later entries do not change the result.
pub fn branch_at(context: &RepoContext, then: Timestamp) -> Option<String> {
    let answer = git(context, &["log", "-g", "-z", "--date=unix", "--format=%gd%x00%gs", "HEAD"]).ok()?;
    let fields: Vec<String> =
        if has_succeeded(&answer) { fields(&answer.stdout).collect() } else { Vec::new() };
    // Newest first, so the last one that is later than the moment is the first move after it.
    let moves =
        fields.chunks(2).filter_map(|pair| Some((moment(pair.first()?)?, left_branch(pair.get(1)?)?)));
    match moves.take_while(|(at, _)| *at > then).last() {
        Some((_, from)) => is_branch(&from).then_some(from),
        None => crate::branch(context),
    }
}

/// Parses the time in `HEAD@{1780000000}`.
fn moment(selector: &str) -> Option<Timestamp> {
    let seconds = selector.rsplit_once("@{")?.1.strip_suffix('}')?;
    Timestamp::from_second(seconds.parse().ok()?).ok()
}

/// The branch or commit that a reflog entry moved away from.
fn left_branch(subject: &str) -> Option<String> {
    if let Some(names) = subject.strip_prefix("checkout: moving from ") {
        return names.split_once(" to ").map(|(from, _)| from.to_owned());
    }
    if let Some(names) = subject.strip_prefix("Branch: renamed refs/heads/") {
        return names.split_once(" to refs/heads/").map(|(from, _)| from.to_owned());
    }
    // While a branch is rebased `HEAD` is on no branch, but it is that branch that is worked on.
    let finished = subject.strip_prefix("rebase (finish): returning to refs/heads/");
    finished.map(str::to_owned)
}

fn is_branch(name: &str) -> bool {
    let is_hash = matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_hash && !matches!(name, "" | "HEAD")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkouts_in_the_reflog_are_read() {
        let check =
            |subject: &str, expected: Option<&str>| assert_eq!(left_branch(subject).as_deref(), expected);
        check("checkout: moving from main to fix/a to b", Some("main"));
        check("rebase (finish): returning to refs/heads/fix/a", Some("fix/a"));
        check("Branch: renamed refs/heads/main to refs/heads/fix/a", Some("main"));
        check("commit: checkout: moving from x to y", None);
        check("commit (initial): First", None);
        assert_eq!(moment("HEAD@{1780000000}"), Timestamp::from_second(1_780_000_000).ok());
        assert_eq!(moment("HEAD@{0 days ago}"), None);
        assert!(is_branch("main") && !is_branch(&"a".repeat(40)) && !is_branch("HEAD"));
    }
}
