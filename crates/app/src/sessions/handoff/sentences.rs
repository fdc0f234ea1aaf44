//! Which sentences say what was decided and what is left to do. Pure rules over text.

/// The shortest sentence that says something by itself, in characters.
const SHORTEST: usize = 20;
/// The longest that is quoted, in characters.
const LONGEST: usize = 320;

/// Words with which people and models decide, in small letters.
const DECIDES: [&str; 28] = [
    "decided",
    "decision:",
    "let's go with",
    "go with",
    "going with",
    "we'll use",
    "i'll use",
    "we will use",
    "chose ",
    "choosing ",
    "root cause",
    "the cause is",
    "the cause was",
    "the problem is",
    "the problem was",
    "the bug is",
    "the bug was",
    "turns out",
    "instead of",
    "rather than",
    "must not",
    "should not",
    "don't use",
    "do not use",
    "agreed",
    "prefer ",
    "no longer",
    "approved",
];
/// Words that give a reason or a rule.
const REASONS: [&str; 12] = [
    "because",
    "so that",
    "the fix is",
    "the fix was",
    "the reason",
    "trade-off",
    "tradeoff",
    "constraint",
    "important:",
    "note:",
    "never ",
    "always ",
];
/// Words that say that something is left to do.
const OPEN: [&str; 16] = [
    "next step",
    "next:",
    "remaining",
    "still need",
    "still to",
    "not yet",
    "todo",
    "to do:",
    "follow-up",
    "followup",
    "left to do",
    "haven't",
    "has not been",
    "should i",
    "would you like",
    "pending",
];

/// With these a sentence says what is done next, or asks for it.
const NARRATES: [&str; 9] = [
    "now let me",
    "let me ",
    "now i'll",
    "i'll now",
    "now i ",
    "can you",
    "could you",
    "first, let me",
    "great",
];

/// How much a sentence decides; 0 for one that does not.
pub(super) fn decides(sentence: &str, is_persons: bool) -> u32 {
    let small = sentence.to_lowercase();
    let count = |words: &[&str]| words.iter().filter(|word| small.contains(**word)).count();
    let score = 2 * count(&DECIDES) + count(&REASONS);
    if score == 0 {
        return 0;
    }
    // A person's word is a decision, and what begins a proposal is none.
    let is_asked = sentence.ends_with(['?', ':']) || NARRATES.iter().any(|word| small.starts_with(word));
    let score = score + if is_persons { 2 } else { 0 };
    if is_asked || score < 2 { 0 } else { u32::try_from(score).unwrap_or(u32::MAX) }
}

/// Whether a sentence says that something is left to do.
pub(super) fn is_open(sentence: &str) -> bool {
    let small = sentence.to_lowercase();
    OPEN.iter().any(|word| small.contains(word))
}

/// The sentences of a text that are worth a quotation, without Markdown's signs and without code.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let is_table = line.trim_start().starts_with('|');
        if is_code || is_table || line.trim_start().starts_with('#') {
            continue;
        }
        found.extend(of_line(&plain(line)));
    }
    found
}

/// A line without the signs of lists and of emphasis.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches(['-', '*', '+', '>', '•', ' ']);
    let numbered =
        line.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let line = numbered.map_or(line, |(_, rest)| rest);
    line.replace("**", "").replace("__", "")
}

fn of_line(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(end) = end_of_sentence(rest) {
        let (sentence, more) = rest.split_at(end);
        found.push(sentence.trim().to_owned());
        rest = more;
    }
    found.push(rest.trim().to_owned());
    found.retain(|sentence| sentence.chars().count() >= SHORTEST);
    found.iter_mut().for_each(cut);
    found
}

/// Where the first sentence ends, with its sign; `None` where it is the only one.
fn end_of_sentence(text: &str) -> Option<usize> {
    let ends = text.match_indices(['.', '!', '?', ';']);
    ends.map(|(at, sign)| at + sign.len()).find(|end| {
        let (before, after) = text.split_at(*end);
        // Not within `v1.2`, `e.g.` or a path.
        let begins_another =
            after.starts_with(' ') && after.trim_start().starts_with(|c: char| c.is_uppercase() || c == '`');
        begins_another && before.chars().count() > 3 && !before.ends_with("e.g.") && !before.ends_with("i.e.")
    })
}

fn cut(sentence: &mut String) {
    if let Some((end, _)) = sentence.char_indices().nth(LONGEST) {
        sentence.truncate(end);
        sentence.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_its_sentences() {
        let text = "## Plan\n- **Rotate** the token once, e.g. in `auth.rs`. The old one stays valid for 30 s.\n\
                    ```\nlet decided = because;\n```\n| a | table row that is long |\n1. Version v1.2.3 must not change here";
        assert_eq!(
            sentences(text),
            [
                "Rotate the token once, e.g. in `auth.rs`.",
                "The old one stays valid for 30 s.",
                "Version v1.2.3 must not change here",
            ]
        );
    }

    #[test]
    fn a_question_decides_nothing() {
        assert!(decides("Let's go with a rotating token instead of a longer lifetime.", false) >= 4);
        assert!(decides("The root cause is a race between two refreshes.", false) >= 2);
        assert_eq!(decides("Should we use the cache instead of the database?", false), 0);
        assert_eq!(decides("Now let me remove the lock, which is no longer needed.", false), 0);
        assert_eq!(decides("I read the file and it looks fine.", false), 0);
        assert_eq!(decides("It failed because the port was taken.", false), 0, "a reason alone");
        assert!(decides("Never touch the billing tables because they are shared.", true) >= 2);
    }

    #[test]
    fn what_is_open_says_so() {
        assert!(is_open("The migration has not been run on staging."));
        assert!(is_open("Next step: wire the new column."));
        assert!(!is_open("All tests pass."));
    }
}
