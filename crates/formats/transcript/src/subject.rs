//! Makes a title of a prompt: what it asks for, without a greeting or the polite words before it.
//!
//! Pure text rules. A prompt that says little ("hi", "yes and yes") weighs little, so that a later one can take its
//! place.

use crate::speech::is_command;
use crate::text::preview;

/// From this weight on a prompt says what a session is about.
const CLEAR: usize = 2;
/// The weight that a prompt has to have in order to replace an earlier, unclear one.
const CLEARER: usize = 3;
/// A title shorter than this, in characters, is unclear whatever its words are.
const SHORT: usize = 8;
/// How much of a prompt is looked at, in bytes.
const BEGINNING: usize = 4 << 10;
/// The prompts that are considered.
const PROMPTS: u8 = 8;

/// What Claude Code puts before a plan that was accepted in another session.
pub(crate) const ACCEPTED_PLAN: &str = "Implement the following plan:";

/// Openings that say nothing about the task, in lower case; the longest first where one begins another.
const OPENINGS: [&str; 34] = [
    "i would like you to",
    "i'd like you to",
    "i want you to",
    "i need you to",
    "could you please",
    "would you please",
    "can you please",
    "can you help me",
    "could you",
    "would you",
    "can you now",
    "can you also",
    "can you",
    "could we",
    "can we also",
    "can we",
    "let us",
    "let's",
    "lets",
    "please help me",
    "help me",
    "please",
    "hello there",
    "hello claude",
    "hello",
    "hey claude",
    "hey",
    "hi there",
    "hi claude",
    "hi",
    "okay",
    "ok",
    "now",
    "so",
];

/// Words that say nothing about a task, in lower case.
const EMPTY_WORDS: &str = " a about again all also an and any are at be but by can could did do does for from go get \
    give good great had has have hello help here hey hi how if in into is it its just let lets like look make me my \
    need no not now of off ok okay on one or other our out please see should so some sorry sure take tell test than \
    thank thanks that the their them then there these they thing things this to too try up us use want was we were \
    what when where which why will with would yes yep you your both bit continue proceed done next hallo danke bitte \
    ja nein weiter bonjour merci hola gracias ";

/// The title that the prompts of a session give.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Subject {
    title: Option<String>,
    weight: usize,
    prompts: u8,
}

impl Subject {
    /// The title; `None` before the first prompt that has any.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Considers the next prompt, in the person's words.
    pub(crate) fn consider(&mut self, prompt: &str) {
        if self.weight >= CLEAR || self.prompts == PROMPTS {
            return;
        }
        self.prompts += 1;
        let Some(title) = title(prompt) else { return };
        let weight = if title.chars().count() < SHORT { 0 } else { weight(&title) };
        let is_clearer = weight >= if self.prompts == 1 { CLEAR } else { CLEARER };
        if self.title.is_none() || is_clearer {
            (self.title, self.weight) = (Some(title), weight);
        }
    }
}

/// A prompt's title: a plan's heading, a command with its arguments, or the first line that says enough.
fn title(prompt: &str) -> Option<String> {
    let prompt = prompt[..prompt.floor_char_boundary(BEGINNING)].trim();
    let text = if let Some(plan) = prompt.strip_prefix(ACCEPTED_PLAN) {
        heading(plan).unwrap_or(plan)
    } else if prompt.starts_with('#') {
        heading(prompt).unwrap_or(prompt)
    } else if is_command(prompt) {
        return Some(preview(prompt));
    } else {
        first_clear_line(prompt)
    };
    let title = preview(&without_opening(text));
    (!title.is_empty()).then_some(title)
}

/// The first Markdown heading, without the word "plan" before it.
fn heading(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    let heading = line.trim_start_matches('#').trim();
    let named =
        ["Implementation Plan:", "Plan:", "Implementation Plan -", "Plan -", "Implementation Plan for"]
            .iter()
            .find_map(|word| strip_prefix_ignoring_case(heading, word));
    let heading = named.map_or(heading, str::trim);
    (!heading.is_empty()).then_some(heading)
}

/// The first line where it says what is asked for, else all of the text.
fn first_clear_line(text: &str) -> &str {
    let first = text.lines().next().unwrap_or(text).trim();
    if weight(first) > CLEARER { first.trim_end_matches(':') } else { text }
}

