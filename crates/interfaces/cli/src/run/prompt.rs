//! A worker's request on the terminal: the text that is shown, and the meaning of the person's answers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use app::workers::{
    Grant, Offer, PermissionReply, PermissionRequest, QuestionOption, RequestKind, UserQuestion,
};

use crate::text::{safe, safe_lines};

/// How many lines of a tool's input are shown before all of it is asked for.
const SHOWN: usize = 30;

/// Asks for the reason of a denial.
const WHY: &str = "Tell Claude why (Enter to skip): ";
/// Asks whether to start with a plan.
const BEGIN: &str = "Start with it? [y, or n and a reason] ";

/// A request that is being answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    /// The worker's request.
    pub(crate) request: PermissionRequest,
    stage: Stage,
    width: usize,
}

/// What the next line of the person answers.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// Whether a tool may be used.
    Permission,
    /// The tool's input, changed by the person.
    Edit,
    /// The reason of a denial.
    Why,
    /// Whether a plan is approved.
    Plan,
    /// Claude's questions: the answers given so far, and the questions still open.
    Questions { given: BTreeMap<String, String>, open: Vec<UserQuestion> },
}

/// What follows from a line of the person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Ask this next.
    Ask(String),
    /// The answer is complete.
    Done(PermissionReply),
}

impl Prompt {
    /// A prompt and its first text; `show` is the request with everything that is to be shown.
    pub(crate) fn new(request: PermissionRequest, show: &PermissionRequest, width: usize) -> (Self, String) {
        let who = if show.agent.is_some() { "A sub-agent" } else { "Claude" };
        let (stage, text) = match show.kind() {
            RequestKind::Permission => (Stage::Permission, permission(show, who, width)),
            RequestKind::Plan(plan) if plan.trim().is_empty() => {
                let text = format!("{who} wants to start without a written plan.\n{BEGIN}");
                (Stage::Plan, text)
            }
            RequestKind::Plan(plan) => {
                let plan = safe_lines(&plan);
                (Stage::Plan, format!("{who} has a plan:\n\n{}\n\n{BEGIN}", plan.trim_end()))
            }
            RequestKind::Questions(mut open) => {
                open.reverse();
                let text = open.last().map(question).unwrap_or_default();
                (Stage::Questions { given: BTreeMap::new(), open }, format!("{who} asks:\n{text}"))
            }
        };
        (Self { request, stage, width }, text)
    }

    /// The short form of the question, repeated below other output.
    pub(crate) fn short_text(&self) -> String {
        let tool = safe(&self.request.tool);
        match &self.stage {
            Stage::Permission => {
                let grants = self.request.offers.iter().map(|offer| key(offer.answer));
                let keys: Vec<&str> = ["y"].into_iter().chain(grants).chain(["n", "s", "e", "x"]).collect();
                format!("{tool}? [{}] ", keys.join("/"))
            }
            Stage::Edit => "The input you want instead, on one line: ".to_owned(),
            Stage::Why => WHY.to_owned(),
            Stage::Plan => BEGIN.to_owned(),
            Stage::Questions { open, .. } => open.last().map(question).unwrap_or_default(),
        }
    }

    /// Handles a line that the person typed.
    pub(crate) fn line(&mut self, line: &str) -> Step {
        let line = line.trim();
        match &mut self.stage {
            Stage::Permission => self.permission(line),
            Stage::Plan => plan(line),
            Stage::Why => Step::Done(PermissionReply::Deny { message: line.to_owned(), interrupt: false }),
            Stage::Edit if line.is_empty() => {
                self.stage = Stage::Permission;
                Step::Ask(format!("Unchanged. {}", self.short_text()))
            }
            Stage::Edit => match serde_json::from_str::<serde_json::Value>(line) {
                Ok(input) if input.is_object() => {
                    Step::Done(PermissionReply::Allow { input: Some(input), grant: None })
                }
                Ok(_) => Step::Ask("It must be a JSON object (Enter leaves it unchanged): ".to_owned()),
                Err(error) => {
                    Step::Ask(format!("That is not valid JSON ({error}; Enter leaves it unchanged): "))
                }
            },
            Stage::Questions { given, open } => {
                let Some(asked) = open.last() else {
                    return Step::Done(PermissionReply::Answers { answers: given.clone() });
                };
                let Some(answer) = chosen(asked, line) else {
                    return Step::Ask("A number, or your own answer: ".to_owned());
                };
                given.insert(asked.question.clone(), answer);
                open.pop();
                match open.last() {
                    Some(next) => Step::Ask(question(next)),
                    None => Step::Done(PermissionReply::Answers { answers: given.clone() }),
                }
            }
        }
    }

