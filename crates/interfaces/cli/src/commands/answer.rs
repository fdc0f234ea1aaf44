//! `answer`: answers a worker's permission request or question from another terminal.

use std::collections::BTreeMap;

use app::workers::answer::{Request, answer};
use app::workers::{Grant, PermissionReply, PermissionRequest, RequestKind, WorkerInfo, WorkerState, find};
use app::{Context, Error, Kind};

use super::which_worker::{self, WorkerAction};
use crate::exit::Failure;
use crate::output::print_line;
use crate::run::{Prompt, Step, offer_lines, request_line, whole};
use crate::text::{safe, safe_lines};

/// The shortest beginning of a request's id that names it.
const SHORTEST: usize = 4;
/// The width in which a question is repeated.
const WIDTH: usize = 80;

/// Answer a worker's permission request or question; `workers` lists them.
///
/// `answer 2 yes` allows it once, `answer 2 no use the other file` denies it. `always` allows what the suggested rules match,
/// `edits` lets the worker edit files, `directory` lets it work in another directory, from now on; `answer 2` shows what is
/// asked and what each answer would allow. A question takes the number of an option or an answer of your own: `answer 2 1`,
/// `answer 2 Blue`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id; without it, the one that waits.
    #[arg(value_name = "WORKER")]
    worker: Option<String>,
    /// The answer; before it the request's id, where the worker asks several things. Without it, what it asks is shown.
    #[arg(value_name = "[REQUEST] ANSWER")]
    words: Vec<String>,
    /// Replace the tool's input with this JSON.
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// Tell Claude why it was denied.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// When denying, also end the turn.
    #[arg(long)]
    interrupt: bool,
    /// Answer one of Claude's questions; may be repeated.
    #[arg(long = "say", value_name = "QUESTION=ANSWER")]
    says: Vec<String>,
}

/// What is done with a worker.
const ACTION: WorkerAction = WorkerAction {
    verb: "answer",
    none: "no worker waits for an answer",
    is_for: |worker| matches!(worker.state, WorkerState::WaitingPermission { .. }),
    asks: false,
};

/// Sends the answer to the worker.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let named = which_worker::meant(context, args.worker.as_deref(), ACTION)?;
    let worker = find(context, &named)?;
    let shown = shown(&worker, args);
    if !shown.is_empty() {
        return Ok(print_line(&shown.join("\n\n"))?);
    }
    let (asked, words) = asked(&worker, args)?;
    let reply = reply(args, asked, words)?;
    let done = confirmation(worker.worker, asked, &reply);
    answer(context, &Request { worker: named, request: asked.request.clone(), reply })?;
    Ok(print_line(&done)?)
}

/// What was answered: words that are no option are an answer, too.
fn confirmation(worker: i64, request: &PermissionRequest, reply: &PermissionReply) -> String {
    let tool = &request.tool;
    let done = match (request.kind(), reply) {
        (_, PermissionReply::Answers { answers }) => {
            let all: Vec<_> =
                answers.iter().map(|(question, answer)| format!("{question} {answer}")).collect();
            all.join("; ")
        }
        (RequestKind::Questions(_), _) => "its question is not answered".to_owned(),
        (RequestKind::Plan(_), PermissionReply::Allow { grant: None, .. }) => {
            "its plan is approved".to_owned()
        }
        (RequestKind::Plan(_), PermissionReply::Deny { .. }) => "its plan is declined".to_owned(),
        (_, PermissionReply::Allow { grant, .. }) => {
            let offer = grant.and_then(|grant| request.offer(grant));
            let also = offer.map(|offer| format!(", and also: {}", offer.allows.join("; ")));
            format!("{tool} is allowed{}", also.unwrap_or_default())
        }
        (_, PermissionReply::Deny { .. }) => format!("{tool} is denied"),
    };
    safe(&format!("worker {worker}: {done}"))
}

/// What is asked, each with all of it, where no answer to it is given.
fn shown(worker: &WorkerInfo, args: &Args) -> Vec<String> {
    let WorkerState::WaitingPermission { requests } = &worker.state else { return Vec::new() };
    if !args.says.is_empty() {
        return Vec::new();
    }
    let is_only = requests.len() == 1;
    let meant = requests.iter().filter(|request| is_shown(request, &args.words));
    meant.map(|request| all_of(worker.worker, request, is_only)).collect()
}

/// Whether the words ask to see a request: there are none, or its id alone.
fn is_shown(request: &PermissionRequest, words: &[String]) -> bool {
    match words {
        [] => true,
        [only] => is_named(request, only),
        _ => false,
    }
}

/// A request with all that is asked, and the command that answers it.
pub(super) fn all_of(worker: i64, request: &PermissionRequest, is_only: bool) -> String {
    let line = request_line(worker, request, is_only);
    let text = match request.kind() {
        RequestKind::Permission => whole(request),
        RequestKind::Plan(plan) => format!("Claude has a plan:\n\n{}", safe_lines(&plan).trim_end()),
        RequestKind::Questions(_) => return line,
    };
    let command =
        line.lines().filter(|line| line.starts_with("  answer it: ")).collect::<Vec<_>>().join("\n");
    format!("{text}\n{}", command.trim_start())
}

