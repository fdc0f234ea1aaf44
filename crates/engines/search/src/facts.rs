//! Typed facts of what tools did: files changed and read, commands, error lines, commit subjects.
//!
//! Bulk output is not indexed; what a person remembers of it is.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use transcript::Raw;
use transcript::record::{Record, result_text};

use crate::kind::ChunkKind;
use crate::unit::Unit;

/// How much of a tool's output is read, in bytes.
const OUTPUT_CAP: usize = 64 << 10;
/// The most lines of one output that are kept as error lines.
const ERROR_LINES: usize = 20;
/// Longer lines are data.
const LINE_LENGTH: usize = 400;
/// The sentence the CLI writes when a person refuses on the terminal, alone or before their words.
const NO_WORDS: &str = "The user doesn't want to";
/// The beginning of that sentence as JSON.
const REFUSED_ON_TERMINAL: &str = "\"The user doesn't want to";
/// Words that make a line of a command's output worth keeping.
const ERROR_WORDS: [&str; 11] = [
    "error",
    "failed",
    "fail:",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "cannot",
    "undefined",
    "not found",
    "denied",
];

/// Adds the texts of a tool call.
pub(crate) fn add_tool_use<'a>(name: &str, input: Raw<'a>, units: &mut Vec<Unit<'a>>) {
    let text = |key: &str| input.get(key).text().unwrap_or_default();
    match name {
        "Edit" | "MultiEdit" | "NotebookEdit" => units.push(edit(input)),
        "Write" => units.push(Unit::about(ChunkKind::Write, path(input), text("content"))),
        "Read" | "NotebookRead" => units.push(Unit::about(ChunkKind::Read, path(input), "")),
        "Bash" => {
            let command = text("command");
            units.extend(commit_subject(&command).map(|subject| Unit::new(ChunkKind::Commit, subject)));
            units.push(Unit::new(ChunkKind::Command, command));
            units.push(Unit::new(ChunkKind::Purpose, text("description")));
        }
        "Grep" | "Glob" => {
            units.push(Unit::new(ChunkKind::Pattern, text("pattern")));
            let path = text("path");
            if !path.is_empty() {
                units.push(Unit::about(ChunkKind::Read, path, ""));
            }
        }
        "TodoWrite" => units.extend(todos(input.get("todos"))),
        "TaskCreate" | "TaskUpdate" => {
            units.push(Unit::new(ChunkKind::Todo, joined(&[text("subject"), text("description")])));
        }
        "Task" | "Agent" => {
            units.push(Unit::new(ChunkKind::Delegation, text("description")));
            units.push(Unit::new(ChunkKind::AgentPrompt, text("prompt")));
        }
        "CronCreate" => units.push(Unit::new(ChunkKind::Delegation, text("prompt"))),
        "ExitPlanMode" => units.push(Unit::new(ChunkKind::Plan, text("plan"))),
        "AskUserQuestion" => units.push(Unit::new(ChunkKind::Question, questions(input))),
        "WebSearch" | "WebFetch" => {
            units.push(Unit::new(ChunkKind::Web, joined(&[text("query"), text("url"), text("prompt")])));
        }
        _ => {}
    }
}

/// Adds the texts of a tool result.
pub(crate) fn add_tool_result<'a>(
    content: Raw<'a>,
    is_error: bool,
    kept: Raw<'a>,
    units: &mut Vec<Unit<'a>>,
) {
    let is_command = kept.get("stdout").is_text();
    if !is_error && !is_command {
        return;
    }
    if content.json().starts_with(REFUSED_ON_TERMINAL) {
        return add_refusal(content, units);
    }
    let output = result_text(content);
    let output = &output[..output.floor_char_boundary(OUTPUT_CAP)];
    let errors = error_lines(output, is_error);
    if !errors.is_empty() {
        units.push(Unit::new(ChunkKind::Error, errors));
    }
    if is_command {
        units.extend(
            output
                .lines()
                .filter_map(git_change)
                .map(|path| Unit::about(ChunkKind::GitChange, Cow::Owned(path.to_owned()), "")),
        );
    }
}

/// Adds what the person said when they refused a call: on the terminal it follows a sentence of the CLI's, through a
/// program it is the whole answer.
pub(crate) fn add_refusal<'a>(content: Raw<'a>, units: &mut Vec<Unit<'a>>) {
    let text = result_text(content);
    let text = &text[..text.floor_char_boundary(OUTPUT_CAP)];
    let words = match text.split_once("user said:") {
        Some((_, words)) => words.trim(),
        None if text.starts_with(NO_WORDS) => return,
        None => text.trim(),
    };
    if !words.is_empty() {
        units.push(Unit::new(ChunkKind::Refusal, words.to_owned()));
    }
}

