//! Linked work trees: created for a task and removed only if no work would be lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child::{first_error_line, has_succeeded, line};
use crate::git::{fields, git, git_with_hooks};
use crate::{RepoContext, ToolSettings};

/// Where work trees are created inside a repository, as Claude Code does.
const FOLDER: &str = ".claude/worktrees";
/// Time limit for writing a whole work tree.
const LIMIT: Duration = Duration::from_mins(10);
/// Exclude pattern that keeps work trees from showing up as untracked files.
const EXCLUDED: &str = "/.claude/worktrees/";

/// A linked work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// Root of the work tree.
    pub path: PathBuf,
    /// Whether it was created by this call.
    pub is_new: bool,
}

/// Whether a text can name a work tree: valid in a path and in a branch name.
pub fn is_work_tree_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_branch = !text.contains("..") && !text.ends_with('.') && text.strip_suffix(".lock").is_none();
    begins && is_branch && text.len() <= 64 && text.chars().all(is_plain)
}

/// Returns the work tree of this name, created from the current commit on a new branch if it is missing.
pub fn add_work_tree(context: &RepoContext, name: &str) -> Result<WorkTree, String> {
    let context = &with_long_limit(context);
    let main = main_tree(context)?;
    let path = main.join(FOLDER).join(name);
    if trees(context)?.iter().any(|tree| tree.path == path) {
        return Ok(WorkTree { path, is_new: false });
    }
    if path.symlink_metadata().is_ok() {
        return Err(format!("{} is there already, and no work tree of this repository", path.display()));
    }
    exclude(context, &main)?;
    let branch = format!("worktree-{name}");
    let target = path.to_string_lossy();
    let known = git(context, &["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")])?;
    let made = if has_succeeded(&known) {
        git_with_hooks(context, &["worktree", "add", "--quiet", &target, &branch])?
    } else {
        git_with_hooks(
            context,
            &["worktree", "add", "--quiet", "--no-track", "-b", &branch, &target, "HEAD"],
        )?
    };
    if !has_succeeded(&made) {
        return Err(format!("git cannot make the work tree {target}: {}", first_error_line(&made)));
    }
    Ok(WorkTree { path, is_new: true })
}

/// Lists what would be lost by removing a work tree, one message each.
pub fn unsaved_work(tree: &RepoContext) -> Result<Vec<String>, String> {
    let tree = &with_long_limit(tree);
    let found = own_tree(tree)?;
    let mut lost = Vec::new();
    let status = git_with_hooks(tree, &["status", "--porcelain=v1", "-z", "--untracked-files=normal"])?;
    if !has_succeeded(&status) {
        return Err(format!("git does not say what has changed: {}", first_error_line(&status)));
    }
    let changes = fields(&status.stdout).count();
    if changes > 0 {
        let files = if changes == 1 { "file is" } else { "files are" };
        lost.push(format!("{changes} changed or new {files} not committed"));
    }
    let mut from = vec!["rev-list", "--count", "HEAD"];
    from.extend(found.branch.as_deref());
    let exclude = found.branch.as_ref().map(|branch| format!("--exclude={branch}"));
    from.push("--not");
    from.extend(exclude.as_deref());
    from.extend(["--glob=refs/heads", "--remotes", "--tags"]);
    let counted = git(tree, &from)?;
    let commits = line(&counted).and_then(|line| line.trim().parse::<u64>().ok());
    match commits {
        Some(0) => {}
        Some(1) => lost.push("1 commit is on no other branch and not pushed".to_owned()),
        Some(some) => lost.push(format!("{some} commits are on no other branch and not pushed")),
        None => return Err(format!("git does not say what was committed: {}", first_error_line(&counted))),
    }
    lost.extend(unfinished_operation(tree)?);
    if found.is_locked {
        lost.push("the work tree is locked".to_owned());
    }
    Ok(lost)
}

/// Whether a directory is in a work tree that was made for a task.
pub fn is_own_work_tree(tree: &RepoContext) -> bool {
    own_tree(&with_long_limit(tree)).is_ok()
}

/// Removes a work tree and its branch. If work would be lost, returns a message and removes nothing.
pub fn remove_work_tree(tree: &RepoContext) -> Result<(), String> {
    let tree = &with_long_limit(tree);
    let lost = unsaved_work(tree)?;
    if !lost.is_empty() {
        return Err(lost.join("; "));
    }
    let found = own_tree(tree)?;
    let main = RepoContext { directory: main_tree(tree)?, tools: tree.tools.clone() };
    // Not forced: git refuses if anything has changed since the check.
    let removed = git_with_hooks(&main, &["worktree", "remove", &found.path.to_string_lossy()])?;
    if !has_succeeded(&removed) {
        return Err(format!("git does not remove it: {}", first_error_line(&removed)));
    }
    if let Some(branch) = found.branch.filter(|branch| branch.starts_with("refs/heads/worktree-")) {
        // Only if it still is what was checked.
        let _ = git(&main, &["update-ref", "-d", &branch, &found.head])?;
    }
    Ok(())
}

