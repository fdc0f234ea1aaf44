//! What is said about the answer to a question besides its hits, in words.

use app::search::{Answer, Hint};
use app::{Context, NextStep};

use crate::next_step::as_command;
use crate::text::safe;

/// The most words of a question that are said to be unknown.
const UNKNOWN: usize = 4;

/// What to say where there are no sessions at all.
pub(crate) fn no_sessions(context: &Context) -> String {
    let folders = &context.config().claude_folders;
    let folders: Vec<_> =
        folders.iter().map(|folder| folder.join("projects").display().to_string()).collect();
    format!(
        "There are no sessions in {}. Try --demo, or set CLAUDE_CONFIG_DIR to the folder that holds yours.",
        safe(&folders.join(", "))
    )
}

/// What a question looks like, and the command that answers it.
pub(crate) fn hinted(hint: &Hint) -> String {
    let command = safe(&as_command(&hint.next_step));
    let limited = match hint.next_step {
        NextStep::SearchBetween { .. } => "; to search only then",
        NextStep::SearchBranch { .. } => "; to search only there",
        _ => "",
    };
    format!("`{}` looks like {}{limited}: {command}", safe(&hint.words), hint.looks_like.phrase())
}

/// What is above weak matches, which come after good ones or alone.
pub(crate) fn weak_heading(is_alone: bool) -> &'static str {
    if is_alone { "No good matches. The nearest:" } else { "Weak matches:" }
}

/// The words of a question that no session has.
pub(crate) fn unknown_words(answer: &Answer) -> Option<String> {
    let words: Vec<String> = answer.unknown_words.iter().map(|word| format!("`{}`", safe(word))).collect();
    let shown = &words[..words.len().min(UNKNOWN)];
    let s = if shown.len() > 1 { "s" } else { "" };
    (!shown.is_empty()).then(|| format!("No session has the word{s} {}.", shown.join(", ")))
}

/// The words that sessions have in place of those of a question that found nothing.
pub(crate) fn similar_words(answer: &Answer) -> Option<String> {
    let words: Vec<String> = answer.did_you_mean.iter().map(|word| format!("`{}`", safe(word))).collect();
    (!words.is_empty()).then(|| format!("Did you mean {}?", words.join(" or ")))
}
