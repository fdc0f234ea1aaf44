//! Reads the checked-out branch from git's `HEAD` file, which is much faster than starting git.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read from the file.
const CAP: u64 = 4096;
/// Content of `HEAD` in repositories that use the reftable format.
const REFTABLE_HEAD: &str = ".invalid";

/// What `HEAD` refers to, in the usual format (gitrepository-layout(5)).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A branch, which may have no commit yet.
    Branch(String),
    /// A commit is checked out, not a branch.
    Detached,
}

/// The `HEAD` of the work tree that contains a directory; `None` if git has to be asked.
pub(crate) fn head(directory: &Path) -> Option<Head> {
    // A relative path would be resolved against the working directory of this process.
    let above = directory.ancestors().filter(|_| directory.is_absolute());
    let dot_git = above.map(|root| root.join(".git")).find(|dot_git| dot_git.exists())?;
    parse(&line(&git_folder(&dot_git)?.join("HEAD"))?)
}

/// The git folder; in linked work trees and submodules `.git` is a file that names it.
fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let pointer = line(dot_git)?;
    Some(dot_git.parent()?.join(pointer.strip_prefix("gitdir:")?.trim()))
}

fn parse(head: &str) -> Option<Head> {
    if let Some(branch) = head.strip_prefix("ref: refs/heads/") {
        return (branch != REFTABLE_HEAD && !branch.is_empty()).then(|| Head::Branch(branch.to_owned()));
    }
    let is_hash = matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(Head::Detached)
}

fn line(path: &Path) -> Option<String> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let mut text = String::new();
    is_file.then(|| File::open(path).ok()).flatten()?.take(CAP).read_to_string(&mut text).ok()?;
    Some(text.lines().next()?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_head_is_read() {
        let check = |text: &str, expected: Option<Head>| assert_eq!(parse(text), expected, "{text}");
        let branch = |name: &str| Some(Head::Branch(name.to_owned()));
        check("ref: refs/heads/main", branch("main"));
        check("ref: refs/heads/feature/größe", branch("feature/größe"));
        check("ref: refs/heads/.invalid", None);
        check("ref: refs/heads/", None);
        check("ref: refs/remotes/origin/main", None);
        check(&"a1".repeat(20), Some(Head::Detached));
        check(&"a1".repeat(32), Some(Head::Detached));
        check("a1a1", None);
        check("", None);
    }
}
