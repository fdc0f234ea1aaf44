//! Passwords among the arguments of a call: `auth=("bot", "…")`, `getConnection(url, "app", "…")`,
//! `ConvertTo-SecureString "…"`.

use crate::sentence::is_strong;
use crate::value::{is_encoded_text, is_path_or_url, is_placeholder};
use crate::{Secret, Text};

/// The number of bytes of a call that are looked at.
const REACH: usize = 300;

/// Finds the second string of the call whose arguments begin at `at`, which is a user's password.
pub(crate) fn second(text: Text<'_>, at: usize) -> Option<Secret> {
    let mut strings = Strings::new(text.bytes, at);
    let (from, _) = strings.next()?;
    // The first is the first argument; a variable may be, too.
    let is_first = text.bytes[at..from].iter().all(|byte| !matches!(byte, b','));
    let (start, value) = if is_first { strings.next()? } else { Strings::new(text.bytes, at).next()? };
    secret(start, value)
}

/// Finds the third argument of a call that opens a connection: where it goes, the user and the password.
pub(crate) fn third(text: Text<'_>, at: usize) -> Option<Secret> {
    let strings: Vec<_> = Strings::new(text.bytes, at).take(3).collect();
    let (start, value) = match strings[..] {
        [_, _, third] => third,
        // The first is a variable.
        [first, second] if text.bytes[at..first.0].contains(&b',') => second,
        _ => return None,
    };
    secret(start, value)
}

/// Finds the string that is made secure.
pub(crate) fn secure_string(text: Text<'_>, at: usize) -> Option<Secret> {
    let rest = &text.bytes[at..text.bytes.len().min(at + 32)];
    let gap = rest.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let is_option = rest[..gap].trim_ascii().is_empty()
        || rest[..gap].trim_ascii().eq_ignore_ascii_case(b"-String")
        || rest[..gap].trim_ascii().ends_with(b"(")
        || rest[..gap].trim_ascii().ends_with(b"\\");
    let (start, value) = is_option.then(|| Strings::new(text.bytes, at).next())??;
    let is_password =
        value.len() >= 6 && !is_placeholder(value) && !value.contains(&b' ') && !value.starts_with(b"$");
    is_password.then(|| Secret::new("password", start..start + value.len()))
}

fn secret(start: usize, value: &[u8]) -> Option<Secret> {
    let is_secret =
        (is_strong(value) || is_encoded_text(value)) && !is_path_or_url(value) && !is_placeholder(value);
    is_secret.then(|| Secret::new("password", start..start + value.len()))
}

/// The quoted strings of a call, up to its end.
struct Strings<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Strings<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, end: bytes.len().min(at + REACH) }
    }
}

impl<'a> Iterator for Strings<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.bytes[self.at..self.end];
        let open = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b')' | b';' | b'\n'))?;
        let quote = rest[open];
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let inside = &rest[open + 1..];
        let length = inside.iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let start = self.at + open + 1;
        self.at = start + length + 1;
        // A string inside a string ends with a backslash.
        let value = &inside[..length];
        Some((start, value.strip_suffix(b"\\").unwrap_or(value)))
    }
}
