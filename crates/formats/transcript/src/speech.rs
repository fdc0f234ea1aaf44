//! Extracts what a person said: markers and wrappers are removed, machine-made text is recognized.
//!
//! Pure text rules, shared by titles, search and exports, so that all three show the same words.

use std::borrow::Cow;

use crate::elements::{channel_message, is_by_machine};

/// A person's words with the marks around them taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speech<'a> {
    /// The text without markers and wrappers.
    pub text: Cow<'a, str>,
    /// The marker that began the text, as written: `[openclaw:agent=main]`.
    pub origin_marker: Option<String>,
}

/// Elements whose whole content is context for the model.
const CONTEXT: [&str; 8] = [
    "system-reminder",
    "previous_session_context",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "local-command-caveat",
    "user-memory-input",
    "fork-boilerplate",
];

/// Separates the context that CrewHub injects from the person's words.
const CREWHUB_SEPARATOR: &str = "---[user-message-start]---";

/// The words of a person in `text`; `None` where a machine wrote it or nothing is left.
pub fn speech(text: &str) -> Option<Speech<'_>> {
    let (origin_marker, text) = split_origin_marker(text.trim());
    let text = after_crewhub_context(text);
    // Most texts hold no element at all.
    let text = if text.contains('<') { without_elements(text) } else { Cow::Borrowed(text) };
    if text.is_empty() || is_by_machine(&text) || is_unknown_command(&text) {
        return None;
    }
    if let Some(message) = channel_message(&text) {
        return message.is_persons().then(|| Speech { text: message.words.to_owned().into(), origin_marker });
    }
    let text = match command(&text) {
        Some(command) => Cow::Owned(command),
        None => text,
    };
    (!text.is_empty()).then_some(Speech { text, origin_marker })
}

/// Whether the words are a terminal command (`/model opus`) or a shell line (`! ls`): typed by a person, but no good
/// as a title.
pub fn is_command(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    text.starts_with("! ")
        || (word.len() > 1
            && word.starts_with('/')
            && word[1..].chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))
}

/// Whether the words are for the terminal alone: a command of its own that asks the model for nothing.
pub fn is_housekeeping(text: &str) -> bool {
    const COMMANDS: [&str; 24] = [
        "/agents",
        "/clear",
        "/compact",
        "/config",
        "/context",
        "/cost",
        "/doctor",
        "/effort",
        "/exit",
        "/export",
        "/help",
        "/hooks",
        "/ide",
        "/login",
        "/logout",
        "/mcp",
        "/memory",
        "/model",
        "/permissions",
        "/quit",
        "/rename",
        "/resume",
        "/status",
        "/usage",
    ];
    text.split_whitespace().next().is_some_and(|word| COMMANDS.contains(&word))
}

/// Whether the text is what Claude Code says of a command that it does not have; a prompt may quote it.
pub(crate) fn is_unknown_command(text: &str) -> bool {
    let name = text.strip_prefix("Unknown slash command: ").or_else(|| text.strip_prefix("Unknown skill: "));
    name.is_some_and(|name| !name.trim().contains(char::is_whitespace))
}

/// Whether the words leave the terminal.
pub(crate) fn is_exit(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("/exit" | "/quit"))
}

/// `[openclaw:agent=<id>]` at the beginning, and what follows it.
pub fn split_origin_marker(text: &str) -> (Option<String>, &str) {
    let found = text.strip_prefix("[openclaw:agent=").and_then(|rest| rest.split_once(']'));
    match found {
        Some((agent, rest)) if !agent.is_empty() && !agent.contains('\n') => {
            (Some(format!("[openclaw:agent={agent}]")), rest.trim_start())
        }
        _ => (None, text),
    }
}

/// The agent a marker names.
pub fn marked_agent(marker: &str) -> Option<&str> {
    marker.strip_prefix("[openclaw:agent=")?.strip_suffix(']')
}

fn without_elements(text: &str) -> Cow<'_, str> {
    match without_context(text) {
        Cow::Borrowed(text) => match without_team_markers(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        },
        Cow::Owned(text) => Cow::Owned(without_team_markers(&text).trim().to_owned()),
    }
}

/// The text without the description of a room that CrewHub puts before a message.
pub fn after_crewhub_context(text: &str) -> &str {
    if !text.contains("```crewhub-context") {
        return text;
    }
    text.split_once(CREWHUB_SEPARATOR).map_or(text, |(_, words)| words.trim_start())
}