/// A work tree as listed by git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ListedTree {
    path: PathBuf,
    head: String,
    branch: Option<String>,
    is_locked: bool,
}

fn with_long_limit(context: &RepoContext) -> RepoContext {
    let tools = ToolSettings { git_limit: LIMIT, ..context.tools.clone() };
    RepoContext { directory: context.directory.clone(), tools }
}

/// Finds the tree in git's list and checks that it was created by this module.
fn own_tree(tree: &RepoContext) -> Result<ListedTree, String> {
    let main = main_tree(tree)?;
    let root = canonical(&crate::work_tree(tree));
    let found = trees(tree)?.into_iter().find(|found| found.path == root);
    let found = found.filter(|found| found.path.parent() == Some(&main.join(FOLDER)));
    found.ok_or_else(|| format!("{} is no work tree that was made for a task", root.display()))
}

/// Root of the repository's main work tree.
fn main_tree(context: &RepoContext) -> Result<PathBuf, String> {
    let all = trees(context)?;
    let main = all.first().filter(|main| !main.head.is_empty());
    main.map(|main| main.path.clone())
        .ok_or_else(|| format!("{} is in no repository with a commit", context.directory.display()))
}

fn trees(context: &RepoContext) -> Result<Vec<ListedTree>, String> {
    let listed = git(context, &["worktree", "list", "--porcelain", "-z"])?;
    Ok(if has_succeeded(&listed) { parse(&listed.stdout) } else { Vec::new() })
}

fn parse(bytes: &[u8]) -> Vec<ListedTree> {
    let mut trees: Vec<ListedTree> = Vec::new();
    for field in fields(bytes) {
        let (key, value) = field.split_once(' ').unwrap_or((&field, ""));
        if key == "worktree" {
            trees.push(ListedTree { path: canonical(Path::new(value)), ..ListedTree::default() });
        }
        let Some(tree) = trees.last_mut() else { continue };
        match key {
            "HEAD" => value.clone_into(&mut tree.head),
            "branch" => tree.branch = Some(value.to_owned()),
            "locked" => tree.is_locked = true,
            _ => {}
        }
    }
    trees
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Excludes the folder of work trees from git's untracked files, unless it is ignored already.
fn exclude(context: &RepoContext, main: &Path) -> Result<(), String> {
    let main = RepoContext { directory: main.to_owned(), tools: context.tools.clone() };
    if has_succeeded(&git(&main, &["check-ignore", "--quiet", ".claude/worktrees/x"])?) {
        return Ok(());
    }
    let asked = git(&main, &["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])?;
    let Some(file) = line(&asked).map(PathBuf::from) else { return Ok(()) };
    let write = || -> std::io::Result<()> {
        use std::io::Write as _;
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        let mut file = std::fs::File::options().create(true).append(true).open(&file)?;
        // The last line may lack a newline.
        writeln!(file, "\n{EXCLUDED}")
    };
    write().map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// Describes an unfinished rebase, merge or similar, whose state is in the work tree's git folder.
fn unfinished_operation(tree: &RepoContext) -> Result<Option<String>, String> {
    const SIGNS: [(&str, &str); 5] = [
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
    ];
    for (sign, what) in SIGNS {
        let path = line(&git(tree, &["rev-parse", "--path-format=absolute", "--git-path", sign])?);
        if path.is_some_and(|path| Path::new(&path).exists()) {
            return Ok(Some(format!("{what} is under way")));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_work_tree_names_are_refused() {
        let check = |text: &str, expected: bool| assert_eq!(is_work_tree_name(text), expected, "{text}");
        check("fix-auth", true);
        check("v1.2_x", true);
        for bad in ["", "-x", ".x", "a/b", "a..b", "a b", "x.lock", "x.", "\u{e4}", "../x"] {
            check(bad, false);
        }
        check(&"x".repeat(65), false);
    }

    #[test]
    fn the_output_of_git_worktree_list_is_parsed() {
        let bytes = b"worktree /no/main\0HEAD 11\0branch refs/heads/main\0\0worktree /no/b\0HEAD 22\0detached\0locked why\0\0";
        let tree = |path: &str, head: &str, branch: Option<&str>, is_locked| ListedTree {
            path: path.into(),
            head: head.to_owned(),
            branch: branch.map(str::to_owned),
            is_locked,
        };
        let expected =
            [tree("/no/main", "11", Some("refs/heads/main"), false), tree("/no/b", "22", None, true)];
        assert_eq!(parse(bytes), expected);
        assert_eq!(parse(b""), []);
    }
}
