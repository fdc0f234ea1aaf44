//! A scratch home keeps the real one out, and its repositories are the same in every run.

use std::path::PathBuf;

use testkit::{ScratchHome, Snapshot};

#[test]
fn a_child_sees_only_the_scratch_home() {
    let home = ScratchHome::new().with_config_dir("elsewhere");

    let output = home.command("env").output().expect("env runs");

    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    // Limits of Backstory's are out of the way.
    let is_limit = |name: &&str| name.starts_with("BACKSTORY_") && *name != "BACKSTORY_HOME";
    let mut names: Vec<_> =
        printed.lines().filter_map(|line| line.split('=').next()).filter(|name| !is_limit(name)).collect();
    names.sort_unstable();
    let expected =
        ["BACKSTORY_HOME", "CLAUDE_CONFIG_DIR", "GIT_CONFIG_NOSYSTEM", "HOME", "LANG", "PATH", "TERM"];
    assert_eq!(names, [&expected[..], &["TMPDIR", "TZ"]].concat());
    assert!(printed.contains(&format!("HOME={}\n", home.path().display())));
    assert_eq!(home.config_dir(), home.path().join("elsewhere"));
}

#[test]
fn a_commit_made_twice_has_the_same_hash() {
    let commit = || {
        let home = ScratchHome::new();
        let repository = home.repository("shop");
        repository.branch("feature/basket");
        repository.commit("src/basket.py", "items = []\n", "Add a basket")
    };
    assert_eq!(commit(), commit());
}

#[test]
fn a_worktree_is_created_beside_its_repository() {
    let home = ScratchHome::new();
    let tree = home.repository("shop").worktree("fix/login");

    assert_eq!(tree, home.path().join("shop-fix-login"));
    assert!(tree.join("README.md").exists());
}

#[test]
fn a_snapshot_shows_what_changed() {
    let home = ScratchHome::new();
    home.write("notes/kept", "a");
    home.write("notes/changed", "a");
    home.write("notes/gone", "a");
    let before = Snapshot::read(&home.path().join("notes"));

    home.write("notes/changed", "b");
    home.write("notes/new", "b");
    std::fs::remove_file(home.path().join("notes/gone")).expect("a file that was there");

    let after = Snapshot::read(&home.path().join("notes"));
    assert_eq!(before.differences(&after), ["changed", "gone", "new"].map(PathBuf::from));
}
