//! A pattern, and where it is in a text without secrets. The whole text is redacted first; then it is searched, cut and
//! marked. So nothing that is found holds a part of a secret, or depends on what one consists of.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::{Regex as BytesRegex, RegexBuilder as BytesRegexBuilder};
use regex::{Regex, RegexBuilder};
use transcript::record::result_text;
use transcript::{Part, Raw, strings};

use crate::{Error, Kind, Secrets};

/// The largest automaton that a pattern may become, in bytes.
const LARGEST: usize = 10 << 20;
/// What stands in the place of a secret begins so, and ends with `]`.
const MARK: &str = "[redacted:";
/// No mark is longer, in bytes.
const LONGEST_MARK: usize = 64;

/// What a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// A regular expression.
    Expression,
    /// Text as it is written.
    Text,
}

/// Whether capital letters make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// They do where the pattern has one.
    Smart,
    /// They never do.
    Any,
}

/// A pattern, and a quick test that rules most lines of a transcript out.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// Whether it is text that cannot be in part a mark of a redaction and in part not. It is not looked for in marks, so
    /// that text without it has no match when it is redacted.
    is_plain: bool,
    /// Matches every line of a file that may hold a match, where JSON writes the pattern's characters as they are.
    raw: Option<BytesRegex>,
}

impl Pattern {
    pub(crate) fn new(pattern: &str, syntax: Syntax, case: Case) -> Result<Self, Error> {
        if pattern.is_empty() {
            return Err(Error::new(Kind::Usage, "the pattern is empty"));
        }
        let is_text = syntax == Syntax::Text;
        let text = if is_text { regex::escape(pattern) } else { pattern.to_owned() };
        let is_any_case = case == Case::Any || !has_capitals(pattern, is_text);
        let built = RegexBuilder::new(&text).case_insensitive(is_any_case).size_limit(LARGEST).build();
        let regex = built.map_err(|error| {
            let message = format!("`{pattern}` is not a valid regular expression");
            Error::caused(Kind::Usage, message, &error)
                .hint("to look for it as text, search for a fixed string (-F)")
        })?;
        let is_written_as_it_is = pattern.chars().all(|c| c.is_ascii_alphanumeric() || " _-".contains(c));
        let is_plain = is_written_as_it_is || is_text && !pattern.contains(['[', ':', ']']);
        let quick = if is_written_as_it_is { pattern } else { longest_word(pattern) };
        let raw = BytesRegexBuilder::new(quick).case_insensitive(is_any_case).size_limit(LARGEST).build();
        Ok(Self { regex, is_plain, raw: raw.ok().filter(|_| is_plain) })
    }

    /// Whether a line of a transcript may hold a match; most that do not are ruled out.
    pub(crate) fn may_match(&self, line: &[u8]) -> bool {
        self.raw.as_ref().is_none_or(|raw| raw.is_match(line))
    }

    /// The text as it may leave, if the pattern can be in it.
    pub(crate) fn searched<'a>(&self, text: &'a str, secrets: Secrets) -> Option<Cow<'a, str>> {
        (!self.rules_out(text)).then(|| secrets.shown(text))
    }

    /// The texts of a part of a message in which the pattern can be, as they may leave.
    pub(crate) fn searched_part(&self, part: &Part<'_>, secrets: Secrets) -> Vec<String> {
        if let Part::ToolUse { input, .. } = part {
            return self.searched_input(*input, secrets).into_iter().collect();
        }
        let texts = texts_of(part);
        texts.iter().filter_map(|text| self.searched(text, secrets)).map(Cow::into_owned).collect()
    }

    /// What a tool is given, as the lines of its strings. It is redacted while the names of its fields are still beside
    /// them: `{"password": "…"}` is a secret by its name alone.
    fn searched_input(&self, input: Raw<'_>, secrets: Secrets) -> Option<String> {
        if self.rules_out(&lines_of(input)) {
            return None;
        }
        let redacted = secrets.redacted_json(input.json());
        self.searched(&lines_of(Raw::new(&redacted)), secrets).map(Cow::into_owned)
    }

    fn rules_out(&self, text: &str) -> bool {
        self.is_plain && !self.regex.is_match(text)
    }

    /// The ranges of the matches in a text that was redacted.
    pub(crate) fn marks(&self, text: &str) -> Vec<(usize, usize)> {
        self.each(text).map(|found| (found.start, found.end)).collect()
    }

    /// The first match in a text that was redacted.
    pub(crate) fn first(&self, text: &str) -> Option<Range<usize>> {
        self.each(text).next()
    }

    fn each<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = self.regex.find_iter(text).map(|found| found.range());
        found.filter(move |range| !self.is_plain || !is_in_mark(text, range))
    }
}

