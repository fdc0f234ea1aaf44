//! Private keys as text: PEM, OpenSSH, PGP, `PuTTY`; also with escaped line ends, quoted line by line in code,
//! with line numbers before them, and cut off.

use crate::colour;
use crate::value::{decoded, has_few_distinct_chars};
use crate::{Secret, Text};

/// The longest line that can belong to a key's head, such as `DEK-Info: …`.
const HEAD_LINE: usize = 120;
/// The number of base64 characters at the start of a key that identify its kind.
const HEAD: usize = 52;
/// The fewest characters of a key without its end.
const LEAST: usize = 24;

/// Finds the key block whose first line has the `KEY` at `at`.
pub(crate) fn block(text: Text<'_>, at: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let line = &bytes[at.saturating_sub(48)..at];
    if !line.ends_with(b"PRIVATE ") {
        return None;
    }
    let begin = at - line.len() + line.windows(5).rposition(|word| word == b"BEGIN")?;
    let dashes = bytes[..begin].iter().rev().take(6).take_while(|byte| matches!(byte, b'-' | b' ')).count();
    if dashes < 4 {
        return None;
    }
    let rest = &bytes[at + 3..];
    let close = rest.iter().take(24).position(|byte| *byte == b'-')?;
    let first = at + 3 + close;
    let first = first + bytes[first..].iter().take_while(|byte| **byte == b'-').count();
    let body = Body::read(text, first);
    let is_key = (body.characters >= LEAST || (body.is_whole && body.characters >= 8)) && !body.is_filler;
    let is_key = is_key || text.is_cut_at(body.end);
    is_key.then(|| Secret::new("private-key", begin - dashes..body.end))
}

/// The lines behind `Private-Lines: 14`.
pub(crate) fn putty(text: Text<'_>, at: usize) -> Option<Secret> {
    let rest = &text.bytes[at..];
    let number = rest.iter().take(8).take_while(|byte| matches!(byte, b':' | b' ' | b'0'..=b'9')).count();
    let body = Body::read(text, at + number);
    (body.characters >= LEAST).then(|| Secret::new("private-key", at + number..body.end))
}

/// Finds a base64 block that starts at `start` and whose content is a private key.
pub(crate) fn encoded(text: Text<'_>, start: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let line =
        |from: usize| bytes[from..].iter().position(|byte| !is_base64(*byte)).unwrap_or(bytes.len() - from);
    let head = bytes[start..].iter().take(HEAD).take_while(|byte| is_base64(**byte)).count();
    if !decoded(&bytes[start..start + head])?.windows(7).any(|word| word == b"PRIVATE") {
        return None;
    }
    let mut length = line(start);
    let mut end = start + length;
    // Of lines that were broken, all but the last are of one length.
    while (60..=80).contains(&length) && bytes.get(end) == Some(&b'\n') {
        let from = end + 1 + bytes[end + 1..].iter().take(40).take_while(|byte| **byte == b' ').count();
        let next = line(from);
        if next == 0 || next > length || !ends_line(&bytes[from + next..]) {
            break;
        }
        (end, length) = (from + next, if next == length { next } else { 0 });
    }
    Some(Secret::new("private-key", start..end))
}

/// The extent of a key's lines.
struct Body {
    /// The end offset of the lines.
    end: usize,
    /// Characters of the key itself.
    characters: usize,
    /// Its last line was found.
    is_whole: bool,
    /// Whether all lines consist of few different characters, such as `XXXX`.
    is_filler: bool,
}

