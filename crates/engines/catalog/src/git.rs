//! The main repository of a directory, read from git's own files without running git.

use std::path::{Component, Path, PathBuf};

/// The largest `.git` or `commondir` file that is read, in bytes.
const CAP: u64 = 64 << 10;

/// The root of the git repository that contains `directory`; for a worktree, its main repository.
pub(crate) fn repository(directory: &Path) -> Option<PathBuf> {
    let (root, dot_git) =
        directory.ancestors().map(|root| (root, root.join(".git"))).find(|(_, dot_git)| dot_git.exists())?;
    if dot_git.is_dir() {
        return Some(root.to_owned());
    }
    Some(main_repository(root, &dot_git).unwrap_or_else(|| root.to_owned()))
}

/// Follows a worktree's `.git` file to the repository it was made from; a submodule is its own repository.
fn main_repository(root: &Path, dot_git: &Path) -> Option<PathBuf> {
    let pointer = line(dot_git)?;
    let git_folder = normal(&root.join(pointer.strip_prefix("gitdir:")?.trim()));
    let common = normal(&git_folder.join(line(&git_folder.join("commondir"))?));
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().map(Path::to_owned),
        _ => Some(common),
    }
}

fn line(path: &Path) -> Option<String> {
    let bytes = system::read_small(path, CAP).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// The path without `.` and `..`, resolved by its text alone because it may not exist.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[test]
    fn a_worktree_belongs_to_its_main_repository() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |path: &str| scratch.path().join(path);
        let check = |directory: &str, expected: Option<&str>| {
            assert_eq!(repository(&at(directory)), expected.map(at), "{directory}");
        };
        file(&at("main/.git/HEAD"), "");
        file(&at("main/.git/worktrees/w/commondir"), "../..\n");
        file(&at("elsewhere/w/.git"), &format!("gitdir: {}\n", at("main/.git/worktrees/w").display()));
        file(&at("main/sub/.git"), "gitdir: ../.git/modules/sub\n");
        file(&at("bare.git/worktrees/b/commondir"), "../..\n");
        file(&at("b/.git"), "gitdir: ../bare.git/worktrees/b\n");
        file(&at("odd/.git"), "nonsense");
        check("main", Some("main"));
        check("main/src/deep", Some("main"));
        check("elsewhere/w/src", Some("main"));
        check("main/sub", Some("main/sub"));
        check("b", Some("bare.git"));
        check("odd", Some("odd"));
        assert_eq!(repository(Path::new("/proc/self/none")), None);
    }
}
