//! Recognizes the session that a task names by its id or by its title in quotes.

use crate::Candidate;

/// The shortest beginning of an id that names a session.
const SHORTEST_ID: usize = 8;
/// Marks that open and close a quotation.
const QUOTES: [(char, char); 5] =
    [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('\u{ab}', '\u{bb}')];

/// The ids and titles that a task mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedSessions<'a> {
    ids: Vec<&'a str>,
    titles: Vec<String>,
}

impl<'a> NamedSessions<'a> {
    /// Collects the ids and quoted titles in a text.
    pub(super) fn parse(task: &'a str) -> Self {
        let words = task.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
        Self {
            ids: words.filter(|word| word.len() >= SHORTEST_ID).collect(),
            titles: QUOTES.iter().flat_map(|(open, close)| quoted(task, *open, *close)).collect(),
        }
    }

    /// Whether the text names this session.
    pub(super) fn contains(&self, session: &Candidate) -> bool {
        let id = session.id.as_str();
        let has_title = || {
            let title = session.label.as_deref().map(str::to_lowercase);
            title.is_some_and(|title| self.titles.contains(&title))
        };
        self.ids.iter().any(|word| id.starts_with(word)) || !self.titles.is_empty() && has_title()
    }
}

/// The quotations of two words and more, in lower case.
fn quoted(text: &str, open: char, close: char) -> Vec<String> {
    let parts = text.split(open).skip(1);
    let inner = parts.filter_map(|part| if open == close { Some(part) } else { part.split(close).next() });
    inner.filter(|part| part.split_whitespace().count() >= 2).map(|part| part.trim().to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::tests::candidate;

    #[test]
    fn sessions_are_named_by_id_and_by_title() {
        let session = Candidate { label: Some("Token refresh".into()), ..candidate("3601d36f-b6c0-4e4b") };
        let check = |task: &str, expected| {
            assert_eq!(NamedSessions::parse(task).contains(&session), expected, "{task}");
        };
        check("go on with 3601d36f", true);
        check("in 3601d36f-b6c0, add a test", true);
        check("revert commit 3601d36e", false);
        check("3601d36", false);
        check("finish \"token refresh\" please", true);
        check("finish \u{201c}Token refresh\u{201d}", true);
        check("finish the token refresh", false);
        check("say \"token\"", false);
    }
}
