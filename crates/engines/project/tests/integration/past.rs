//! The branch at a moment of the past; what is done later changes no answer.

use std::path::Path;

use jiff::Timestamp;
use project::{RepoContext, branch_at};
use testkit::ScratchHome;

use crate::repositories::context;

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(1_780_000_000 + second).expect("a time")
}

/// Runs git as if it were that second.
fn git(home: &ScratchHome, directory: &Path, at: i64, arguments: &[&str]) {
    let date = format!("{} +0000", second(at).as_second());
    let ended = home
        .command("git")
        .args(["-c", "user.name=Ana", "-c", "user.email=ana@example.com"])
        .args(arguments)
        .current_dir(directory)
        .envs([("GIT_COMMITTER_DATE", &date), ("GIT_AUTHOR_DATE", &date)])
        .output()
        .expect("git");
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
}

#[test]
fn a_past_branch_is_unaffected_by_later_checkouts() {
    let home = ScratchHome::new();
    let directory = home.dir("shop");
    let context: RepoContext = context(&home, &directory);
    let at = |moment: i64| branch_at(&context, second(moment));
    git(&home, &directory, 0, &["init", "--quiet", "--initial-branch=main"]);
    git(&home, &directory, 0, &["commit", "--quiet", "--allow-empty", "-m", "First"]);
    let mut known: Vec<(i64, Option<String>)> = Vec::new();
    let steps: [(i64, &[&str]); 7] = [
        (10, &["switch", "--quiet", "--create", "fix"]),
        (20, &["commit", "--quiet", "--allow-empty", "-m", "checkout: moving from x to y"]),
        (30, &["switch", "--quiet", "main"]),
        (40, &["checkout", "--quiet", "--detach"]),
        (50, &["switch", "--quiet", "--create", "late"]),
        (60, &["commit", "--quiet", "--allow-empty", "-m", "On late"]),
        (70, &["rebase", "--quiet", "main"]),
    ];
    for (moment, arguments) in steps {
        known.push((moment - 5, at(moment - 5)));
        git(&home, &directory, moment, arguments);
        for (then, branch) in &known {
            assert_eq!(at(*then), *branch, "at {then}, after {arguments:?}");
        }
    }
    let actual: Vec<_> = known.iter().map(|(_, branch)| branch.as_deref().unwrap_or("-")).collect();
    assert_eq!(actual, ["main", "fix", "fix", "main", "-", "late", "late"]);
    assert_eq!(at(500).as_deref(), Some("late"));
}
