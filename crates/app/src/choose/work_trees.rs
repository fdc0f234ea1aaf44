//! Marks the sessions that were started in another work tree than the one a task is for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Marks the sessions that were started in another work tree, each given by its directory and its mark. One whose
/// directory is gone is in none.
pub(crate) fn mark_others<'a>(
    directory: &Path,
    sessions: impl Iterator<Item = (&'a Arc<Path>, &'a mut bool)>,
) {
    let Some(ours) = tree_of(directory) else { return };
    // Thousands of sessions share a few directories.
    let mut known: HashMap<Arc<Path>, bool> = HashMap::new();
    for (cwd, is_in_other_tree) in sessions {
        let is_other = || tree_of(cwd).is_some_and(|theirs| theirs != ours);
        *is_in_other_tree =
            *known.entry(Arc::clone(cwd)).or_insert_with(|| !cwd.as_ref().eq(directory) && is_other());
    }
}

/// The work tree that a directory belongs to: the nearest above it that holds `.git`.
fn tree_of(directory: &Path) -> Option<PathBuf> {
    let found = directory.is_dir().then(|| directory.ancestors().find(|above| above.join(".git").exists()));
    found.flatten().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_work_tree_is_the_nearest_folder_with_git_in_it() {
        let scratch = tempfile::tempdir().unwrap();
        let [main, linked] = ["shop", "shop/.worktrees/fix"].map(|name| scratch.path().join(name));
        fs::create_dir_all(main.join(".git")).unwrap();
        fs::create_dir_all(linked.join("src")).unwrap();
        fs::write(linked.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(tree_of(&main.join(".worktrees")), Some(main.clone()));
        assert_eq!(tree_of(&linked.join("src")), Some(linked));
        assert_eq!(tree_of(&main.join("gone")), None, "what is gone is in none");
    }
}
