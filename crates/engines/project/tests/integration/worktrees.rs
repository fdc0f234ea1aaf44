//! Work trees of a real git: made for a task, and removed only when nothing would be lost.

use std::fs;
use std::path::{Path, PathBuf};

use project::{RepoContext, add_work_tree, remove_work_tree, unsaved_work};
use testkit::{Repository, ScratchHome};

use crate::repositories::context;

struct Scene<'home> {
    shop: Repository<'home>,
    tree: PathBuf,
    at_shop: RepoContext,
    at_tree: RepoContext,
}

impl<'home> Scene<'home> {
    fn new(home: &'home ScratchHome) -> Self {
        let shop = home.repository("shop");
        let at_shop = context(home, shop.path());
        let made = add_work_tree(&at_shop, "task").expect("a work tree");
        assert!(made.is_new);
        let at_tree = context(home, &made.path);
        Self { shop, tree: made.path, at_shop, at_tree }
    }

    fn in_tree(&self, arguments: &[&str]) -> String {
        let tree = self.tree.to_str().expect("UTF-8");
        let identity = ["-c", "user.name=Ana Tester", "-c", "user.email=ana@example.com"];
        let mut command = std::process::Command::new("git");
        command.args(["-C", tree]).args(identity).args(arguments);
        let output = command.output().expect("git");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[track_caller]
    fn keeps(&self, expected: &str) {
        let refused = remove_work_tree(&self.at_tree).expect_err("something would be lost");
        assert!(refused.contains(expected), "{expected}: {refused}");
        assert!(self.tree.join("README.md").exists());
    }
}

#[test]
fn a_work_tree_is_made_once_on_a_branch_of_its_own_and_removed() {
    let home = ScratchHome::new();
    let scene = Scene::new(&home);
    assert_eq!(scene.tree, scene.shop.path().canonicalize().expect("real").join(".claude/worktrees/task"));
    assert_eq!(scene.in_tree(&["branch", "--show-current"]), "worktree-task");
    assert_eq!(scene.shop.git(["status", "--porcelain"]), "", "it is no new file of the repository");
    // From within itself the same one is meant.
    let again = add_work_tree(&scene.at_tree, "task").expect("the same");
    assert_eq!((&again.path, again.is_new), (&scene.tree, false));
    assert_eq!(unsaved_work(&scene.at_tree).expect("an answer"), Vec::<String>::new());
    remove_work_tree(&scene.at_tree).expect("nothing is lost");
    assert!(!scene.tree.exists());
    assert_eq!(scene.shop.git(["branch", "--format=%(refname:short)"]), "main");
    assert!(add_work_tree(&scene.at_shop, "task").expect("another").is_new);
}

#[test]
fn a_work_tree_with_uncommitted_changes_is_kept() {
    let home = ScratchHome::new();
    let scene = Scene::new(&home);
    fs::write(scene.tree.join("new.rs"), "fn main() {}\n").expect("a new file");
    scene.keeps("1 changed or new file is not committed");
    fs::write(scene.tree.join("README.md"), "Changed.\n").expect("a changed file");
    scene.keeps("2 changed or new files are not committed");
    scene.in_tree(&["add", "-A"]);
    scene.keeps("2 changed or new files are not committed");
}

#[test]
fn a_work_tree_with_unmerged_commits_is_kept_until_they_are_elsewhere() {
    let home = ScratchHome::new();
    let scene = Scene::new(&home);
    fs::write(scene.tree.join("new.rs"), "fn main() {}\n").expect("a new file");
    scene.in_tree(&["add", "-A"]);
    scene.in_tree(&["commit", "-qm", "New"]);
    scene.keeps("1 commit is on no other branch and not pushed");
    // Off its branch, the branch still counts.
    scene.in_tree(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(unsaved_work(&scene.at_tree).expect("an answer"), Vec::<String>::new(), "its branch stays");
    scene.in_tree(&["checkout", "-q", "worktree-task"]);
    // Pushed, it is safe.
    let remote = home.path().join("remote.git");
    let remote = remote.to_str().expect("UTF-8");
    scene.shop.git(["init", "-q", "--bare", remote]);
    scene.shop.git(["remote", "add", "origin", remote]);
    scene.in_tree(&["push", "-q", "origin", "worktree-task"]);
    remove_work_tree(&scene.at_tree).expect("it is pushed");
    assert!(!scene.tree.exists());
}

#[test]
fn merged_work_may_be_removed_and_an_unfinished_operation_may_not() {
    let home = ScratchHome::new();
    let scene = Scene::new(&home);
    fs::write(scene.tree.join("README.md"), "Theirs.\n").expect("a changed file");
    scene.in_tree(&["commit", "-qam", "Theirs"]);
    scene.shop.git(["merge", "-q", "--ff-only", "worktree-task"]);
    assert_eq!(unsaved_work(&scene.at_tree).expect("an answer"), Vec::<String>::new());
    scene.in_tree(&["worktree", "lock", scene.tree.to_str().expect("UTF-8")]);
    scene.keeps("the work tree is locked");
    scene.in_tree(&["worktree", "unlock", scene.tree.to_str().expect("UTF-8")]);
    fs::write(
        PathBuf::from(scene.in_tree(&["rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"])),
        scene.in_tree(&["rev-parse", "HEAD"]),
    )
    .expect("a merge");
    scene.keeps("a merge is under way");
}

#[test]
fn only_work_trees_made_for_tasks_are_removed() {
    let home = ScratchHome::new();
    let scene = Scene::new(&home);
    let check = |directory: &Path| {
        let refused = remove_work_tree(&context(&home, directory)).expect_err("it is a person's own");
        assert!(refused.contains("is no work tree that was made for a task"), "{refused}");
        assert!(directory.exists());
    };
    check(scene.shop.path());
    check(&scene.shop.worktree("mine"));
    // Neither is what is in the way of one.
    fs::create_dir_all(scene.shop.path().join(".claude/worktrees/other")).expect("a folder");
    let refused = add_work_tree(&scene.at_shop, "other").expect_err("it is in the way");
    assert!(refused.contains("is there already"), "{refused}");
    // Outside a repository, or before its first commit, there is nothing to begin from.
    let refused = add_work_tree(&context(&home, home.path()), "x").expect_err("no repository");
    assert!(refused.contains("is in no repository with a commit"), "{refused}");
}
