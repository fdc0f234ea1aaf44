//! `gh` needs the network, so a script gives what `gh` documents; whatever it does, the rest is there in time.

use std::time::Duration;

use project::{GitHubState, ProjectStatus, status};
use testkit::{PATIENCE, ScratchHome};

use crate::repositories::{context, script};

const ANSWERS: &str = r#"case "$2" in
list) echo '[{"number":7,"title":"Add a cart","headRefName":"cart","state":"OPEN"}]' ;;
checks) echo '[{"name":"build","state":"SUCCESS"},{"name":"test","state":"FAILURE"}]'; exit 1 ;;
esac"#;

fn look(gh: Option<&str>, allowed: bool) -> ProjectStatus {
    look_within(PATIENCE, gh, allowed)
}

fn look_within(limit: Duration, gh: Option<&str>, allowed: bool) -> ProjectStatus {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    if let Some(gh) = gh {
        script(&home, "gh", gh);
    }
    let mut context = context(&home, shop.path());
    context.tools.github = allowed;
    context.tools.github_limit = limit;
    let found = status(&context);
    assert_eq!(found.git.current_branch.as_deref(), Some("main"), "git is heard whatever `gh` does");
    found
}

#[test]
fn pull_requests_and_failing_checks_are_reported() {
    let found = look(Some(ANSWERS), true);
    let GitHubState { open_prs, failing_checks } = found.github.expect("GitHub");
    assert_eq!((open_prs[0].number, open_prs[0].branch.as_str()), (7, "cart"));
    assert_eq!((open_prs[0].title.as_str(), open_prs[0].state.as_str()), ("Add a cart", "OPEN"));
    assert_eq!(failing_checks.len(), 1);
    assert_eq!((failing_checks[0].name.as_str(), failing_checks[0].status.as_str()), ("test", "FAILURE"));
}

#[test]
fn without_gh_or_without_permission_there_is_no_github() {
    let found = look(Some(ANSWERS), false);
    assert_eq!((found.github, found.problems), (None, Vec::new()));
    // The machine's own `gh` would need the network: a name that cannot be run means none.
    let found = look(Some("exit 127"), true);
    assert_eq!(found.github, None);
}

#[test]
fn a_gh_that_cannot_answer_neither_fails_nor_delays() {
    let check_within = |limit: Duration, gh: &str, problem: &str| {
        let found = look_within(limit, Some(gh), true);
        assert_eq!(found.github, None, "{gh}");
        assert_eq!(found.problems, [problem], "{gh}");
    };
    let check = |gh: &str, problem: &str| check_within(PATIENCE, gh, problem);
    check(
        "echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4",
        "`gh pr list` says: To get started with GitHub CLI, please run:  gh auth login",
    );
    check(
        "echo 'error connecting to api.github.com' >&2; exit 1",
        "`gh pr list` says: error connecting to api.github.com",
    );
    // It would end in the end, and say nothing.
    check_within(Duration::from_millis(300), "sleep 100 & wait", "`gh` did not answer within 0.3 s");
    check("echo nonsense", "`gh pr list` says: nothing that can be understood");
}

#[test]
fn without_pull_requests_or_failures_the_lists_are_empty() {
    let found = look(Some("echo '[]'"), true);
    assert_eq!((found.github, found.problems), (None, Vec::new()));
}
