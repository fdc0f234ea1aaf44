//! Finds secrets in text: keys, tokens, private keys, passwords. The time is linear in the length of any text.
//!
//! Two passes look for candidates, and the rules are applied only to those: one finds long runs of token characters
//! ([`mod@runs`]), the other words that precede a secret ([`mod@words`]). Text without secrets costs these two passes
//! and no copy.

#![warn(rustdoc::private_intra_doc_links)]
#![allow(rustdoc::private_intra_doc_links, reason = "the modules are named for who reads the source")]

mod address;
mod argument;
mod assignment;
mod colour;
mod command;
mod hash;
mod header;
mod json;
mod key_line;
mod kubernetes;
mod numbers;
mod private_key;
mod rules;
mod runs;
mod sentence;
mod value;
mod words;

use std::borrow::Cow;
use std::ops::Range;

pub use json::redact_json;

/// The start of the text that replaces a secret, followed by its kind.
const MARK: &str = "[redacted:";

/// The kind and range of a secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The kind of secret: `github-token`, `password`, …
    pub kind: &'static str,
    /// The start offset in bytes.
    pub start: usize,
    /// The end offset in bytes.
    pub end: usize,
}

impl Secret {
    fn new(kind: &'static str, range: Range<usize>) -> Self {
        Self { kind, start: range.start, end: range.end }
    }
}

/// A text, and whether it may end in the middle of a secret.
#[derive(Debug, Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    is_cut: bool,
}

impl Text<'_> {
    /// Whether the text was cut at `end`, so that a secret may be incomplete.
    fn is_cut_at(&self, end: usize) -> bool {
        self.is_cut && end == self.bytes.len()
    }
}

/// Finds the secrets of a text, in order and without overlaps.
pub fn find(text: &str) -> Vec<Secret> {
    find_in(text, false)
}

/// Finds the secrets in the beginning of a longer text, including one that the end of the beginning cuts off; `…` may
/// mark the cut.
pub fn find_beginning(text: &str) -> Vec<Secret> {
    let beginning = text.trim_end_matches('…');
    let mut found = find_in(beginning, true);
    if beginning.len() < text.len() {
        found.extend(find_in(text, false));
        found = merged(found);
    }
    found
}

/// The text with `[redacted:kind]` in the place of each secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    replaced(text, &find_in(text, false))
}

/// Redacts the beginning of a longer text; see [`find_beginning`].
pub fn redact_beginning(text: &str) -> Cow<'_, str> {
    replaced(text, &find_beginning(text))
}

/// [`redact`] of a text that is already owned or borrowed.
pub fn redacted(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => redact(text),
        Cow::Owned(text) => match redact(&text) {
            Cow::Owned(redacted) => Cow::Owned(redacted),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

/// Maps a range of the redacted text to the original text; a replaced secret maps to the whole secret.
///
/// `secrets` are those that [`find`] found in the original.
pub fn original(secrets: &[Secret], part: Range<usize>) -> Range<usize> {
    let place = |at: usize, is_end: bool| {
        // How far the redacted text and the original have come at the end of the last secret.
        let (mut redacted, mut original) = (0, 0);
        for secret in secrets {
            let begin = redacted + (secret.start - original);
            let end = begin + mark(secret.kind).len();
            if at < end && (at > begin || (at == begin && !is_end)) {
                return if is_end { secret.end } else { secret.start };
            }
            if at <= begin {
                break;
            }
            (redacted, original) = (end, secret.end);
        }
        original + at.saturating_sub(redacted)
    };
    place(part.start, false)..place(part.end, true)
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

fn find_in(text: &str, is_cut: bool) -> Vec<Secret> {
    let text = Text { bytes: text.as_bytes(), is_cut };
    let mut found = Vec::new();
    runs::find(text, &mut found);
    words::find(text, &mut found);
    merged(found)
}

/// In order, those that overlap as one; the kind is that of the form where one has a form of its own.
fn merged(mut found: Vec<Secret>) -> Vec<Secret> {
    // Stable: what `runs` found comes first.
    found.sort_by_key(|secret| secret.start);
    let mut merged: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match merged.last_mut().filter(|last| secret.start < last.end) {
            Some(last) => {
                if words::is_general(last.kind) && !words::is_general(secret.kind) {
                    last.kind = secret.kind;
                }
                last.end = last.end.max(secret.end);
            }
            None => merged.push(secret),
        }
    }
    merged
}

fn replaced<'a>(text: &'a str, secrets: &[Secret]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for secret in secrets {
        // Rules end a secret at ASCII; where one did not, the whole character goes.
        let (start, end) = (text.floor_char_boundary(secret.start), text.ceil_char_boundary(secret.end));
        out.push_str(&text[kept..start.max(kept)]);
        out.push_str(&mark(secret.kind));
        kept = end.max(kept);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_redacted_text_has_its_original() {
        let text = "a=1 PASSWORD=hunter2 b=2 PASSWORD=hunter3 c";
        let redacted = redact(text);
        assert_eq!(redacted, "a=1 PASSWORD=[redacted:password] b=2 PASSWORD=[redacted:password] c");
        let secrets = find(text);
        let check = |part: &str, expected: &str| {
            let start = redacted.find(part).unwrap();
            assert_eq!(&text[original(&secrets, start..start + part.len())], expected, "{part}");
        };
        check("a=1", "a=1");
        check("=[redacted:password]", "=hunter2");
        check("redacted", "hunter2");
        check("] b=2 PASSWORD=[", "hunter2 b=2 PASSWORD=hunter3");
        check(" b=2", " b=2");
        check("PASSWORD=", "PASSWORD=");
        check(" c", " c");
        assert_eq!(original(&secrets, 0..redacted.len()), 0..text.len());
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
        assert!(matches!(redacted(Cow::Borrowed("nothing here")), Cow::Borrowed(_)));
    }
}
