//! Questions for the newest of several sessions.

use super::words::Words;
use super::{Hint, LooksLike};
use crate::NextStep;

/// "My last session" and "what did I do last" ask for the newest of all.
pub(super) fn last(words: &Words<'_>) -> Option<Hint> {
    let is_last = |word: &String| matches!(&**word, "last" | "latest" | "newest" | "recent" | "recently");
    let count = words.bare.len();
    let is_all = count > 1 && words.bare.iter().any(is_last) && words.telling_words().is_none();
    let (next_step, words) = (NextStep::ListNewest, words.said(0..count));
    is_all.then_some(Hint { looks_like: LooksLike::Order, words, next_step, is_all, searched: None })
}

/// "The last session about the migration" asks for the newest whose title says so, not for the best match.
pub(super) fn last_about(words: &Words<'_>) -> Option<Hint> {
    let bare = words.bare();
    let is_last = |word: &str| matches!(word, "last" | "latest" | "newest" | "recent");
    let is_session = |word: &str| matches!(word, "session" | "conversation" | "chat");
    let at = bare.windows(2).position(|two| is_last(two[0]) && is_session(two[1]))?;
    let is_about = matches!(*bare.get(at + 2)?, "about" | "on" | "with" | "where" | "that" | "for");
    let end = bare.len();
    let about = Words { bare: words.bare[at + 2..end].to_vec(), typed: words.typed[at + 2..end].to_vec() };
    let telling = about.telling_words().filter(|_| is_about)?;
    let next_step = NextStep::ListWords { words: telling, by_cost: false };
    let words = words.said(at..at + 2);
    Some(Hint { looks_like: LooksLike::Order, words, next_step, is_all: false, searched: None })
}
