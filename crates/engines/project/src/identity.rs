//! How a repository is recognized after it was moved or cloned again: by its first commits and its remotes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::RepoContext;
use crate::child::{has_succeeded, line};
use crate::git::git;

/// How many remotes and first commits are noted.
const MOST: usize = 16;

/// What identifies a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepoIdentity {
    /// The root of the work tree.
    pub root: PathBuf,
    /// The commits without parents that the checked-out one descends from.
    pub first_commits: BTreeSet<String>,
    /// Host and path of each remote, without anything secret.
    pub remotes: BTreeSet<String>,
}

/// The repository that contains the directory; `None` outside of one.
pub fn identity(context: &RepoContext) -> Option<RepoIdentity> {
    let root =
        line(&git(context, &["rev-parse", "--show-toplevel"]).ok()?).filter(|root| !root.is_empty())?;
    let lines = |arguments: &[&str]| -> Vec<String> {
        let answer = git(context, arguments).ok().filter(has_succeeded);
        let text = answer.and_then(|answer| line(&answer)).unwrap_or_default();
        text.lines().take(MOST).map(str::to_owned).collect()
    };
    let remotes = lines(&["config", "--get-regexp", r"^remote\..*\.url$"]);
    Some(RepoIdentity {
        root: root.into(),
        first_commits: lines(&["rev-list", "--max-parents=0", "HEAD"]).into_iter().collect(),
        remotes: remotes.iter().filter_map(|line| place(line.split_once(' ')?.1)).collect(),
    })
}

/// Whether the repository has a commit whose hash begins like this.
pub fn has_commit(context: &RepoContext, hash: &str) -> bool {
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash
        && git(context, &["cat-file", "-e", &format!("{hash}^{{commit}}")])
            .is_ok_and(|answer| has_succeeded(&answer))
}

/// `host/path` of a remote's address, however it is written; a path in the file system stays one.
fn place(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let rest = match authority.rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    let rest = if url.contains("://") { rest.to_owned() } else { rest.replacen(':', "/", 1) };
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let rest = rest.strip_suffix(".git").unwrap_or(rest);
    (!rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_normalized_without_passwords() {
        let check = |url: &str, expected: Option<&str>| assert_eq!(place(url).as_deref(), expected, "{url}");
        check("https://github.com/ana/shop.git", Some("github.com/ana/shop"));
        check("https://ana:secret@github.com/ana/shop/", Some("github.com/ana/shop"));
        check("git@github.com:ana/shop.git", Some("github.com/ana/shop"));
        check("ssh://git@github.com/ana/shop", Some("github.com/ana/shop"));
        check("/srv/git/shop.git", Some("/srv/git/shop"));
        check("", None);
    }
}