/// Whether a word is a request's id or the beginning of it.
fn is_named(request: &PermissionRequest, word: &str) -> bool {
    request.request == word || (word.len() >= SHORTEST && request.request.starts_with(word))
}

/// The request that is answered, and the words of the answer.
fn asked<'a>(worker: &'a WorkerInfo, args: &'a Args) -> Result<(&'a PermissionRequest, &'a [String]), Error> {
    let (number, words) = (worker.worker, &args.words[..]);
    let requests = match &worker.state {
        WorkerState::WaitingPermission { requests } => &requests[..],
        _ => &[],
    };
    let (first, others) = words.split_first().map_or(("", words), |(first, others)| (first.as_str(), others));
    match (requests.iter().find(|request| is_named(request, first)), requests) {
        (Some(request), _) if !others.is_empty() => Ok((request, others)),
        (_, [only]) => Ok((only, words)),
        (_, []) => {
            let state = worker.state.as_str();
            Err(Error::new(
                Kind::NotFound,
                format!("worker {number} does not ask anything now; it is {state}"),
            ))
        }
        (_, several) => {
            let ids: Vec<String> =
                several.iter().map(|asked| asked.request.chars().take(8).collect()).collect();
            let message = format!("worker {number} asks {} things: {}", several.len(), ids.join(", "));
            let hint = format!("name one: backstory answer {number} {} yes", ids[0]);
            Err(Error::new(Kind::Ambiguous, message).hint(hint))
        }
    }
}

fn reply(args: &Args, request: &PermissionRequest, words: &[String]) -> Result<PermissionReply, Error> {
    let (verb, rest) = words.split_first().map_or(("", words), |(verb, rest)| (verb.as_str(), rest));
    if !args.says.is_empty() {
        return Ok(PermissionReply::Answers { answers: said(&args.says)? });
    }
    let is_question = matches!(request.kind(), RequestKind::Questions(_));
    match verb.to_ascii_lowercase().as_str() {
        "deny" => return Ok(denial(args, rest)),
        "no" | "n" if !is_question => return Ok(denial(args, rest)),
        "allow" | "yes" | "y" if !is_question && rest.is_empty() => return allowance(args, None),
        word if !is_question && rest.is_empty() => {
            if let Some(grant) = Grant::from_word(word) {
                return allowance(args, Some(offered(request, grant)?));
            }
        }
        _ => {}
    }
    typed(request, words)
}

fn denial(args: &Args, reason: &[String]) -> PermissionReply {
    let message = args.message.clone().unwrap_or_else(|| reason.join(" "));
    PermissionReply::Deny { message, interrupt: args.interrupt }
}

/// The grant, if it is offered.
fn offered(request: &PermissionRequest, grant: Grant) -> Result<Grant, Error> {
    if request.offer(grant).is_some() {
        return Ok(grant);
    }
    let lines = offer_lines(request);
    let offered = if lines.is_empty() { "nothing from now on".to_owned() } else { lines.join("\n  ") };
    let message = format!("`{}` is not offered for this; Claude Code suggests:\n  {offered}", grant.as_str());
    Err(Error::new(Kind::Usage, message))
}

fn allowance(args: &Args, grant: Option<Grant>) -> Result<PermissionReply, Error> {
    if let (Some(grant), Some(_)) = (grant, &args.input) {
        let message = format!("`{}` allows what was asked, not another input", grant.as_str());
        return Err(Error::new(Kind::Usage, message).hint("answer yes with --input"));
    }
    let input = args.input.as_deref().map(serde_json::from_str).transpose();
    let input = input.map_err(|error| Error::caused(Kind::Usage, "--input is not valid JSON", &error))?;
    Ok(PermissionReply::Allow { input, grant })
}

fn said(says: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let pair = |text: &String| {
        // A question may contain `=` itself, so the last one separates the answer.
        let pair = text.rsplit_once('=').map(|(name, answer)| (name.to_owned(), answer.to_owned()));
        pair.ok_or_else(|| Error::new(Kind::Usage, format!("--say takes QUESTION=ANSWER, not `{text}`")))
    };
    says.iter().map(pair).collect()
}

/// The answer as it would be typed where the worker is watched: several questions take a word each.
fn typed(request: &PermissionRequest, words: &[String]) -> Result<PermissionReply, Error> {
    let questions = match request.kind() {
        RequestKind::Questions(questions) => questions.len(),
        RequestKind::Permission | RequestKind::Plan(_) => 1,
    };
    let lines = if questions == words.len() { words.to_vec() } else { vec![words.join(" ")] };
    let (mut prompt, _) = Prompt::new(request.clone(), request, WIDTH);
    for line in &lines {
        let is_answer = !(is_question(request) && is_for_a_permission(request, line));
        if let Step::Done(reply) = prompt.line(if is_answer { line } else { "" }) {
            return Ok(reply);
        }
    }
    let said = words.join(" ");
    let message = format!("`{said}` does not answer what is asked:\n{}", prompt.short_text().trim_end());
    Err(Error::new(Kind::Usage, message))
}