    fn permission(&mut self, line: &str) -> Step {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => Step::Done(PermissionReply::Allow { input: None, grant: None }),
            "n" | "no" if rest.is_empty() => self.ask(Stage::Why, WHY),
            "n" | "no" => Step::Done(PermissionReply::Deny { message: rest.to_owned(), interrupt: false }),
            "x" => Step::Done(PermissionReply::Deny { message: rest.to_owned(), interrupt: true }),
            "s" | "show" => {
                let lines = input_lines(&self.request, self.width);
                Step::Ask(format!("{}\n{}", lines.join("\n"), self.short_text()))
            }
            "e" | "edit" => {
                let text = format!(
                    "{}\nThe input you want instead, on one line: ",
                    safe(&self.request.input.to_string())
                );
                self.ask(Stage::Edit, &text)
            }
            word => match self.request.offers.iter().find(|offer| is_named(offer, word)) {
                Some(offer) => Step::Done(PermissionReply::Allow { input: None, grant: Some(offer.answer) }),
                None => Step::Ask(keys(&self.request)),
            },
        }
    }

    fn ask(&mut self, stage: Stage, text: &str) -> Step {
        self.stage = stage;
        Step::Ask(text.to_owned())
    }
}

fn permission(show: &PermissionRequest, who: &str, width: usize) -> String {
    let mut lines = input_lines(show, width);
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("  … {more} more lines; s shows all"));
    }
    format!("{who} wants to use {}:\n{}{}\n{}", safe(&show.tool), lines.join("\n"), reasons(show), keys(show))
}

/// The whole input of the tool in lines of a terminal; one that is too long for it goes on in the next.
fn input_lines(show: &PermissionRequest, width: usize) -> Vec<String> {
    let text = safe_lines(&show.input_text());
    text.lines().flat_map(|line| pieces(line, width.max(1))).map(|line| format!("  {line}")).collect()
}

/// A line in pieces of at most so many characters.
fn pieces(line: &str, width: usize) -> Vec<String> {
    let all: Vec<char> = line.chars().collect();
    if all.is_empty() {
        return vec![String::new()];
    }
    all.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// A request with its whole input, and what each answer would allow.
pub(crate) fn whole(request: &PermissionRequest) -> String {
    let who = if request.agent.is_some() { "A sub-agent" } else { "Claude" };
    let text = safe_lines(&request.input_text());
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    let asked =
        format!("{who} wants to use {}:\n{}{}", safe(&request.tool), lines.join("\n"), reasons(request));
    [vec![asked], offer_lines(request)].concat().join("\n")
}

/// What each answer beyond yes and no would allow, and what no answer allows.
pub(crate) fn offer_lines(request: &PermissionRequest) -> Vec<String> {
    let offer = |offer: &Offer| format!("{}: {}", offer.answer.as_str(), safe(&offer.allows.join("; ")));
    let mut lines: Vec<String> = request.offers.iter().map(offer).collect();
    lines.extend(not_offered(request));
    lines
}

/// Says what Claude Code suggests and no answer allows.
fn not_offered(request: &PermissionRequest) -> Option<String> {
    let names = safe(&request.not_offered.join(", "));
    (!names.is_empty()).then(|| format!("also suggested, and never allowed by an answer: {names}"))
}

fn reasons(show: &PermissionRequest) -> String {
    let why = show.description.iter().chain(&show.reason).map(|why| format!("\n  ({})", safe(why)));
    why.collect()
}

fn keys(request: &PermissionRequest) -> String {
    let offers: String = request.offers.iter().map(key_line).collect();
    let others = not_offered(request).map(|line| format!("  ({line})\n")).unwrap_or_default();
    format!(
        "  y  allow once\n{offers}{others}  n  deny (a reason may follow)\n  s  show all of the input\n  e  change \
         the input\n  x  deny and end the turn\n> "
    )
}

fn key_line(offer: &Offer) -> String {
    let allows = safe(&offer.allows.join("; "));
    match offer.answer {
        Grant::Always => format!("  a  always: {allows}\n"),
        Grant::Edits | Grant::Directory => format!("  {}  {allows}\n", offer.answer.as_str()),
    }
}

/// What is typed for a grant; what allows more than a rule is typed in full.
fn key(grant: Grant) -> &'static str {
    match grant {
        Grant::Always => "a",
        Grant::Edits | Grant::Directory => grant.as_str(),
    }
}

