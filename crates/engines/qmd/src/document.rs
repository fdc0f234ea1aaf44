//! The head of a session's Markdown document, which other programs read before the conversation.
//!
//! Written as `Key: value` between two rules; also read as `- **Key:** value`, as other exporters write it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{Session, SessionId, is_invisible, is_steering};

/// File extension of documents.
pub const FILE_TYPE: &str = "md";
/// Exporter name and format version; a new version causes every document to be rewritten.
const BY: &str = "backstory 1";
/// Number of lines searched for a head.
const LINES: usize = 40;

const SESSION: &str = "Session ID";
const DIRECTORY: &str = "Working Directory";
const DATE: &str = "Date";
const EXPORTED_BY: &str = "Exported By";

/// What a document says about its session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentHead {
    /// The session.
    pub session: Option<SessionId>,
    /// The directory the session started in.
    pub working_directory: Option<PathBuf>,
    /// When the session began.
    pub date: Option<Timestamp>,
    /// Whether Backstory wrote the document.
    pub is_ours: bool,
}

impl DocumentHead {
    /// Parses the beginning of a document; `None` if it describes no session.
    pub fn parse(text: &str) -> Option<Self> {
        let mut head = Self::default();
        for (key, value) in text.lines().take(LINES).filter_map(pair) {
            match key.as_str() {
                "session id" | "session_id" => head.session = head.session.or_else(|| value.parse().ok()),
                "working directory" | "working dir" | "cwd" => {
                    head.working_directory.get_or_insert_with(|| value.into());
                }
                "date" => head.date = head.date.or_else(|| value.parse().ok()),
                "exported by" => head.is_ours = value.starts_with("backstory"),
                _ => {}
            }
        }
        (head != Self::default()).then_some(head)
    }

    /// Formats the head of a session's document. `source` identifies the content the document is made from;
    /// omitted when a document is only displayed.
    pub fn head(session: &Session, source: Option<&str>) -> String {
        let mut head = format!("---\n{SESSION}: {}\n", session.id);
        let path = |path: Option<&Path>| path.map(|path| path.display().to_string());
        let date = session.created.or(session.last_modified).map(|date| date.to_string());
        let lines = [
            (DIRECTORY, path(session.cwd.as_deref())),
            (DATE, date),
            ("Agent", Some("claude".to_owned())),
            ("Repo Root", path(session.repo_path.as_deref())),
            ("Title", session.title.as_deref().map(str::to_owned)),
            ("Source", source.map(str::to_owned)),
            (EXPORTED_BY, source.map(|_| BY.to_owned())),
        ];
        for (key, value) in lines {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = writeln!(head, "{key}: {}", one_line(&value));
            }
        }
        head.push_str("---\n");
        if let Some(title) = session.title.as_deref().map(one_line).filter(|title| !title.is_empty()) {
            // What search engines for documents call it.
            let _ = write!(head, "\n# {title}\n");
        }
        head
    }
}

/// Whether a line belongs to a head.
pub(crate) fn is_head(line: &str) -> bool {
    const KEYS: [&str; 13] = [
        "session id",
        "session_id",
        "working directory",
        "working dir",
        "cwd",
        "date",
        "agent",
        "repo root",
        "title",
        "source",
        "exported by",
        "---",
        "git branch",
    ];
    pair(line).is_some_and(|(key, _)| KEYS.contains(&key.as_str()))
}

/// Parses `Key: value` or `- **Key:** value`, optionally after the line number that `qmd get` prints; the key
/// is lowercased.
fn pair(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let numbered = line.split_once(": ").filter(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
    let line = numbered.map_or(line, |(_, rest)| rest);
    let plain = line.trim_start_matches(['-', '*', ' ']);
    let (key, value) = plain.split_once(':')?;
    let value = value.trim_start_matches('*').trim();
    (key.len() < 40 && !value.is_empty()).then(|| (key.trim_end_matches('*').to_lowercase(), value))
}

/// A value on one line, without terminal control characters.
fn one_line(value: &str) -> String {
    let seen = value.chars().filter(|c| !is_invisible(*c));
    let plain: String = seen.map(|c| if is_steering(c) { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "60309e1e-c4ea-4d6d-8da1-21732781ce4d";

    #[test]
    fn a_value_stays_on_its_line_and_says_what_it_is() {
        assert_eq!(one_line("a\nTitle: b\u{2028}c\u{202e}d\u{200b}\u{1b}[2J"), "a Title: b cd [2J");
    }

    #[test]
    fn heads_of_every_exporter_are_read() {
        let check = |text: &str, session: Option<&str>, directory: Option<&str>, date: Option<&str>| {
            let head = DocumentHead::parse(text).unwrap_or_default();
            assert_eq!(head.session.map(|id| id.to_string()).as_deref(), session, "{text}");
            assert_eq!(head.working_directory, directory.map(PathBuf::from), "{text}");
            assert_eq!(head.date.map(|date| date.to_string()).as_deref(), date, "{text}");
        };
        let plain = format!(
            "---\nSession ID: {ID}\nWorking Directory: /private/tmp\nDate: 2026-01-07T00:11:47.756Z\n---\n"
        );
        let date = Some("2026-01-07T00:11:47.756Z");
        check(&plain, Some(ID), Some("/private/tmp"), date);
        check(&format!("# T\n\n- **Session ID:** {ID}\n- **cwd:** /p\n"), Some(ID), Some("/p"), None);
        let numbered: Vec<_> =
            (1..).zip(plain.lines()).map(|(number, line)| format!("{number}: {line}")).collect();
        check(
            &format!("qmd://c/a.md  #1\n---\n\n{}", numbered.join("\n")),
            Some(ID),
            Some("/private/tmp"),
            date,
        );
        check("Session ID: ../../etc/passwd\n", None, None, None);
        check(&format!("{}Session ID: {ID}", "\n".repeat(60)), None, None, None);
        check("nothing of the kind\0", None, None, None);
    }
}