/// Whether a word allows or denies a tool, and is no option of the questions.
fn is_for_a_permission(request: &PermissionRequest, word: &str) -> bool {
    let RequestKind::Questions(questions) = request.kind() else { return false };
    let mut options = questions.iter().flat_map(|asked| &asked.choices).peekable();
    let is_verb = ["allow", "always", "edits", "directory", "yes", "y", "no", "n"]
        .iter()
        .any(|verb| verb.eq_ignore_ascii_case(word));
    let has_options = options.peek().is_some();
    (is_verb && has_options || word.eq_ignore_ascii_case("allow"))
        && !options.any(|option| option.label.eq_ignore_ascii_case(word))
}

fn is_question(request: &PermissionRequest) -> bool {
    matches!(request.kind(), RequestKind::Questions(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Args {
        Args {
            worker: Some("2".to_owned()),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            input: None,
            message: None,
            interrupt: false,
            says: Vec::new(),
        }
    }

    fn request(tool: &str, input: &str) -> PermissionRequest {
        let text = format!(
            r#"{{"request":"toolu_1","tool":"{tool}","input":{input},"description":null,"reason":null,
                "suggestions":[],"offers":[{{"answer":"always","allows":["Bash(ls), from now on in this project"]}}],
                "tool_use_id":null,"agent":null}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn check(request: &PermissionRequest, words: &[&str], expected: &PermissionReply) {
        let args = args(words);
        assert_eq!(&reply(&args, request, &args.words).unwrap(), expected, "{words:?}");
    }

    #[test]
    fn a_tool_is_allowed_or_denied_in_a_word() {
        let bash = request("Bash", r#"{"command":"ls"}"#);
        let allow = |grant| PermissionReply::Allow { input: None, grant };
        let deny = |message: &str| PermissionReply::Deny { message: message.to_owned(), interrupt: false };
        check(&bash, &["yes"], &allow(None));
        check(&bash, &["allow"], &allow(None));
        check(&bash, &["always"], &allow(Some(Grant::Always)));
        check(&bash, &["no"], &deny(""));
        check(&bash, &["no", "use", "the", "other"], &deny("use the other"));
        check(&bash, &["deny"], &deny(""));
        for words in [&["maybe"][..], &["Blue"], &["edits"], &["directory"]] {
            let args = args(words);
            assert!(reply(&args, &bash, &args.words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn what_was_answered_is_said() {
        let colour = r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#;
        let check = |tool: &str, input: &str, words: &[&str], expected: &str| {
            let (request, args) = (request(tool, input), args(words));
            let reply = reply(&args, &request, &args.words).unwrap();
            assert_eq!(confirmation(2, &request, &reply), expected);
        };
        check("AskUserQuestion", colour, &["blue"], "worker 2: Which? Blue");
        check("AskUserQuestion", colour, &["Bl"], "worker 2: Which? Bl");
        check("Bash", "{}", &["yes"], "worker 2: Bash is allowed");
        check(
            "Bash",
            "{}",
            &["always"],
            "worker 2: Bash is allowed, and also: Bash(ls), from now on in this project",
        );
        check("Bash", "{}", &["no"], "worker 2: Bash is denied");
        check("ExitPlanMode", r#"{"plan":"First."}"#, &["yes"], "worker 2: its plan is approved");
    }

    #[test]
    fn a_question_takes_an_option_or_words_and_is_never_answered_empty() {
        let colour = r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#;
        let asked = request("AskUserQuestion", colour);
        let answer = |text: &str| PermissionReply::Answers {
            answers: [("Which?".to_owned(), text.to_owned())].into(),
        };
        check(&asked, &["2"], &answer("Blue"));
        check(&asked, &["blue"], &answer("Blue"));
        check(&asked, &["no", "colour", "at", "all"], &answer("no colour at all"));
        let sure = r#"{"questions":[{"question":"Which?","options":[{"label":"Yes"},{"label":"No"}]}]}"#;
        check(&request("AskUserQuestion", sure), &["yes"], &answer("Yes"));
        for words in [&["allow"][..], &["yes"], &["no"], &["9"], &[""]] {
            let args = args(words);
            let error = reply(&args, &asked, &args.words).unwrap_err();
            assert!(
                error.message.contains("does not answer") && error.message.contains('['),
                "{}",
                error.message
            );
        }
        let two =
            r#"{"questions":[{"question":"A?","options":[{"label":"x"},{"label":"y"}]},{"question":"B?"}]}"#;
        let two = request("AskUserQuestion", two);
        let answers = [("A?".to_owned(), "y".to_owned()), ("B?".to_owned(), "late".to_owned())].into();
        check(&two, &["2", "late"], &PermissionReply::Answers { answers });
    }
}