impl Body {
    /// Reads lines that can belong to a key.
    fn read(text: Text<'_>, from: usize) -> Self {
        let bytes = text.bytes;
        let mut body = Self { end: from, characters: 0, is_whole: false, is_filler: true };
        let mut at = from;
        while at < bytes.len() {
            let mut start = at + frame(&bytes[at..]);
            // A line that a difference takes away.
            if bytes[start..].starts_with(b"------END") {
                start += 1;
            }
            let rest = &bytes[start..];
            if rest.starts_with(b"-----END")
                || rest.starts_with(b"---- END")
                || rest.starts_with(b"=-----END")
            {
                let last =
                    rest.iter().take(80).position(|byte| matches!(byte, b'\n' | b'\\' | b'"' | b'\'' | b'`'));
                body.end = start + last.unwrap_or_else(|| rest.len().min(80));
                body.end -= bytes[start..body.end].iter().rev().take_while(|byte| **byte != b'-').count();
                body.is_whole = true;
                break;
            }
            let length = rest.iter().position(|byte| !is_base64(*byte)).unwrap_or(rest.len());
            let is_line = bytes[at..start].iter().any(|byte| !matches!(byte, b' ' | b'\t'));
            // Of lines joined by spaces, only long ones can be distinguished from words.
            let is_joined = !is_line
                && length < 16
                && !text.is_cut_at(start + length)
                && !rest[length..].trim_ascii_start().starts_with(b"-----END");
            if length > 0 && ends_line(&rest[length..]) && !is_joined {
                (at, body.end) = (start + length, start + length);
                body.characters += length;
                body.is_filler &= has_few_distinct_chars(&rest[..length]);
            } else if let Some(length) = head_line(rest) {
                at = start + length;
            } else {
                break;
            }
        }
        body
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The length of what surrounds the lines of a key: line ends (also escaped), quotes, indents, comment and diff
/// markers, colours, line numbers.
fn frame(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = around(rest, at) {
        at += length;
    }
    at
}

/// The length of the next piece of such surroundings.
fn around(rest: &[u8], at: usize) -> Option<usize> {
    let is_first = at_line(rest, at);
    let colour = colour::length(&rest[at..]);
    match &rest[at..] {
        _ if colour > 0 => Some(colour),
        [b'\\', b'n' | b'r' | b't', ..] | [b'#' | b'*', b' ' | b'\n', ..] => Some(2),
        [b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b',' | b'|' | b'>' | b'\\' | b';', ..] => {
            Some(1)
        }
        [b'%', b'0', b'A' | b'a' | b'D' | b'd', ..] | [b'/', b'/', b' ', ..] => Some(3),
        [b'<', b'b', b'r', tag @ ..] => Some(4 + tag.iter().take(3).position(|byte| *byte == b'>')?),
        [b'-', next, ..] if is_first && (is_base64(*next) || *next == b'\n') => Some(1),
        [b'+', next, ..] if is_first || matches!(next, b' ' | b'\n' | b'"' | b'\'') => Some(1),
        [b'0'..=b'9', ..] if let Some(length) = numbered(&rest[at..]) => Some(length),
        _ => is_first.then(|| found_at(&rest[at..]))?,
    }
}

fn at_line(rest: &[u8], at: usize) -> bool {
    at > 0 && rest[at - 1] == b'\n'
}

/// A line number as tools print it, with a tab or an arrow behind it.
fn numbered(rest: &[u8]) -> Option<usize> {
    let digits = rest.iter().take(7).take_while(|byte| byte.is_ascii_digit()).count();
    let behind = &rest[digits..];
    if behind.starts_with(b"\t") || (digits > 0 && behind.starts_with(b":")) {
        Some(digits + 1)
    } else {
        behind.starts_with("→".as_bytes()).then_some(digits + "→".len())
    }
}

/// The length of the file name and line number that a search prints before a match.
fn found_at(rest: &[u8]) -> Option<usize> {
    let path = rest.iter().take(160).position(|byte| byte.is_ascii_whitespace() || *byte == b':')?;
    let number = numbered(rest[path..].strip_prefix(b":")?)?;
    (path > 0 && rest[path + number] == b':').then_some(path + 1 + number)
}

/// Whether the characters of a key may end so.
fn ends_line(rest: &[u8]) -> bool {
    match rest.first() {
        None => true,
        Some(byte) => {
            matches!(
                byte,
                b'\n'
                    | b'\r'
                    | b'\\'
                    | b'"'
                    | b'\''
                    | b'`'
                    | b'-'
                    | b' '
                    | b'<'
                    | b','
                    | b'.'
                    | b'|'
                    | b'\t'
                    | b')'
                    | b'}'
                    | b']'
                    | b';'
                    | b'%'
                    | 0x1b
            ) && !rest.starts_with(b" (")
                || !byte.is_ascii()
        }
    }
}

/// A line such as `Proc-Type: 4,ENCRYPTED`.
fn head_line(rest: &[u8]) -> Option<usize> {
    let name = rest.iter().take(24).position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'-'))?;
    if name < 3 || !rest[..name].iter().any(u8::is_ascii_uppercase) || !rest[name..].starts_with(b": ") {
        return None;
    }
    rest.iter().take(HEAD_LINE).position(|byte| matches!(byte, b'\n' | b'\\'))
}
