//! Asks git which commit a line is from, and what a commit is. No program that the repository names is run.

use std::path::Path;

use jiff::Timestamp;

use crate::RepoContext;
use crate::child::{first_error_line, has_succeeded};
use crate::git::{Commit, commit_of, git, git_without_filters};

/// A line of a file, as git knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The line's text.
    pub text: String,
    /// The commit that it is from; `None` where it is not committed.
    pub commit: Option<Commit>,
    /// When that was made, or last made again: an amended commit keeps its author's date.
    pub committed: Option<Timestamp>,
}

/// The commit that a line of a file is from, the line counted from 1; `file` is a path in the work tree.
pub fn blame_line(context: &RepoContext, file: &Path, line: u64) -> Result<BlamedLine, String> {
    let range = format!("-L{line},{line}");
    let file = file.to_str().ok_or("git cannot be asked about this path")?;
    let arguments = ["blame", "--porcelain", "--no-textconv", &range, "--", file];
    let answer = git_without_filters(context, &arguments)?;
    if !has_succeeded(&answer) {
        return Err(first_error_line(&answer));
    }
    parse(&String::from_utf8_lossy(&answer.stdout)).ok_or_else(|| "git's answer is not understood".to_owned())
}

/// The commit that goes by a name: the beginning of a hash, a branch, `HEAD~2`; `None` where there is none.
pub fn commit_named(context: &RepoContext, name: &str) -> Option<Commit> {
    if name.is_empty() || name.starts_with('-') {
        return None;
    }
    let arguments = ["log", "-z", "-1", "--format=%H%x00%an%x00%aI%x00%s", "--end-of-options", name, "--"];
    let answer = git(context, &arguments).ok().filter(has_succeeded)?;
    commit_of(&answer.stdout)
}

/// What `git blame --porcelain` prints of one line: its commit, facts of it, and the line behind a tab.
fn parse(text: &str) -> Option<BlamedLine> {
    let sha = text.split_whitespace().next()?.to_owned();
    let fact = |name: &str| {
        text.lines()
            .take_while(|line| !line.starts_with('\t'))
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    let line = text.lines().find_map(|line| line.strip_prefix('\t'))?;
    let is_committed = sha.bytes().any(|byte| byte != b'0');
    let moment = |name: &str| Timestamp::from_second(fact(name)?.parse().ok()?).ok();
    let committed = moment("committer-time").filter(|_| is_committed);
    let commit = is_committed.then(|| Commit {
        message: fact("summary").unwrap_or_default().to_owned(),
        author: fact("author").unwrap_or_default().to_owned(),
        date: moment("author-time"),
        sha,
    });
    Some(BlamedLine { text: line.to_owned(), commit, committed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_its_commit() {
        let text = "1a2b3c4d5e6f 3 4 1\nauthor Ana\nauthor-mail <a@b>\nauthor-time 1767323045\ncommitter-time 1767323046\nsummary Fix it\nfilename a.rs\n\tlet a = 1;\n";
        let blamed = parse(text).unwrap();
        let commit = blamed.commit.clone().unwrap();
        assert_eq!(blamed.committed, "2026-01-02T03:04:06Z".parse().ok());
        assert_eq!((blamed.text.as_str(), commit.sha.as_str()), ("let a = 1;", "1a2b3c4d5e6f"));
        assert_eq!((commit.author.as_str(), commit.message.as_str()), ("Ana", "Fix it"));
        assert_eq!(commit.date, "2026-01-02T03:04:05Z".parse().ok());
        assert_eq!(parse("0000000 1 1 1\nsummary x\n\ta\n").unwrap().commit, None);
        assert_eq!(parse(""), None);
    }
}