/// Removes `<system-reminder>…</system-reminder>` and similar elements anywhere in the text.
fn without_context(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for element in CONTEXT {
        if let Some(rest) = without_element(&text, &format!("<{element}>"), &format!("</{element}>")) {
            text = Cow::Owned(rest);
        }
    }
    text
}

/// `None` where there is no such element; one that is never closed reaches to the end.
fn without_element(text: &str, open: &str, close: &str) -> Option<String> {
    let mut start = text.find(open)?;
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    loop {
        out.push_str(&rest[..start]);
        let Some(end) = rest[start..].find(close) else { return Some(out) };
        rest = &rest[start + end + close.len()..];
        let Some(next) = rest.find(open) else { return Some(out + rest) };
        start = next;
    }
}

/// Takes out `<!claude-team-session:ID!>` and its like.
fn without_team_markers(text: &str) -> Cow<'_, str> {
    let is_marker = |start: &str| start.starts_with("<!claude-team-") || start.starts_with("<!maniple-");
    let mut out = String::new();
    // Up to here it is in `out`.
    let (mut taken, mut searched) = (0, 0);
    while let Some(start) = text[searched..].find("<!").map(|at| searched + at) {
        searched = start + 2;
        if is_marker(&text[start..]) {
            let Some(end) = text[start..].find("!>") else { break };
            out.push_str(&text[taken..start]);
            (taken, searched) = (start + end + 2, start + end + 2);
        }
    }
    if taken == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[taken..]) }
}

/// A command's two or three elements as the person typed them: `/ship 1.2.3`, `! ls`.
fn command(text: &str) -> Option<String> {
    if let Some(line) = element(text, "bash-input") {
        return Some(format!("! {}", line.trim()));
    }
    if !text.starts_with("<command-") {
        return None;
    }
    let name = element(text, "command-name").unwrap_or("").trim();
    let arguments = element(text, "command-args").unwrap_or("").trim();
    Some(format!("{name} {arguments}").trim().to_owned())
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, said: Option<&str>) {
        assert_eq!(speech(text).as_ref().map(|speech| speech.text.as_ref()), said, "{text:?}");
    }

    #[test]
    fn wrappers_around_a_prompt_are_removed() {
        check("Fix the token refresh", Some("Fix the token refresh"));
        check("  spaced \n", Some("spaced"));
        check("", None);
        check("<local-command-stdout>ok</local-command-stdout>", None);
        check("[Request interrupted by user for tool use]", None);
        check("Operation stopped by hook: Another session is active", None);
        check("<task-notification>done</task-notification>", None);
        check("<bash-notification>done</bash-notification>", None);
        check("Unknown slash command: theme", None);
        check("Unknown slash command: theme\nWhy?", Some("Unknown slash command: theme\nWhy?"));
        check("<system-reminder>x</system-reminder>", None);
        check("<system-reminder>x</system-reminder>\nDo it", Some("Do it"));
        check("Do it<system-reminder>never closed", Some("Do it"));
        check("a <b> c", Some("a <b> c"));
        check(
            "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>1.2</command-args>",
            Some("/ship 1.2"),
        );
        check("<command-name>/clear</command-name>", Some("/clear"));
        check("<bash-input>ls -la</bash-input>", Some("! ls -la"));
        check("<!claude-team-session:ab12!>\n<!maniple-tmux:x!>\nWork", Some("Work"));
        check(
            "**You are X**\n```crewhub-context\n{\"v\":1}\n```\n\n---[user-message-start]---\nHello",
            Some("Hello"),
        );
        check(
            "[openclaw:agent=main]\n\n<previous_session_context>\nold\n</previous_session_context>\n\nNew task",
            Some("New task"),
        );
    }

    #[test]
    fn the_origin_marker_is_separated() {
        let said = speech("[openclaw:agent=main]\n\nfix tests").unwrap();
        assert_eq!(
            (said.text.as_ref(), said.origin_marker.as_deref()),
            ("fix tests", Some("[openclaw:agent=main]"))
        );
        assert_eq!(marked_agent("[openclaw:agent=main]"), Some("main"));
        check("see [openclaw:agent=main] there", Some("see [openclaw:agent=main] there"));
        check("[openclaw:agent=]x", Some("[openclaw:agent=]x"));
    }

    #[test]
    fn commands_of_the_terminal() {
        assert!(is_command("/model opus"));
        assert!(is_command("! ls"));
        assert!(!is_command("/etc/hosts is wrong"));
        assert!(!is_command("fix /model"));
    }
}
