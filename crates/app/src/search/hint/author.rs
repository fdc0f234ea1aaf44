//! Questions for who wrote a file.

use super::words::Words;
use super::{Hint, LooksLike};
use crate::NextStep;

/// Words for what is done to a file.
const WRITTEN: [&str; 9] =
    ["wrote", "written", "changed", "edited", "modified", "touched", "created", "added", "made"];

/// The longest ending of a file's name, in bytes.
const ENDING: usize = 5;

/// "Who wrote resume.go" and "which session changed src/token.rs:12" ask for the sessions that did.
pub(super) fn author(words: &Words<'_>) -> Option<Hint> {
    let bare = words.bare();
    let asks = match bare.as_slice() {
        ["who", ..] => 1,
        ["which" | "what", "session" | "sessions" | "conversation", ..] => 2,
        _ => return None,
    };
    let verb = asks + bare[asks..].iter().position(|word| WRITTEN.contains(word))?;
    let is_led =
        bare[asks..verb].iter().all(|word| matches!(*word, "has" | "have" | "last" | "first" | "was"));
    let at = (verb + 1..bare.len()).find(|at| !matches!(bare[*at], "the" | "file" | "in" | "line"))?;
    let file = words.said(at..at + 1);
    let is_file = at + 1 == bare.len() && is_led && is_name_of_file(&file);
    let next_step = NextStep::Blame { file };
    let words = words.said(0..verb + 1);
    is_file.then_some(Hint { looks_like: LooksLike::Author, words, next_step, is_all: false, searched: None })
}

/// Whether a word is a path, or a name with an ending such as `.go`; a line may follow.
fn is_name_of_file(word: &str) -> bool {
    let (path, line) = word.rsplit_once(':').unwrap_or((word, "1"));
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending =
            (1..=ENDING).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
        !stem.is_empty() && is_ending
    });
    line.parse::<u64>().is_ok() && has_ending
}
