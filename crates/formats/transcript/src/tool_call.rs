//! A call of a tool: what kind it is, and what of it can be shown.

use std::borrow::Cow;

use crate::json::Raw;

/// The most characters of what a person is asked.
const ASKED: usize = 300;

/// A tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// Links the result to the call.
    pub id: &'a str,
    /// The tool's name: `Bash`, `Edit`, …
    pub name: &'a str,
    /// The tool's own fields.
    pub input: Raw<'a>,
}

impl<'a> ToolCall<'a> {
    /// Whether it starts a sub-agent.
    pub fn starts_subagent(&self) -> bool {
        matches!(self.name, "Task" | "Agent")
    }

    /// Whether it asks the person something, so that it waits for them until it has a result.
    pub fn is_question(&self) -> bool {
        matches!(self.name, "AskUserQuestion" | "ExitPlanMode" | "exit_plan_mode")
    }

    /// A short description that is safe to show: a description, a file's name, a program's name or a host; never a
    /// whole command, which may contain a secret.
    pub fn detail(&self) -> Option<String> {
        let field = |name: &str| self.input.get(name).text().filter(|text| !text.trim().is_empty());
        let described = || field("description");
        let text = match self.name {
            "Bash" | "PowerShell" => described().or_else(|| field("command").map(|text| program(&text))),
            "Read" | "Edit" | "MultiEdit" | "Write" => field("file_path").map(|path| file_name(&path)),
            "NotebookEdit" | "NotebookRead" => field("notebook_path").map(|path| file_name(&path)),
            "LS" => field("path").map(|path| file_name(&path)),
            "WebFetch" => field("url").map(|url| host(&url)),
            "Skill" => field("skill"),
            _ if self.is_question() => None,
            _ => described(),
        };
        text.map(|text| one_line(&text)).filter(|text| !text.is_empty())
    }

    /// What a person is asked who has to allow the call or to answer it: the question, the whole command, the file.
    /// Unlike the detail it may contain a secret.
    pub fn asking(&self) -> Option<String> {
        let field = |name: &str| self.input.get(name).text().filter(|text| !text.trim().is_empty());
        let text = match self.name {
            "AskUserQuestion" => {
                let mut questions =
                    self.input.get("questions").elements().filter_map(|one| one.get("question").text());
                let first = questions.next()?;
                match questions.count() {
                    0 => Some(first),
                    more => Some(format!("{first} (and {more} more)").into()),
                }
            }
            "ExitPlanMode" | "exit_plan_mode" => field("plan"),
            "Bash" | "PowerShell" | "Monitor" => field("command"),
            "Read" | "Edit" | "MultiEdit" | "Write" => field("file_path"),
            "NotebookEdit" => field("notebook_path"),
            "WebFetch" => field("url"),
            _ => None,
        };
        text.map(|text| in_one_line(&text, ASKED)).filter(|text| !text.is_empty())
    }

    /// The prompt that a sub-agent is given; its file begins with it.
    pub fn prompt(&self) -> Option<Cow<'a, str>> {
        self.input.get("prompt").text()
    }

    /// The kind of sub-agent that is started.
    pub fn agent_type(&self) -> Option<Cow<'a, str>> {
        self.input.get("subagent_type").text()
    }
}

/// The program a command line begins with, and its first word when that is a plain one: `git push`.
fn program(command: &str) -> Cow<'static, str> {
    let plain = |word: &&str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
    };
    let is_assignment = |word: &&str| word.contains('=');
    let mut words = command.split_whitespace().skip_while(is_assignment);
    let Some(first) = words.next() else { return Cow::Borrowed("") };
    let first = file_name(first);
    let named: String = first.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    match words.next().filter(plain) {
        Some(second) => Cow::Owned(format!("{named} {second}")),
        None => Cow::Owned(named),
    }
}

fn file_name(path: &str) -> Cow<'static, str> {
    Cow::Owned(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_owned())
}

fn host(url: &str) -> Cow<'static, str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    Cow::Owned(authority.rsplit('@').next().unwrap_or("").to_owned())
}

/// On one line, without control characters, at most 80 characters.
fn one_line(text: &str) -> String {
    in_one_line(text, 80)
}

/// A text in one line of at most so many characters.
fn in_one_line(text: &str, length: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= length {
        return words;
    }
    words.chars().take(length - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_details_are_safe_to_display() {
        let detail = |name: &str, input: &str| {
            ToolCall { id: "t", name, input: Raw::new(input) }.detail().unwrap_or_default()
        };
        assert_eq!(
            detail("Bash", r#"{"command":"TOKEN=abc git push https://x:y@z","description":"Push it"}"#),
            "Push it"
        );
        assert_eq!(detail("Bash", r#"{"command":"TOKEN=abc /usr/bin/git push https://x:y@z"}"#), "git push");
        assert_eq!(detail("Bash", r#"{"command":"curl -H 'Authorization: Bearer abc'"}"#), "curl");
        assert_eq!(detail("Edit", r#"{"file_path":"/home/u/src/a.rs"}"#), "a.rs");
        assert_eq!(detail("WebFetch", r#"{"url":"https://me:pw@example.com/x?key=1"}"#), "example.com");
        assert_eq!(
            detail("Agent", r#"{"description":"Count\n\u001b[31m files","prompt":"secret"}"#),
            "Count [31m files"
        );
        assert_eq!(detail("AskUserQuestion", r#"{"questions":[]}"#), "");
        assert_eq!(
            detail("Bash", &format!(r#"{{"description":"{}"}}"#, "é".repeat(300))).chars().count(),
            80
        );
    }
}
