//! The work tree that a session's changes are in, also where its directory is gone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Session;

/// The folders of a repository that work trees are kept in.
const WORK_TREES: [&str; 2] = [".worktrees", ".claude/worktrees"];

/// The root of a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkTreeRoot(PathBuf);

impl WorkTreeRoot {
    /// The root below which most of the changed files are: of the session's own work tree, or another of its
    /// repository.
    pub(super) fn find<'a>(session: &Session, changed: impl Iterator<Item = &'a Path>) -> Self {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let repository = session.repo_path.as_deref().unwrap_or(cwd);
        let own = own_root(cwd, repository);
        let mut files: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for path in changed {
            let other = below_work_trees(repository, path).filter(|other| !own.starts_with(other));
            let root = other.or_else(|| path.starts_with(&own).then(|| own.clone()));
            *files.entry(root.unwrap_or_default()).or_default() += 1;
        }
        files.remove(Path::new(""));
        let most = files.into_iter().max_by_key(|(root, count)| (*count, *root == own));
        Self(most.map_or(own, |(root, _)| root))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The path relative to the root; `None` where it is not below it.
    pub(super) fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.0).ok()
    }
}

fn own_root(cwd: &Path, repository: &Path) -> PathBuf {
    let on_disk = cwd.ancestors().find(|folder| folder.join(".git").exists());
    // A work tree's name can have slashes, as a branch's: for a deleted one only the directory is known.
    let is_in_repository = cwd.starts_with(repository) && below_work_trees(repository, cwd).is_none();
    on_disk.unwrap_or(if is_in_repository { repository } else { cwd }).to_owned()
}

/// The work tree that a path is in, where it is kept inside the repository.
fn below_work_trees(repository: &Path, path: &Path) -> Option<PathBuf> {
    WORK_TREES.iter().find_map(|folder| {
        let folder = repository.join(folder);
        let name = path.strip_prefix(&folder).ok()?.components().next()?;
        Some(folder.join(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session;

    #[test]
    fn the_work_tree_with_most_changes_is_the_root() {
        let check = |cwd: &str, changed: &[&str], expected: &str| {
            let mut session = session("s");
            session.cwd = Some(Path::new(cwd).into());
            session.repo_path = Some(Path::new("/no/shop").into());
            let root = WorkTreeRoot::find(&session, changed.iter().map(Path::new));
            assert_eq!(root.path(), Path::new(expected), "{changed:?}");
        };
        check("/no/shop", &["/no/shop/a", "/no/shop/b/c"], "/no/shop");
        check("/no/shop/sub", &["/no/shop/sub/a"], "/no/shop");
        check(
            "/no/shop",
            &["/no/shop/.worktrees/fix/a", "/no/shop/.worktrees/fix/b", "/x"],
            "/no/shop/.worktrees/fix",
        );
        check(
            "/no/shop/.worktrees/ana/fix",
            &["/no/shop/.worktrees/ana/fix/a"],
            "/no/shop/.worktrees/ana/fix",
        );
        check("/no/shop/.claude/worktrees/w", &["/no/shop/a", "/no/shop/b"], "/no/shop/.claude/worktrees/w");
        check("/no/beside", &["/no/beside/a"], "/no/beside");
        check("/no/beside", &["/x", "/y"], "/no/beside");
    }
}