/// The text without polite words before it, where enough is left.
fn without_opening(text: &str) -> String {
    let mut rest = text;
    while let Some(shorter) = OPENINGS.iter().find_map(|opening| after_opening(rest, opening)) {
        rest = shorter;
    }
    if rest.len() == text.len() || weight(rest) < CLEAR {
        return text.to_owned();
    }
    capitalized(rest)
}

/// What follows an opening that ends with its word.
fn after_opening<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let rest = strip_prefix_ignoring_case(text, opening)?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '.' | '/')) {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '!' | ':' | '?'));
    (!rest.is_empty()).then_some(rest)
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Begins with a capital letter where the first word is a plain one.
fn capitalized(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or("");
    let is_plain = word.trim_end_matches([',', ':', ';']).chars().all(|c| c.is_ascii_lowercase());
    let mut chars = text.chars();
    match chars.next().filter(|_| is_plain) {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => text.to_owned(),
    }
}

/// How many words say something about a task. Scripts without spaces count two characters as a word.
fn weight(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-' | '/')).map(word_weight).sum()
}

fn word_weight(word: &str) -> usize {
    let word = word.trim_matches(['.', '-', '/', '_']);
    match word.chars().next() {
        Some(first) if first >= '\u{2e80}' => word.chars().count() / 2,
        _ if word.chars().count() < 2 || word.bytes().all(|byte| byte.is_ascii_digit()) => 0,
        _ => usize::from(!EMPTY_WORDS.contains(&format!(" {} ", word.to_lowercase()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompts: &[&str], expected: Option<&str>) {
        let mut subject = Subject::default();
        for prompt in prompts {
            subject.consider(prompt);
        }
        assert_eq!(subject.title(), expected, "{prompts:?}");
    }

    #[test]
    fn a_prompt_without_its_opening() {
        check(&["Fix the token refresh"], Some("Fix the token refresh"));
        check(&["can you review the changes in this branch"], Some("Review the changes in this branch"));
        check(&["Hi Claude, could you please update go to 1.25.6"], Some("Update go to 1.25.6"));
        check(
            &["let's make the \"entire start\" command hidden"],
            Some("Make the \"entire start\" command hidden"),
        );
        check(&["please cargo-deny the new licence"], Some("cargo-deny the new licence"));
        check(&["hijack the session cookie"], Some("hijack the session cookie"));
        check(&["now.json is written twice"], Some("now.json is written twice"));
        check(&["can you?"], Some("can you?"));
        check(&["修复令牌刷新的错误"], Some("修复令牌刷新的错误"));
    }

    #[test]
    fn a_plan_by_its_heading() {
        check(
            &[
                "Implement the following plan:\n\n# Implementation Plan: `entire reset` Command\n\n## Overview",
            ],
            Some("`entire reset` Command"),
        );
        check(&["Implement the following plan:\n\n# Fix E2E Test Issues\n\nx"], Some("Fix E2E Test Issues"));
        check(&["Implement the following plan:\nJust rename the module"], Some("Just rename the module"));
    }

    #[test]
    fn a_command_with_its_arguments() {
        check(&["/review 181"], Some("/review 181"));
        check(&["/review", "look at the retry loop in fetch.rs"], Some("look at the retry loop in fetch.rs"));
    }

    #[test]
    fn of_a_long_prompt_the_first_line_that_says_enough() {
        check(
            &["let's respond to the PR comments of Soph\n- review together\n- then push"],
            Some("Respond to the PR comments of Soph"),
        );
        check(
            &["brainstorm:\n- automatically generate checkpoint summaries"],
            Some("brainstorm: - automatically generate checkpoint summaries"),
        );
    }

    #[test]
    fn a_prompt_that_says_little_gives_way_to_a_clear_one() {
        check(&["hi"], Some("hi"));
        check(&["hi", "fix the flaky login test on CI"], Some("fix the flaky login test on CI"));
        check(&["hi", "yes", "ok"], Some("hi"));
        check(&["fix tests", "rewrite the parser in Rust today"], Some("fix tests"));
        check(&["yes and yes", "1", "port the exporter to Windows"], Some("port the exporter to Windows"));
        check(&[], None);
    }

    #[test]
    fn only_the_first_prompts_are_considered() {
        let mut subject = Subject::default();
        (0..PROMPTS).for_each(|_| subject.consider("ok"));
        subject.consider("port the exporter to Windows");
        assert_eq!(subject.title(), Some("ok"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_title_or_none(text in "\\PC{0,80}") {
            let mut subject = Subject::default();
            subject.consider(&text);
            proptest::prop_assert!(subject.title().is_none_or(|title| !title.is_empty()));
        }
    }
}
