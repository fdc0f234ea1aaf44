//! Derives a title from a prompt: what it asks for, without a greeting or polite words.
//!
//! Pure text rules. A prompt that says little ("hi", "yes and yes") weighs little, so that a later one can take its
//! place.

use crate::pasted::{is_printed, without_pasted};
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

/// How Claude Code begins a hook's output in place of an answer.
const BY_HOOK: [&str; 3] =
    ["Operation stopped by hook", "Operation blocked by hook", "UserPromptSubmit operation blocked by hook"];

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

/// How the openings begin that word a request as a question.
const REQUESTS: [&str; 3] = ["can ", "could ", "would "];

/// Words that say nothing about a task, in lower case.
const EMPTY_WORDS: &str = " a about again all also an and any are at be but by can could did do does for from go get \
    give good great had has have hello help here hey hi how if in into is it its just let lets like look make me my \
    need no not now of off ok okay on one or other our out please see should so some sorry sure take tell test than \
    thank thanks that the their them then there these they thing things this to too try up us use want was we were \
    what when where which why will with would yes yep you your both bit continue proceed done next hallo danke bitte \
    ja nein weiter bonjour merci hola gracias ";

/// Whether a prompt says nothing without what it answers: "yes please", "continue", a command without arguments. A
/// number is the answer to a question.
pub fn is_bare_assent(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let is_bare_command = is_command(prompt) && !prompt.contains(char::is_whitespace);
    let is_assent = |word: &str| ASSENT.contains(&format!(" {} ", word.to_lowercase()));
    let mut words = prompt.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    is_bare_command || words.all(is_assent)
}

/// Words that agree or ask to go on, in lower case, and those that stand among them.
const ASSENT: &str = " ahead all continue danke do fine for go good great i it ja let's lgtm looks now ok okay on \
    perfect please proceed sounds sure thank thanks that this weiter yea yeah yep yes you ";

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
        let is_short = self.title.as_deref().is_some_and(is_short);
        // Any later sentence is better than a very short title.
        if self.weight >= CLEAR || (self.prompts == PROMPTS && !is_short) {
            return;
        }
        self.prompts = PROMPTS.min(self.prompts + 1);
        let Some(PromptTitle { text, weight }) = PromptTitle::new(prompt) else { return };
        let least = if is_short { 1 } else { CLEARER };
        if self.title.is_none() || weight >= least {
            (self.title, self.weight) = (Some(text), weight);
        }
    }
}

fn is_short(title: &str) -> bool {
    title.chars().count() < SHORT
}

/// The title that one prompt gives.
struct PromptTitle {
    text: String,
    /// How informative it is about the task; 0 if no person wrote it.
    weight: usize,
}

impl PromptTitle {
    fn new(prompt: &str) -> Option<Self> {
        // A line alone does not show every secret in it.
        let beginning = redact::redact_beginning(&prompt[..prompt.floor_char_boundary(BEGINNING)]);
        let prompt = beginning.trim();
        let prompt = without_hook_output(prompt)?;
        let (text, said) = match classify(prompt) {
            PromptSource::All => (title(prompt)?, None),
            PromptSource::Part(said) => (title(&said)?, None),
            PromptSource::Nothing => (title(prompt)?, Some(0)),
        };
        // A command of its own says what is done, but not with what.
        let most = if is_command(&text) && !text.contains(' ') { CLEAR - 1 } else { usize::MAX };
        let weight = if is_short(&text) { 0 } else { weight(&text).min(most) };
        Some(Self { weight: said.unwrap_or(weight), text })
    }
}

/// A prompt without the words of a hook that stopped it, where those of the person follow them.
fn without_hook_output(prompt: &str) -> Option<&str> {
    let first = prompt.lines().next().unwrap_or_default();
    if !BY_HOOK.iter().any(|words| first.starts_with(words)) {
        return Some(prompt);
    }
    prompt.split_once("Original prompt:").map(|(_, words)| words.trim()).filter(|words| !words.is_empty())
}

/// How much of a prompt the person wrote themselves.
enum PromptSource {
    All,
    /// These lines of it, which say enough.
    Part(String),
    /// It begins with what a program printed, and says no more.
    Nothing,
}

fn classify(prompt: &str) -> PromptSource {
    let said = without_pasted(prompt);
    let begins_pasted = prompt.lines().next().is_some_and(is_printed);
    let enough = if begins_pasted { CLEAR } else { CLEARER + 1 };
    match said {
        Some(said) if weight(&said) >= enough => PromptSource::Part(said),
        Some(_) if begins_pasted => PromptSource::Nothing,
        _ => PromptSource::All,
    }
}

