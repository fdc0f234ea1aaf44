//! A worker's request on the terminal: the text that is shown, and the meaning of the person's answers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use app::workers::{PermissionReply, PermissionRequest, QuestionOption, RequestKind, UserQuestion};

use crate::text::{fit, safe, safe_lines};

/// How many lines of a tool's input are shown.
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
        (Self { request, stage }, text)
    }

    /// The short form of the question, repeated below other output.
    pub(crate) fn short_text(&self) -> String {
        let tool = safe(&self.request.tool);
        match &self.stage {
            Stage::Permission if self.request.suggestions.is_empty() => format!("{tool}? [y/n/e/x] "),
            Stage::Permission => format!("{tool}? [y/a/n/e/x] "),
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
                    Step::Done(PermissionReply::Allow { input: Some(input), always: false })
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
            "y" | "yes" => Step::Done(PermissionReply::Allow { input: None, always: false }),
            "a" | "always" if !self.request.suggestions.is_empty() => {
                Step::Done(PermissionReply::Allow { input: None, always: true })
            }
            "n" | "no" if rest.is_empty() => self.ask(Stage::Why, WHY),
            "n" | "no" => Step::Done(PermissionReply::Deny { message: rest.to_owned(), interrupt: false }),
            "x" => Step::Done(PermissionReply::Deny { message: rest.to_owned(), interrupt: true }),
            "e" | "edit" => {
                let text = format!(
                    "{}\nThe input you want instead, on one line: ",
                    safe(&self.request.input.to_string())
                );
                self.ask(Stage::Edit, &text)
            }
            _ => Step::Ask(keys(&self.request)),
        }
    }

    fn ask(&mut self, stage: Stage, text: &str) -> Step {
        self.stage = stage;
        Step::Ask(text.to_owned())
    }
}

fn permission(show: &PermissionRequest, who: &str, width: usize) -> String {
    let input = match (&show.tool[..], show.input["command"].as_str()) {
        ("Bash", Some(command)) => command.to_owned(),
        _ => serde_json::to_string_pretty(&show.input).unwrap_or_default(),
    };
    let all = safe_lines(&input);
    let mut lines: Vec<String> =
        all.lines().take(SHOWN).map(|line| format!("  {}", fit(line, width))).collect();
    let more = all.lines().count().saturating_sub(SHOWN);
    if more > 0 {
        lines.push(format!("  … {more} more lines; e shows all"));
    }
    let why = show.description.iter().chain(&show.reason).map(|why| format!("\n  ({})", safe(why)));
    let why: String = why.collect();
    format!("{who} wants to use {}:\n{}{why}\n{}", safe(&show.tool), lines.join("\n"), keys(show))
}

fn keys(request: &PermissionRequest) -> String {
    let rules = request.rules();
    let always = if request.suggestions.is_empty() {
        String::new()
    } else {
        format!("  a  always: {}\n", safe(&rules.join(", ")))
    };
    format!(
        "  y  allow once\n{always}  n  deny (a reason may follow)\n  e  edit the input\n  x  deny and end \
         the turn\n> "
    )
}

fn plan(line: &str) -> Step {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" => Step::Done(PermissionReply::Allow { input: None, always: false }),
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

    fn request(tool: &str, input: &str, suggestions: &str) -> PermissionRequest {
        let text = format!(
            r#"{{"request":"r1","tool":"{tool}","input":{input},"description":null,"reason":null,
                "suggestions":{suggestions},"tool_use_id":null,"agent":null}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn prompt(request: &PermissionRequest) -> (Prompt, String) {
        Prompt::new(request.clone(), request, 80)
    }

    const RULE: &str = r#"[{"rules":[{"toolName":"Bash","ruleContent":"ls *"}]}]"#;

    #[test]
    fn a_permission_is_given_in_a_key() {
        let asked = request("Bash", r#"{"command":"ls"}"#, RULE);
        let check = |lines: &[&str], expected: PermissionReply| {
            let (mut prompt, _) = prompt(&asked);
            let steps: Vec<_> = lines.iter().map(|line| prompt.line(line)).collect();
            assert_eq!(steps.last(), Some(&Step::Done(expected)), "{lines:?}");
        };
        let allow = |always| PermissionReply::Allow { input: None, always };
        let deny = |message: &str, interrupt| PermissionReply::Deny { message: message.into(), interrupt };
        check(&["y"], allow(false));
        check(&["YES"], allow(false));
        check(&["a"], allow(true));
        check(&["n not today"], deny("not today", false));
        check(&["n", "use another"], deny("use another", false));
        check(&["x"], deny("", true));
        check(&["?", "y"], allow(false));
        let input = Some(serde_json::from_str(r#"{"command":"ls -l"}"#).unwrap());
        check(&["e", "[", "7", r#"{"command":"ls -l"}"#], PermissionReply::Allow { input, always: false });
        check(&["e", "", "y"], allow(false));
    }

    #[test]
    fn what_is_shown_cannot_steer_the_terminal() {
        let asked = request("Bash", r#"{"command":"ls\u001b[2J"}"#, RULE);
        let (_, text) = prompt(&asked);
        assert!(
            text.starts_with("Claude wants to use Bash:\n  ls [2J\n")
                && text.contains("a  always: Bash(ls *)")
        );
        assert!(!text.contains('\u{1b}'));
        let unruly = request("Bash", r#"{"command":"ls"}"#, "[]");
        let (mut prompt, text) = prompt(&unruly);
        assert!(!text.contains("always"));
        assert!(matches!(prompt.line("a"), Step::Ask(_)), "there is no rule to add");
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
        assert_eq!(plan.clone().line("y"), Step::Done(PermissionReply::Allow { input: None, always: false }));
        let (_, text) = prompt(&request("ExitPlanMode", "{}", "[]"));
        assert!(text.contains("without a written plan.\nStart with it?"), "{text}");
        let back = PermissionReply::Deny { message: "that first".into(), interrupt: false };
        assert_eq!(plan.line("n that first"), Step::Done(back));
    }
}
