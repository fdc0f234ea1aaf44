//! Repositories in every state one can be in.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use project::{ProjectStatus, RepoContext, ToolSettings, status};
use testkit::{PATIENCE, ScratchHome};

/// A place whose programs are those of the scratch home, then those of the machine.
pub(crate) fn context(home: &ScratchHome, directory: &Path) -> RepoContext {
    let environment = home.environment();
    let search_path = environment.into_iter().find(|(name, _)| *name == "PATH");
    RepoContext {
        directory: directory.to_owned(),
        tools: ToolSettings {
            search_path: search_path.map(|(_, path)| path).unwrap_or_default(),
            github: true,
            git_limit: PATIENCE,
            github_limit: PATIENCE,
        },
    }
}

pub(crate) fn script(home: &ScratchHome, name: &str, text: &str) {
    let text = home.write(&format!("{name}.sh"), format!("#!/bin/sh\n{text}\n"));
    // A program that is open for writing cannot be started, and any other test's child may have inherited a file that
    // was opened here: another process writes it.
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(text).arg(home.path().join("bin").join(name));
    assert!(install.status().expect("install").success());
}

fn look(home: &ScratchHome, directory: &Path) -> ProjectStatus {
    status(&context(home, directory))
}

#[test]
fn a_busy_repository_is_described() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let head = shop.commit("a b.txt", "one\n", "Second | with %x00 \"signs\"");
    shop.branch("fix/a");
    home.write("shop/a b.txt", "two\n");
    shop.git(["stash", "--quiet"]);
    home.write("shop/a b.txt", "three\n");
    home.write("shop/new\nline.txt", "");
    home.write("shop/staged.txt", "");
    shop.git(["add", "--", "staged.txt"]);
    shop.git(["mv", "README.md", "READ.md"]);
    home.write("shop/CLAUDE.md", "");
    home.write("shop/src/deep/x.rs", "");
    // Asked from below the root.
    let found = look(&home, &shop.path().join("src/deep"));
    assert_eq!(found.repo.path, shop.path());
    assert_eq!((found.repo.name.as_str(), found.repo.is_git_repo), ("shop", true));
    let git = &found.git;
    assert_eq!(git.current_branch.as_deref(), Some("fix/a"));
    assert_eq!(git.head_commit_sha.as_deref(), Some(head.as_str()));
    assert_eq!(git.head_commit_message.as_deref(), Some("Second | with %x00 \"signs\""));
    assert_eq!(git.uncommitted_changes, ["a b.txt", "CLAUDE.md", "new\nline.txt", "src/"]);
    assert_eq!(git.staged_changes, ["READ.md", "staged.txt"]);
    assert_eq!(git.stash_count, 1);
    let actual: Vec<_> =
        git.recent_commits.iter().map(|one| (one.message.as_str(), one.author.as_str())).collect();
    assert_eq!(actual, [("Second | with %x00 \"signs\"", "Ana Tester"), ("First commit", "Ana Tester")]);
    assert_eq!(git.recent_commits[0].date, "2026-01-02T03:04:05Z".parse().ok());
    assert!(found.docs.has_claude_md && !found.docs.has_readme, "{:?}", found.docs);
    assert!(found.problems.is_empty() && found.github.is_none(), "{found:?}");
}

#[test]
fn unusual_repository_states_are_described() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let tree = shop.worktree("feature/x");
    let found = look(&home, &tree);
    assert_eq!((found.repo.path.as_path(), found.repo.name.as_str()), (tree.as_path(), "shop"));
    assert_eq!(found.git.current_branch.as_deref(), Some("feature/x"));

    shop.git(["checkout", "--quiet", "--detach"]);
    let found = look(&home, shop.path());
    assert_eq!(found.git.current_branch, None);
    assert!(found.git.head_commit_sha.is_some());

    let empty = home.dir("empty");
    let git = |arguments: &[&str], directory: &Path| {
        let ended = home.command("git").args(arguments).current_dir(directory).output().expect("git");
        assert!(ended.status.success(), "{ended:?}");
    };
    git(&["init", "--quiet", "--initial-branch=trunk"], &empty);
    let found = look(&home, &empty);
    assert!(found.repo.is_git_repo && found.problems.is_empty(), "{found:?}");
    assert_eq!(found.git.current_branch.as_deref(), Some("trunk"));
    assert_eq!((found.git.head_commit_sha, found.git.recent_commits.len()), (None, 0));

    git(&["clone", "--quiet", "--bare", "shop", "bare.git"], home.path());
    let found = look(&home, &home.path().join("bare.git"));
    assert!(found.repo.is_git_repo && found.problems.is_empty(), "{found:?}");
    assert_eq!((found.repo.name.as_str(), found.git.recent_commits.len()), ("bare.git", 1));

    git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../shop", "inner"], &tree);
    let found = look(&home, &tree.join("inner"));
    assert_eq!((found.repo.path, found.repo.name.as_str()), (tree.join("inner"), "inner"));
}

#[test]
fn a_directory_outside_any_repository() {
    let home = ScratchHome::new();
    let plain = home.dir("plain");
    home.write("plain/README", "");
    let found = look(&home, &plain);
    assert_eq!(found.repo.path, plain);
    assert!(!found.repo.is_git_repo && found.docs.has_readme && found.problems.is_empty(), "{found:?}");
    let missing = home.path().join("gone");
    let gone = look(&home, &missing);
    assert!(!gone.repo.is_git_repo, "{gone:?}");
    assert_eq!(gone.problems, [format!("the directory {} is gone", missing.display())]);
}

#[test]
fn a_missing_git_is_reported() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let mut context = context(&home, shop.path());
    context.tools.search_path = OsString::from("/nowhere");
    let found = status(&context);
    assert!(!found.repo.is_git_repo);
    assert_eq!(found.problems, ["there is no program `git` on your PATH"]);
}

#[test]
fn a_git_that_hangs_is_ended() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    // It would answer in the end, and otherwise.
    script(&home, "git", "sleep 100 & wait");
    let mut context = context(&home, shop.path());
    context.tools.git_limit = Duration::from_millis(200);
    let found = status(&context);
    assert_eq!(found.problems, ["`git rev-parse` did not answer within 0 s"]);
}

#[test]
fn a_query_changes_nothing_and_ignores_repository_settings() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    script(&home, "spy", "touch \"$HOME/was-run\"");
    let spy = home.path().join("bin/spy").display().to_string();
    shop.git(["config", "core.fsmonitor", &spy]);
    home.write("shop/README.md", "changed\n");
    let before = fs::metadata(shop.path().join(".git/index")).expect("an index").modified().expect("a time");
    look(&home, shop.path());
    let after = fs::metadata(shop.path().join(".git/index")).expect("an index").modified().expect("a time");
    assert_eq!(before, after, "the index was written");
    assert!(!home.path().join("was-run").exists(), "a program that the repository names was run");
}