/// The files the CLI kept backups of before they were changed.
pub(crate) fn backups<'a>(record: &Record<'a>) -> Vec<Unit<'a>> {
    record.tracked_files().into_iter().map(|path| Unit::about(ChunkKind::Backup, path, "")).collect()
}

fn path(input: Raw<'_>) -> Cow<'_, str> {
    input.get("file_path").text().or_else(|| input.get("notebook_path").text()).unwrap_or_default()
}

/// The text of an edit: the new text, and the removed lines of the old one.
fn edit<'a>(input: Raw<'a>) -> Unit<'a> {
    let text = |edit: Raw<'a>, key: &str| edit.get(key).text().unwrap_or_default();
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    for edit in std::iter::once(input).chain(input.get("edits").elements()) {
        let (old, new) = (text(edit, "old_string"), text(edit, "new_string"));
        let kept: HashSet<&str> = new.lines().collect();
        let gone: Vec<&str> = old.lines().filter(|line| !kept.contains(line)).collect();
        texts.extend([Cow::Owned(gone.join("\n")), new.clone(), text(edit, "new_source")]);
    }
    Unit::about(ChunkKind::Edit, path(input), joined(&texts))
}

fn joined(texts: &[Cow<'_, str>]) -> String {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// The task list item that was just started. The list is written again at every step, and each item is started once.
fn todos(list: Raw<'_>) -> impl Iterator<Item = Unit<'_>> {
    list.elements()
        .filter(|todo| todo.get("status").is("in_progress"))
        .filter_map(|todo| Some(Unit::new(ChunkKind::Todo, todo.get("content").text()?)))
}

fn questions(input: Raw<'_>) -> String {
    let mut texts = Vec::new();
    for question in input.get("questions").elements() {
        texts.extend(question.get("question").text());
        for option in question.get("options").elements() {
            texts.extend(option.get("label").text());
        }
    }
    joined(&texts)
}

/// The subject of `git commit -m "…"`, also in a here-document.
fn commit_subject(command: &str) -> Option<String> {
    let (_, after) = command.split_once("git commit")?;
    let flag = |word: &str| {
        word.starts_with('-') && !word.starts_with("--") && word.ends_with('m') || word == "--message"
    };
    let at = after.split_whitespace().find(|word| flag(word))?;
    let (_, message) = after.split_once(at)?;
    let message = message.trim_start();
    let message = match message.split_once("<<") {
        Some((start, document)) if start.len() < 12 => document.split_once('\n')?.1,
        _ => message.trim_start_matches(['"', '\'']),
    };
    let subject = message.lines().next()?.split(['"']).next()?.trim().trim_end_matches('\'');
    (!subject.is_empty()).then(|| subject.to_owned())
}

fn error_lines(output: &str, is_error: bool) -> String {
    if !is_error && !tells_of_error(output) {
        return String::new();
    }
    let lines = output.lines().filter(|line| line.len() < LINE_LENGTH && !line.trim().is_empty());
    let telling: Vec<&str> =
        lines.filter(|line| is_error || tells_of_error(line)).take(ERROR_LINES).collect();
    telling.join("\n")
}

fn tells_of_error(text: &str) -> bool {
    static WORDS: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(ERROR_WORDS).ok());
    WORDS.as_ref().is_some_and(|words| words.is_match(text))
}

/// The path in a line of `git status`, `git diff --stat` or `--name-status`, or of a commit's report.
fn git_change(line: &str) -> Option<&str> {
    let is_path =
        |path: &str| !path.is_empty() && !path.contains(char::is_whitespace) && path.len() < LINE_LENGTH;
    let trimmed = line.trim_start();
    for word in ["modified:", "new file:", "deleted:", "both modified:"] {
        if let Some(path) = trimmed.strip_prefix(word) {
            return Some(path.trim()).filter(|path| is_path(path));
        }
    }
    if let Some(renamed) = trimmed.strip_prefix("renamed:") {
        return renamed.split(" -> ").last().map(str::trim).filter(|path| is_path(path));
    }
    for word in ["create mode ", "delete mode "] {
        if let Some(rest) = trimmed.strip_prefix(word) {
            return rest.split_once(' ').map(|(_, path)| path.trim()).filter(|path| is_path(path));
        }
    }
    if let Some((path, count)) = line.strip_prefix(' ').and_then(|line| line.split_once(" | ")) {
        let counts = count.trim_start().starts_with(|c: char| c.is_ascii_digit())
            || count.trim_start().starts_with("Bin");
        return Some(path.trim()).filter(|path| counts && is_path(path));
    }
    let status = line.get(..2)?;
    let is_status = |status: &str| status != "  " && status.bytes().all(|byte| b" MADRCU?".contains(&byte));
    if let Some((state, path)) = line.split_once('\t') {
        let named = state.len() <= 4
            && state.starts_with(['M', 'A', 'D', 'R', 'C'])
            && state[1..].bytes().all(|b| b.is_ascii_digit());
        return Some(path.rsplit('\t').next()?.trim()).filter(|path| named && is_path(path));
    }
    let path = line.get(2..)?.strip_prefix(' ')?.trim_end();
    (is_status(status) && is_path(path) && path.contains(['/', '.'])).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::record::parse;

    fn check_use(name: &str, input: &str, expected: &[(ChunkKind, &str, Option<&str>)]) {
        let line = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"{name}","input":{input}}}]}}}}"#
        );
        let record = parse(line.as_bytes()).unwrap();
        let units = crate::chunk::units(&record, false);
        let found: Vec<_> =
            units.iter().map(|unit| (unit.kind, unit.text.as_ref(), unit.path.as_deref())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn what_tools_were_called_for() {
        check_use(
            "Edit",
            r#"{"file_path":"/a.rs","old_string":"x","new_string":"y"}"#,
            &[(ChunkKind::Edit, "a.rs\nx\ny", Some("/a.rs"))],
        );
        check_use(
            "MultiEdit",
            r#"{"file_path":"/a.rs","edits":[{"old_string":"x","new_string":"y"}]}"#,
            &[(ChunkKind::Edit, "a.rs\nx\ny", Some("/a.rs"))],
        );
        check_use(
            "Write",
            r#"{"file_path":"/a.rs","content":"z"}"#,
            &[(ChunkKind::Write, "a.rs\nz", Some("/a.rs"))],
        );
        check_use("Read", r#"{"file_path":"/a.rs"}"#, &[(ChunkKind::Read, "", Some("/a.rs"))]);
        check_use(
            "Bash",
            r#"{"command":"ls","description":"List"}"#,
            &[(ChunkKind::Command, "ls", None), (ChunkKind::Purpose, "List", None)],
        );
        check_use(
            "TodoWrite",
            r#"{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}"#,
            &[(ChunkKind::Todo, "a", None)],
        );
        check_use("mcp__x__y", r#"{"q":1}"#, &[]);
        check_use("Edit", "null", &[]);
    }

    #[test]
    fn commit_subjects() {
        let check = |command: &str, expected: Option<&str>| {
            assert_eq!(commit_subject(command).as_deref(), expected, "{command}");
        };
        check(r#"git commit -m "Fix the refresh""#, Some("Fix the refresh"));
        check("git commit -am 'Fix it'", Some("Fix it"));
        check(
            "git add . && git commit -m \"$(cat <<'EOF'\nFix heredoc\n\nBody\nEOF\n)\"",
            Some("Fix heredoc"),
        );
        check("git commit", None);
        check("ls", None);
    }

    #[test]
    fn what_git_names_as_changed() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(git_change(line), expected, "{line:?}");
        check("\tmodified:   src/a.rs", Some("src/a.rs"));
        check("\trenamed:    a.rs -> b.rs", Some("b.rs"));
        check(" create mode 100644 src/a.rs", Some("src/a.rs"));
        check(" src/a.rs | 12 ++--", Some("src/a.rs"));
        check(" M src/a.rs", Some("src/a.rs"));
        check("?? new.txt", Some("new.txt"));
        check("M\tsrc/a.rs", Some("src/a.rs"));
        check("R100\told.rs\tnew.rs", Some("new.rs"));
        check("A sentence.", None);
        check("", None);
        check("é", None);
    }

    #[test]
    fn errors_and_refusals() {
        let check = |line: &str, expected: &[(ChunkKind, &str)]| {
            let record = parse(line.as_bytes()).unwrap();
            let units = crate::chunk::units(&record, false);
            let found: Vec<_> = units.iter().map(|unit| (unit.kind, unit.text.as_ref())).collect();
            assert_eq!(found, expected, "{line}");
        };
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"Exit code 1\nboom","is_error":true}]}}"#,
            &[(ChunkKind::Error, "Exit code 1\nboom")],
        );
        check(
            r#"{"type":"user","toolUseResult":{"stdout":"ok"},"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"fine\nerror: x"}]}}"#,
            &[(ChunkKind::Error, "error: x")],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"error in a file that was read"}]}}"#,
            &[],
        );
        check(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"The user doesn't want to proceed. The user said:\nuse the other"}]}}"#,
            &[(ChunkKind::Refusal, "use the other")],
        );
        let refused = |content: &str| {
            format!(
                r#"{{"type":"user","permissionDecision":{{"decision":"reject","source":"user_reject"}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"{content}"}}]}}}}"#
            )
        };
        check(&refused("n not today please"), &[(ChunkKind::Refusal, "n not today please")]);
        check(&refused("The user doesn't want to proceed with this tool use."), &[]);
        check(
            &refused("The user doesn't want to proceed. The user said:\\nlater"),
            &[(ChunkKind::Refusal, "later")],
        );
        check(&refused(" "), &[]);
    }
}
