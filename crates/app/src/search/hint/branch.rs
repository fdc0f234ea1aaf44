//! Questions for a branch.

use std::ops::Range;

use super::words::{EMPTY, Words};
use super::{Hint, LooksLike};
use crate::NextStep;

/// A branch that is named beside the word at `at`: "the wingman branch", "branch fix/token".
pub(super) fn branch(words: &Words<'_>, at: usize, branches: &[&str]) -> Option<Hint> {
    let bare = words.bare();
    let before = at.checked_sub(1).filter(|place| !EMPTY.contains(&bare[*place]));
    let after = Some(at + 1).filter(|place| *place < bare.len() && !EMPTY.contains(&bare[*place]));
    let (place, branch) =
        before.into_iter().chain(after).find_map(|place| Some((place, known(bare[place], branches)?)))?;
    Some(on_branch(words, place.min(at)..place.max(at) + 1, place, branch))
}

/// A branch that is named in full where no word says that it is one: "the latest on fix/token-refresh".
pub(super) fn whole_branch(words: &Words<'_>, branches: &[&str]) -> Option<Hint> {
    let whole = |word: &str| branches.iter().find(|branch| branch.to_lowercase() == *word);
    let with_slash = words.bare.iter().enumerate().filter(|(_, word)| word.contains('/'));
    let (at, branch) = with_slash.into_iter().find_map(|(at, word)| Some((at, whole(word)?)))?;
    Some(on_branch(words, at..at + 1, at, branch))
}

/// The hint at what is on a branch, which the words in `taken` name, best the one at `named`.
fn on_branch(words: &Words<'_>, taken: Range<usize>, named: usize, branch: &str) -> Hint {
    let is_all = words.telling(&taken).is_empty();
    let branch = branch.to_owned();
    let next_step = if is_all {
        NextStep::ListBranch { branch }
    } else {
        // "on the wingman branch" is gone as a whole.
        let is_article = taken.start.checked_sub(1).is_some_and(|at| words.bare[at] == "the");
        let taken = taken.start - usize::from(is_article)..taken.end;
        NextStep::SearchBranch { words: words.others(&taken), branch }
    };
    let words = words.said(named..named + 1);
    Hint { looks_like: LooksLike::Branch, words, next_step, is_all, searched: None }
}

/// The branch that a word names: its whole name, else the part behind its last slash. Fewer words of a name may be what
/// the question is about.
fn known<'a>(word: &str, branches: &[&'a str]) -> Option<&'a str> {
    let is_whole = |branch: &&&str| branch.to_lowercase() == word;
    let is_end = |branch: &&&str| branch.to_lowercase().rsplit('/').next() == Some(word);
    branches.iter().find(is_whole).or_else(|| branches.iter().find(is_end)).copied()
}