/// A prompt's title: a plan's heading, a command with its arguments, or the first line that says enough.
fn title(prompt: &str) -> Option<String> {
    let prompt = prompt.trim();
    let text = if let Some(plan) = prompt.strip_prefix(ACCEPTED_PLAN) {
        heading(plan).unwrap_or(plan)
    } else if prompt.starts_with('#') {
        heading(prompt).unwrap_or(prompt)
    } else if is_command(prompt) {
        return Some(preview(prompt));
    } else {
        first_clear_line(prompt)
    };
    let title = preview(&without_opening(without_list_mark(text)));
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

/// The text without the mark of a list before it ("1. ", "b) ", "- "), where enough is left.
fn without_list_mark(text: &str) -> &str {
    let Some((mark, rest)) = text.split_once(char::is_whitespace) else { return text };
    let item = mark.trim_start_matches('(').strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = (1..=2).contains(&item.len()) && item.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = item.len() == 1 && item.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_mark = is_number || is_letter || matches!(mark, "-" | "*");
    if is_mark && weight(rest) >= CLEAR { rest.trim_start() } else { text }
}

/// The text without polite words before it, where enough is left.
fn without_opening(text: &str) -> String {
    let (mut rest, mut is_request) = (text, false);
    while let Some((opening, shorter)) =
        OPENINGS.iter().find_map(|opening| Some((opening, after_opening(rest, opening)?)))
    {
        is_request |= REQUESTS.iter().any(|word| opening.starts_with(word));
        rest = shorter;
    }
    if rest.len() == text.len() || weight(rest) < CLEAR {
        return text.to_owned();
    }
    capitalized(if is_request { without_question_mark(rest) } else { rest })
}

/// "can you fix it?" asks for work, so that "Fix it" is no question; a second question in it is one.
fn without_question_mark(text: &str) -> &str {
    match text.trim_end().strip_suffix('?') {
        Some(request) if !request.contains(['?', '.', '!', '\n']) => request,
        _ => text,
    }
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
    fn opening_phrases_are_removed() {
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
        check(&["can we group the changes into commits?"], Some("Group the changes into commits"));
        check(&["could you check hooks.go? why does it block?"], Some("Check hooks.go? why does it block?"));
        check(&["please, what replaced output_filter?"], Some("What replaced output_filter?"));
        check(&["修复令牌刷新的错误"], Some("修复令牌刷新的错误"));
    }

    #[test]
    fn the_mark_of_a_list_is_removed() {
        check(&["1. just rename the exporter module"], Some("just rename the exporter module"));
        check(&["B) please keep the old parser as a fallback"], Some("Keep the old parser as a fallback"));
        check(&["(2) port the exporter\nthen push"], Some("port the exporter then push"));
        check(&["- the retry loop in fetch.rs never ends"], Some("the retry loop in fetch.rs never ends"));
        check(&["1. yes"], Some("1. yes"));
        check(&["2.1 breaks the exporter on Windows"], Some("2.1 breaks the exporter on Windows"));
        check(&["vs. the old exporter, is it faster?"], Some("vs. the old exporter, is it faster?"));
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
    fn the_title_is_the_first_informative_line_of_a_long_prompt() {
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
    fn a_vague_prompt_yields_to_a_clear_one() {
        check(&["hi"], Some("hi"));
        check(&["hi", "fix the flaky login test on CI"], Some("fix the flaky login test on CI"));
        check(&["hi", "yes", "ok"], Some("hi"));
        check(&["fix tests", "rewrite the parser in Rust today"], Some("fix tests"));
        check(&["yes and yes", "1", "port the exporter to Windows"], Some("port the exporter to Windows"));
        check(&["hi", "fix the tests"], Some("fix the tests"));
        check(
            &["/superpowers:brainstorm", "add hooks for the end of a session"],
            Some("add hooks for the end of a session"),
        );
        check(&["/superpowers:brainstorm", "yes"], Some("/superpowers:brainstorm"));
        check(&[], None);
    }

    #[test]
    fn only_the_first_prompts_are_considered() {
        let after = |first: &str| {
            let mut subject = Subject::default();
            (0..PROMPTS).for_each(|_| subject.consider(first));
            subject.consider("port the exporter to Windows");
            subject.title().map(str::to_owned)
        };
        assert_eq!(after("yes and yes").as_deref(), Some("yes and yes"));
        assert_eq!(after("ok").as_deref(), Some("port the exporter to Windows"), "anything says more");
    }

    #[test]
    fn pasted_output_yields_to_a_question() {
        check(
            &["when running:\n❯ entire enable\nEnabled\n\nI'd like us to show more of the setup. Like this"],
            Some("when running: I'd like us to show more of the setup. Like this"),
        );
        let log = "• running goreleaser v2.13.2\n  ⨯ release failed after 0s\n    error=\nError: exit code 1";
        check(&[log, "add a retry to the release workflow"], Some("add a retry to the release workflow"));
        check(&[&format!("{log}\n\nwhy does the release fail?")], Some("why does the release fail?"));
        check(
            &[log],
            Some("• running goreleaser v2.13.2 ⨯ release failed after 0s error= Error: exit code 1"),
        );
        check(
            &["fix lint errors:\ncommon.go:1279:10: string `main` has 5 occurrences"],
            Some("fix lint errors: common.go:1279:10: string `main` has 5 occurrences"),
        );
    }

    #[test]
    fn assent_is_told_from_requests() {
        for text in ["yes", "Yes, please.", "yeah do it", "ok, go on", "continue", "LGTM!", "/skills", "…"]
        {
            assert!(is_bare_assent(text), "{text}");
        }
        let requests =
            ["1", "fix it", "yes, and push", "/review 181", "revert that", "nein", "继续", "commit please"];
        for text in requests {
            assert!(!is_bare_assent(text), "{text}");
        }
    }

    #[test]
    fn hook_output_is_not_a_title() {
        let hook = "Operation stopped by hook: Warning: Shadow branch conflict detected!\n\nBranch: x";
        check(
            &["hi", hook, "why does this warning come up at every start"],
            Some("why does this warning come up at every start"),
        );
        check(&[hook], None);
        let blocked = "UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: deploy the gateway to staging";
        check(&[blocked], Some("deploy the gateway to staging"));
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
