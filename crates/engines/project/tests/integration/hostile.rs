//! A repository whose own settings name programs: plain git runs many of them, a question runs none.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use project::{
    RepoContext, add_work_tree, branch, branch_at, recent_subjects, remove_work_tree, status, unsaved_work,
    work_tree,
};
use testkit::{Repository, ScratchHome};

use crate::repositories::{context, script};

/// The content with which a repository makes git run something, and whether plain `git status` does run it.
struct Way {
    name: &'static str,
    is_armed: bool,
    set_up: fn(&Trap<'_>),
}

/// A repository with a changed file, and a program that leaves a mark when it is run.
struct Trap<'home> {
    home: &'home ScratchHome,
    repository: Repository<'home>,
    evil: String,
}

const fn way(name: &'static str, is_armed: bool, set_up: fn(&Trap<'_>)) -> Way {
    Way { name, is_armed, set_up }
}

const WAYS: [Way; 27] = [
    way("a clean filter by .gitattributes", true, |trap| {
        trap.set(&["filter.e.clean", &trap.evil]);
        trap.write(".gitattributes", "*.md filter=e\n");
    }),
    way("a clean filter by info/attributes", true, |trap| {
        trap.set(&["filter.e.clean", &trap.evil]);
        trap.write(".git/info/attributes", "*.md filter=e\n");
    }),
    way("a clean filter of an included file", true, |trap| {
        trap.write(".git/more", &format!("[filter \"e\"]\n\tclean = {}\n", trap.evil));
        trap.set(&["include.path", "more"]);
        trap.write(".git/info/attributes", "* filter=e\n");
    }),
    way("a clean filter of the work tree's settings", true, |trap| {
        trap.set(&["extensions.worktreeConfig", "true"]);
        trap.write(".git/config.worktree", &format!("[filter \"e\"]\n\tclean = {}\n", trap.evil));
        trap.write(".git/info/attributes", "* filter=e\n");
    }),
    way("a clean filter behind a .git file", true, |trap| {
        trap.set(&["filter.e.clean", &trap.evil]);
        trap.write(".git/info/attributes", "* filter=e\n");
        fs::rename(trap.path(".git"), trap.home.path().join("elsewhere")).unwrap();
        trap.write(".git", &format!("gitdir: {}\n", trap.home.path().join("elsewhere").display()));
    }),
    way("a filter's process", true, |trap| {
        trap.set(&["filter.e.process", &trap.evil]);
        trap.write(".git/info/attributes", "* filter=e\n");
    }),
    way("a filter that has to succeed", true, |trap| {
        trap.set(&["filter.e.clean", &trap.evil]);
        trap.set(&["filter.e.required", "true"]);
        trap.write(".git/info/attributes", "* filter=e\n");
    }),
    way("a filter with an odd name", true, |trap| {
        trap.set(&["filter.a=b\"]#.c.clean", &trap.evil]);
        trap.write(".git/info/attributes", "* filter=a=b\"]#.c\n");
    }),
    way("a filter whose name is no UTF-8", true, |trap| {
        let name = OsStr::from_bytes(b"filter.\xff.clean");
        let mut git = trap.git();
        assert!(git.arg("config").arg(name).arg(&trap.evil).status().unwrap().success());
        fs::write(trap.path(".git/info/attributes"), b"* filter=\xff\n").unwrap();
    }),
    way("a clean filter of a submodule", true, |trap| {
        let module = trap.submodule();
        trap.write("module/.git/info/attributes", "* filter=e\n");
        run(trap.git().arg("-C").arg(module).args(["config", "filter.e.clean", &trap.evil]));
    }),
    way("a monitor of files", true, |trap| trap.set(&["core.fsmonitor", &trap.evil])),
    way("a submodule's monitor of files", true, |trap| {
        let module = trap.submodule();
        run(trap.git().arg("-C").arg(module).args(["config", "core.fsmonitor", &trap.evil]));
    }),
    way("a hook", true, |trap| {
        fs::create_dir_all(trap.path(".git/hooks")).unwrap();
        fs::copy(&trap.evil, trap.path(".git/hooks/post-index-change")).unwrap();
        // Its index is written again where a file is as it was but for its time.
        trap.write("README.md", "A project for tests.\n");
    }),
    way("a folder of hooks", true, |trap| {
        fs::create_dir_all(trap.path("hooks")).unwrap();
        fs::copy(&trap.evil, trap.path("hooks/post-index-change")).unwrap();
        trap.set(&["core.hooksPath", "hooks"]);
        trap.write("README.md", "A project for tests.\n");
    }),
    way("a summary of submodules", true, |trap| {
        let module = trap.submodule();
        trap.set(&["status.submoduleSummary", "true"]);
        run(trap.git().arg("-C").arg(module).args(["config", "core.fsmonitor", &trap.evil]));
    }),
    way("a missing tree behind ext::", true, |trap| {
        trap.set(&["remote.origin.url", &format!("ext::{}", trap.evil)]);
        trap.set(&["protocol.ext.allow", "always"]);
        trap.lose_tree();
    }),
    way("a missing tree behind ssh", true, |trap| {
        trap.set(&["remote.origin.url", "ssh://nowhere.invalid/x"]);
        trap.set(&["core.sshCommand", &trap.evil]);
        trap.lose_tree();
    }),
    way("a missing tree behind another program for the server", true, |trap| {
        trap.set(&["remote.origin.url", &format!("file://{}", trap.path(".git").display())]);
        trap.set(&["remote.origin.uploadpack", &trap.evil]);
        trap.lose_tree();
    }),
    way("a pager", false, |trap| {
        trap.set(&["core.pager", &trap.evil]);
        trap.set(&["pager.status", "true"]);
        trap.set(&["pager.log", "true"]);
    }),
    way("another diff", false, |trap| trap.set(&["diff.external", &trap.evil])),
    way("a text of a file", false, |trap| {
        trap.set(&["diff.e.textconv", &trap.evil]);
        trap.set(&["diff.e.command", &trap.evil]);
        trap.write(".gitattributes", "* diff=e\n");
    }),
    way("a check of signatures", false, |trap| {
        trap.set(&["gpg.program", &trap.evil]);
        trap.set(&["log.showSignature", "true"]);
    }),
    way("other names for commands", false, |trap| {
        for name in ["alias.status", "alias.log", "alias.stash", "alias.rev-parse", "alias.symbolic-ref"] {
            trap.set(&[name, &format!("!{}", trap.evil)]);
        }
    }),
    way("who knows passwords", false, |trap| {
        trap.set(&["credential.helper", &format!("!{}", trap.evil)]);
        trap.set(&["core.askPass", &trap.evil]);
    }),
    way("editors", false, |trap| {
        trap.set(&["core.editor", &trap.evil]);
        trap.set(&["sequence.editor", &trap.evil]);
        trap.set(&["interactive.diffFilter", &trap.evil]);
    }),
    way("who merges", false, |trap| {
        trap.set(&["merge.e.driver", &trap.evil]);
        trap.write(".gitattributes", "* merge=e\n");
    }),
    way("references of others", false, |trap| {
        trap.set(&["core.alternateRefsCommand", &trap.evil]);
        trap.set(&["core.gitProxy", &trap.evil]);
        trap.set(&["uploadpack.packObjectsHook", &trap.evil]);
    }),
];