fn is_named(offer: &Offer, word: &str) -> bool {
    key(offer.answer) == word || offer.answer.as_str() == word
}

fn plan(line: &str) -> Step {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" => Step::Done(PermissionReply::Allow { input: None, grant: None }),
        "n" | "no" => Step::Done(PermissionReply::Deny { message: rest.to_owned(), interrupt: false }),
        _ => Step::Ask("[y, or n and a reason] ".to_owned()),
    }
}

fn question(asked: &UserQuestion) -> String {
    let mut text = format!("{}\n", safe_lines(&asked.question));
    for (number, choice) in (1..).zip(&asked.choices) {
        let about =
            if choice.description.is_empty() { String::new() } else { format!(": {}", choice.description) };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number:>3}  {}{}", safe(&choice.label), safe(&about));
    }
    let how = if asked.several {
        "numbers separated by commas, or your own answer"
    } else {
        "a number, or your own answer"
    };
    format!("{text}[{how}] ")
}

/// The answer in a line: the labels of the choices it numbers, else the line itself.
fn chosen(asked: &UserQuestion, line: &str) -> Option<String> {
    if line.is_empty() {
        return None;
    }
    let numbers: Option<Vec<usize>> = line.split(',').map(|part| part.trim().parse().ok()).collect();
    let label = |number: &usize| asked.choices.get(number.checked_sub(1)?).map(|choice| choice.label.clone());
    match numbers {
        Some(numbers) if numbers.len() == 1 || asked.several => {
            let labels: Option<Vec<String>> = numbers.iter().map(label).collect();
            labels.map(|labels| labels.join(", "))
        }
        _ => {
            let is_it = |choice: &&QuestionOption| choice.label.to_lowercase() == line.to_lowercase();
            Some(asked.choices.iter().find(is_it).map_or(line, |choice| &choice.label).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tool: &str, input: &str, offers: &str) -> PermissionRequest {
        let text = format!(
            r#"{{"request":"r1","tool":"{tool}","input":{input},"description":null,"reason":null,
                "suggestions":[],"offers":{offers},"tool_use_id":null,"agent":null}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn prompt(request: &PermissionRequest) -> (Prompt, String) {
        Prompt::new(request.clone(), request, 80)
    }

    const RULE: &str = r#"[{"answer":"always","allows":["Bash(ls *), from now on in this project"]},
        {"answer":"edits","allows":["accept edits, until the session ends"]}]"#;

    #[test]
    fn a_permission_is_given_in_a_key() {
        let asked = request("Bash", r#"{"command":"ls"}"#, RULE);
        let check = |lines: &[&str], expected: PermissionReply| {
            let (mut prompt, _) = prompt(&asked);
            let steps: Vec<_> = lines.iter().map(|line| prompt.line(line)).collect();
            assert_eq!(steps.last(), Some(&Step::Done(expected)), "{lines:?}");
        };
        let allow = |grant| PermissionReply::Allow { input: None, grant };
        let deny = |message: &str, interrupt| PermissionReply::Deny { message: message.into(), interrupt };
        check(&["y"], allow(None));
        check(&["YES"], allow(None));
        check(&["a"], allow(Some(Grant::Always)));
        check(&["always"], allow(Some(Grant::Always)));
        check(&["edits"], allow(Some(Grant::Edits)));
        check(&["directory", "y"], allow(None));
        check(&["s", "y"], allow(None));
        check(&["n not today"], deny("not today", false));
        check(&["n", "use another"], deny("use another", false));
        check(&["x"], deny("", true));
        check(&["?", "y"], allow(None));
        let input = Some(serde_json::from_str(r#"{"command":"ls -l"}"#).unwrap());
        check(&["e", "[", "7", r#"{"command":"ls -l"}"#], PermissionReply::Allow { input, grant: None });
        check(&["e", "", "y"], allow(None));
    }

    #[test]
    fn what_is_shown_cannot_steer_the_terminal() {
        let asked = request("Bash", r#"{"command":"ls\u001b[2J"}"#, RULE);
        let (_, text) = prompt(&asked);
        assert!(
            text.starts_with("Claude wants to use Bash:\n  ls [2J\n")
                && text.contains("  a  always: Bash(ls *), from now on in this project\n")
                && text.contains("  edits  accept edits, until the session ends\n")
        );
        assert!(!text.contains('\u{1b}'));
        let unruly = request("Bash", r#"{"command":"ls"}"#, "[]");
        let (mut prompt, text) = prompt(&unruly);
        assert!(!text.contains("always:"));
        assert!(matches!(prompt.line("a"), Step::Ask(_)), "there is no rule to add");
    }

    #[test]
    fn the_whole_input_is_shown_when_it_is_asked_for() {
        let content: Vec<String> = (1..=40).map(|line| format!("line {line}")).collect();
        let input = serde_json::json!({"file_path": "/a", "content": content.join("\n")}).to_string();
        let (mut prompt, text) = prompt(&request("Write", &input, "[]"));
        assert!(text.contains("+ line 29\n  … 11 more lines; s shows all\n"), "{text}");
        let Step::Ask(all) = prompt.line("s") else { panic!() };
        assert!(all.contains("  + line 40\nWrite? [y/n/s/e/x] "), "{all}");
        // A long line is not cut off.
        let long = request("Bash", &format!(r#"{{"command":"echo {}; rm x"}}"#, "y".repeat(300)), "[]");
        let (_, text) = Prompt::new(long.clone(), &long, 80);
        assert!(text.contains("; rm x\n"), "{text}");
        assert!(whole(&long).contains("; rm x"));
    }

    #[test]
    fn questions_are_answered_one_after_the_other() {
        let asked = request(
            "AskUserQuestion",
            r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]},
                {"question":"What else?","multiSelect":true,"options":[{"label":"A"},{"label":"B"}]}]}"#,
            "[]",
        );
        let (mut one, text) = prompt(&asked);
        assert!(text.contains("Which?") && text.contains("  2  Blue"), "{text}");
        assert!(matches!(one.line("9"), Step::Ask(_)));
        assert!(matches!(one.line("2"), Step::Ask(text) if text.contains("What else?")));
        let answers = |two: &str| {
            let all = [("Which?", "Blue"), ("What else?", two)];
            all.map(|(name, answer)| (name.to_owned(), answer.to_owned())).into()
        };
        let mut other = one.clone();
        assert_eq!(one.line("1,2"), Step::Done(PermissionReply::Answers { answers: answers("A, B") }));
        assert_eq!(
            other.line("none of it"),
            Step::Done(PermissionReply::Answers { answers: answers("none of it") })
        );
    }

    #[test]
    fn a_plan_is_approved_or_sent_back() {
        let asked = request("ExitPlanMode", r#"{"plan":"First this."}"#, "[]");
        let (mut plan, text) = prompt(&asked);
        assert!(text.contains("First this."));
        assert_eq!(plan.clone().line("y"), Step::Done(PermissionReply::Allow { input: None, grant: None }));
        let (_, text) = prompt(&request("ExitPlanMode", "{}", "[]"));
        assert!(text.contains("without a written plan.\nStart with it?"), "{text}");
        let back = PermissionReply::Deny { message: "that first".into(), interrupt: false };
        assert_eq!(plan.line("n that first"), Step::Done(back));
    }
}
