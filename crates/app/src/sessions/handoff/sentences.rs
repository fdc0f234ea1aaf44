//! Which sentences say what was decided and what is left to do. Pure rules over text.

/// The shortest sentence that is meaningful by itself, in characters.
const SHORTEST: usize = 20;
/// The longest that is quoted, in characters.
const LONGEST: usize = 320;

/// Words with which people and models decide, in small letters.
const DECIDES: [&str; 14] = [
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
    "don't use",
    "do not use",
    "agreed",
    "approved",
];
/// Words that name the cause of something, where it follows.
const CAUSES: [&str; 8] = [
    "root cause",
    "the cause is",
    "the cause was",
    "the problem is",
    "the problem was",
    "the bug is",
    "the bug was",
    "turns out",
];
/// What follows where no cause is named: how it is, rather than what it is.
const VAGUE: [&str; 10] =
    ["more ", "less ", "much ", "very ", "subtle", "clear", "still ", "now ", "here", "that it is "];
/// The fewest words that name a cause.
const CAUSE_WORDS: usize = 3;
/// Words that give a reason, a rule or a choice; one alone is also in what only describes or reviews.
const REASONS: [&str; 18] = [
    "instead of",
    "rather than",
    "must not",
    "should not",
    "prefer ",
    "no longer",
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
const OPEN: [&str; 21] = [
    "next step",
    "next:",
    "remaining:",
    "remaining work",
    "remaining task",
    "remaining step",
    "remaining item",
    "remains to",
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

/// With these a sentence says what is done next, asks for it, or supposes something.
const NARRATES: [&str; 16] = [
    "if ",
    "i'll use the ",
    "i guess",
    "and i guess",
    "i wonder",
    "maybe ",
    "perhaps ",
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
pub(super) fn decision_weight(sentence: &str, is_persons: bool) -> u32 {
    let small = sentence.to_lowercase();
    // What is not always so is no rule.
    let small = small.replace("n't always", "").replace("not always", "");
    let count = |words: &[&str]| words.iter().filter(|word| small.contains(**word)).count();
    let causes = CAUSES.iter().filter(|cause| names_cause(&small, cause)).count();
    let score = 2 * (count(&DECIDES) + causes) + count(&REASONS);
    if score == 0 {
        return 0;
    }
    // What a person says is a decision, unless it begins a proposal.
    let is_asked = sentence.ends_with(['?', ':']) || NARRATES.iter().any(|word| small.starts_with(word));
    let score = score + if is_persons { 2 } else { 0 };
    if is_asked || score < 2 { 0 } else { u32::try_from(score).unwrap_or(u32::MAX) }
}

/// Whether a lower-case sentence continues with a cause after these words: "the bug is more subtle" names none.
fn names_cause(small: &str, words: &str) -> bool {
    let Some((_, rest)) = small.split_once(words) else { return false };
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    rest.split_whitespace().count() >= CAUSE_WORDS && !VAGUE.iter().any(|vague| rest.starts_with(vague))
}

/// Whether a sentence says that something is left to do.
pub(super) fn is_open(sentence: &str) -> bool {
    let small = sentence.to_lowercase();
    OPEN.iter().any(|word| small.contains(word))
}

/// The sentences of a text that can be quoted, without Markdown and code.
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
        assert!(decision_weight("Let's go with a rotating token instead of a longer lifetime.", false) >= 4);
        assert!(decision_weight("The root cause is a race between two refreshes.", false) >= 2);
        assert_eq!(decision_weight("Should we use the cache instead of the database?", false), 0);
        assert_eq!(decision_weight("Now let me remove the lock, which is no longer needed.", false), 0);
        let finding = "If all messages fail to marshal, returns empty slice instead of error.";
        assert_eq!(decision_weight(finding, false), 0, "a finding of a review");
        assert_eq!(decision_weight("It returns an empty slice instead of an error.", false), 0);
        assert_eq!(decision_weight("and I guess we don't always have the token there", true), 0, "a thought");
        assert_eq!(decision_weight("The bug is more subtle.", false), 0, "no cause is named");
        assert_eq!(decision_weight("I found the root cause!", false), 0);
        let skill = "I'll use the brainstorming skill to explore this feature properly.";
        assert_eq!(decision_weight(skill, false), 0, "a tool of the work");
        assert!(decision_weight("I'll use a map that is keyed by session.", false) >= 2);
        assert!(decision_weight("Root cause: the lock is taken twice.", false) >= 2);
        assert_eq!(decision_weight("I read the file and it looks fine.", false), 0);
        assert_eq!(decision_weight("It failed because the port was taken.", false), 0, "a reason alone");
        assert!(decision_weight("Never touch the billing tables because they are shared.", true) >= 2);
    }

    #[test]
    fn open_tasks_are_recognized() {
        assert!(is_open("The migration has not been run on staging."));
        assert!(is_open("Next step: wire the new column."));
        assert!(is_open("The remaining work is the migration of old tokens."));
        assert!(!is_open("All tests pass."));
        assert!(!is_open("The remaining ~20ms is the time that git takes to start."), "a finding");
    }
}