/// Whether a range, in which there is no bracket, is inside what stands in the place of a secret.
fn is_in_mark(text: &str, range: &Range<usize>) -> bool {
    let near = text.floor_char_boundary(range.start.saturating_sub(LONGEST_MARK));
    let begin = text[near..range.start].rfind('[').map(|at| near + at);
    begin.is_some_and(|begin| {
        text[begin..].starts_with(MARK) && text[begin..].find(']').is_some_and(|end| range.end <= begin + end)
    })
}

/// The longest part that JSON writes as it is.
fn longest_word(text: &str) -> &str {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

/// Whether a pattern asks for capital letters; those of escapes such as `\S` are none.
fn has_capitals(pattern: &str, is_text: bool) -> bool {
    let mut was_escape = false;
    pattern.chars().any(|c| {
        let is_capital = c.is_uppercase() && (is_text || !was_escape);
        was_escape = c == '\\' && !was_escape;
        is_capital
    })
}

/// The strings in a JSON value, a line or more each.
fn lines_of(value: Raw<'_>) -> String {
    strings(value).collect::<Vec<_>>().join("\n")
}

/// What a part of a message holds beside a tool's input, as texts.
fn texts_of<'a>(part: &'a Part<'_>) -> Vec<Cow<'a, str>> {
    match part {
        Part::Text(text) | Part::Thinking(text) => vec![Cow::Borrowed(text)],
        // What the model is shown may be cut, or only say where the output is.
        Part::ToolResult { content, kept, .. } => {
            let printed = ["stdout", "stderr"].into_iter().filter_map(|field| kept.get(field).text());
            std::iter::once(result_text(*content)).chain(printed).collect()
        }
        Part::ToolUse { .. } | Part::Image => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_are_asked_for_by_capital_letters() {
        let check = |pattern: &str, expected: bool| {
            assert_eq!(has_capitals(pattern, false), expected, "{pattern}");
        };
        check("fatal", false);
        check("Fatal", true);
        check(r"\S+\W", false);
        check(r"\\S", true);
        assert!(has_capitals(r"\S", true), "it is text");
    }

    #[test]
    fn a_line_is_only_parsed_where_it_can_hold_the_text() {
        let check = |text: &str, line: &str, expected: bool| {
            let pattern = Pattern::new(text, Syntax::Text, Case::Any).unwrap();
            assert_eq!(pattern.may_match(line.as_bytes()), expected, "{text} in {line}");
        };
        check("fix: tokens", r#"{"text":"nothing"}"#, true);
        check("fix (tokens), é", r#"{"text":"The TOKENS"}"#, true);
        check("fix (tokens), é", r#"{"text":"token"}"#, false);
        check("→ é", r#"{"text":"anything"}"#, true);
    }

    /// Two texts that differ in the secret alone.
    fn texts() -> [String; 2] {
        let token = |body: &str| format!("push with gh{}{body}, then zebra; ask for a ticket", "p_");
        [token("tokEd7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQ"), token("Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi")]
    }

    #[test]
    fn no_pattern_tells_two_secrets_apart() {
        let found = |text: &str, pattern: &str, syntax| {
            let pattern = Pattern::new(pattern, syntax, Case::Smart).unwrap();
            let shown = pattern.searched(text, Secrets::Redacted)?;
            let marks = pattern.marks(&shown);
            (!marks.is_empty()).then(|| (shown.into_owned(), marks))
        };
        let [one, other] = texts();
        for pattern in [
            "redacted",
            "token",
            "github",
            "ghp_t",
            "ghp_Z",
            "zebra",
            "Zq7Lm2",
            "ed",
            "a",
            "[redacted:",
            "h [",
            "github|ghp_t",
            "ghp_t|to",
            "p_[tz]",
            r"\[redacted:.*zebra",
            "n], then",
            ".",
        ] {
            for syntax in [Syntax::Text, Syntax::Expression] {
                if pattern != "[redacted:" && pattern != "h [" || syntax == Syntax::Text {
                    assert_eq!(found(&one, pattern, syntax), found(&other, pattern, syntax), "{pattern}");
                }
            }
        }
        assert!(found(&one, "zebra", Syntax::Text).is_some());
        assert!(found(&one, r"with \[redacted:", Syntax::Expression).is_some());
        assert_eq!(found(&one, "redacted", Syntax::Text), None, "a mark is no text of the session");
    }

    #[test]
    fn a_person_who_sees_secrets_finds_them() {
        let [one, _] = texts();
        let pattern = Pattern::new("ghp_toked", Syntax::Text, Case::Any).unwrap();
        let shown = pattern.searched(&one, Secrets::Shown).unwrap();
        assert_eq!(pattern.first(&shown), Some(10..19));
    }
}