impl Trap<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.repository.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn set(&self, setting: &[&str]) {
        run(self.git().arg("config").args(setting));
    }

    fn git(&self) -> Command {
        let mut git = self.home.command("git");
        git.current_dir(self.repository.path());
        git
    }

    /// A repository inside, known to the one around it, with a changed file.
    fn submodule(&self) -> PathBuf {
        let inside = self.home.repository("shop/module");
        run(self.git().args(["add", "module"]));
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        run(self.git().args(who).args(["commit", "--quiet", "-m", "A module"]));
        fs::write(inside.path().join("README.md"), "Changed, and as long\n").unwrap();
        inside.path().to_owned()
    }

    /// The tree of the newest commit is gone, and a promise to fetch it is in its place.
    fn lose_tree(&self) {
        let tree = self.repository.git(["rev-parse", "HEAD^{tree}"]);
        fs::remove_file(self.path(&format!(".git/objects/{}/{}", &tree[..2], &tree[2..]))).unwrap();
        self.set(&["core.repositoryFormatVersion", "1"]);
        self.set(&["extensions.partialClone", "origin"]);
        self.set(&["remote.origin.promisor", "true"]);
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A trap that was set up, and the mark that its program leaves.
fn trap(home: &ScratchHome, way: &Way) -> (PathBuf, PathBuf) {
    let mark = home.path().join("ran");
    script(home, "evil", &format!("echo \"$0 $@\" >>'{}'", mark.display()));
    let evil = home.path().join("bin/evil").display().to_string();
    let repository = home.repository("shop");
    // As long as it was: git compares what it holds.
    home.write("shop/README.md", "Changed, and as long\n");
    let trap = Trap { home, repository, evil };
    (way.set_up)(&trap);
    let path = trap.repository.path().to_owned();
    // What was set up may have run it.
    let _ = fs::remove_file(&mark);
    (path, mark)
}

/// Everything that is asked of a repository.
fn ask_everything(context: &RepoContext) {
    status(context);
    branch(context);
    work_tree(context);
    branch_at(context, Timestamp::UNIX_EPOCH);
    recent_subjects(context, 100);
    // It is no work tree that was made for a task, so nothing is removed.
    unsaved_work(context).unwrap_err();
    remove_work_tree(context).unwrap_err();
}

#[test]
fn no_query_runs_programs_that_a_repository_configures() {
    let mut wrong = Vec::new();
    for way in &WAYS {
        let home = ScratchHome::new();
        let (path, mark) = trap(&home, way);
        ask_everything(&context(&home, &path));
        if mark.exists() {
            wrong.push(format!("{}: a question ran it", way.name));
        }
        let _ = fs::remove_file(&mark);
        let _ = home.command("git").current_dir(&path).arg("status").output().unwrap();
        if way.is_armed && !mark.exists() {
            wrong.push(format!("{}: plain git does not run it, so this shows nothing", way.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_git_program_in_the_repository_is_not_run() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let mark = home.path().join("ran");
    for name in ["git", "gh"] {
        home.write(&format!("shop/{name}"), format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
        fs::set_permissions(shop.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut there = context(&home, shop.path());
    for before in [".", "", "./", "shop"] {
        let usual = context(&home, shop.path()).tools.search_path;
        there.tools.search_path = [OsStr::new(before), &usual].join(OsStr::new(":"));
        assert!(status(&there).repo.is_git_repo);
        assert!(!mark.exists(), "{before:?}");
    }
    there.tools.search_path = ".".into();
    status(&there);
    assert!(!mark.exists());
}

#[test]
fn changes_are_found_without_running_filters() {
    let home = ScratchHome::new();
    let (path, _) = trap(&home, &WAYS[0]);
    let found = status(&context(&home, &path));
    assert_eq!(found.git.uncommitted_changes, ["README.md", ".gitattributes"], "{found:?}");
    assert_eq!(found.problems, Vec::<String>::new());
}

#[test]
fn unfetched_objects_are_a_problem_not_a_clean_tree() {
    let home = ScratchHome::new();
    let missing = WAYS.iter().find(|way| way.name == "a missing tree behind ext::").unwrap();
    let (path, _) = trap(&home, missing);
    let found = status(&context(&home, &path));
    assert!(found.repo.is_git_repo && found.git.recent_commits.len() == 1, "{found:?}");
    assert!(found.problems.iter().any(|why| why.contains("does not say what has changed")), "{found:?}");
}

/// A person who has a work tree made wants it as the repository's settings say, with its filters and hooks.
#[test]
fn a_work_tree_is_made_with_the_filters_of_the_repository() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    shop.git(["config", "filter.e.smudge", "tr a-zA-Z b-zaB-ZA"]);
    shop.git(["config", "filter.e.clean", "tr b-zaB-ZA a-zA-Z"]);
    shop.commit(".gitattributes", "*.md filter=e\n", "Filtered");
    let made = add_work_tree(&context(&home, shop.path()), "task").unwrap();
    let text = testkit::files::bytes(&made.path.join("README.md"));
    assert_eq!(String::from_utf8_lossy(&text), "B qspkfdu gps uftut.\n");
    let tree = context(&home, Path::new(&made.path));
    assert_eq!(unsaved_work(&tree), Ok(Vec::new()));
    remove_work_tree(&tree).unwrap();
    assert!(!made.path.exists());
}
