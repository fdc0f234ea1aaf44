//! The values of a Kubernetes secret: what is below `data:` and `stringData:` in a manifest of `kind: Secret`.

use crate::value::{decoded, is_path_or_url, is_placeholder};
use crate::{Secret, Text};

/// How far a manifest is read before and behind its kind.
const REACH: usize = 4096;
/// The most values of one secret.
const VALUES: usize = 64;

/// Finds the values of the manifest whose `Secret` ends at `end`.
pub(crate) fn values(text: Text<'_>, end: usize, found: &mut Vec<Secret>) {
    let bytes = text.bytes;
    let Some(start) = kind(&bytes[..end]) else { return };
    let before = &bytes[start.saturating_sub(REACH)..start];
    let begin = last(before, b"---").max(last(before, b"kind")).unwrap_or(0) + start.saturating_sub(REACH);
    let rest = &bytes[end..bytes.len().min(end + REACH)];
    let stop = [&b"---"[..], b"kind"].into_iter().filter_map(|mark| first(rest, mark)).min();
    let stop = end + stop.unwrap_or(rest.len());
    block(bytes, begin, start, found);
    block(bytes, end, stop, found);
}

/// Where the `kind:` of a secret begins that the text ends with.
fn kind(before: &[u8]) -> Option<usize> {
    let name = before.strip_suffix(b"Secret")?;
    let name = name.trim_ascii_end();
    let is_joint = |byte: &u8| matches!(byte, b'"' | b'\'' | b' ' | b':' | b'\\');
    let joint = name.iter().rev().take(8).take_while(|byte| is_joint(byte)).count();
    let name = &name[..name.len() - joint];
    name.ends_with(b"kind").then(|| name.len() - 4)
}

/// Reads the values of the first data in a part of the text.
fn block(bytes: &[u8], from: usize, to: usize, found: &mut Vec<Secret>) {
    let mut at = from;
    let mut count = 0;
    while let Some((name, next)) = field(bytes, at, to) {
        at = next;
        let is_plain = name == b"stringData";
        if name != b"data" && !is_plain {
            continue;
        }
        while let Some((start, value, behind)) = value(bytes, at, to) {
            (at, count) = (behind, count + 1);
            if count > VALUES {
                return;
            }
            if is_secret(value, is_plain) {
                found.push(Secret::new("secret", start..start + value.len()));
            }
        }
    }
}

/// The next name in a part of the text, and where what follows its colon begins.
fn field(bytes: &[u8], from: usize, to: usize) -> Option<(&[u8], usize)> {
    let colon = from + bytes.get(from..to)?.iter().position(|byte| *byte == b':')?;
    let before = &bytes[from..colon];
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    let length = before.iter().rev().take_while(|byte| is_name(**byte)).count();
    Some((&before[before.len() - length..], colon + 1))
}

/// The next `name: value` of a block: where the value begins, the value, and what is behind.
fn value(bytes: &[u8], from: usize, to: usize) -> Option<(usize, &[u8], usize)> {
    let is_joint =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'"' | b',' | b'\\' | b'-' | b'+');
    let mut at = from;
    while at < to && (is_joint(&bytes[at]) || (bytes[at] == b'n' && bytes[at - 1] == b'\\')) {
        at += 1;
    }
    let name = bytes.get(at..to)?.iter().take_while(|byte| is_name(**byte)).count();
    // What is not indented, or on the same line, is no longer part of it.
    let is_below = bytes[from..at].iter().any(|byte| matches!(byte, b' ' | b'\t' | b'"'));
    if name == 0 || !is_below {
        return None;
    }
    at += name;
    let joint =
        bytes[at..to].iter().take(6).take_while(|byte| matches!(byte, b'"' | b':' | b' ' | b'\\')).count();
    if !bytes[at..at + joint].contains(&b':') {
        return None;
    }
    at += joint;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b',' | b'}' | b'\\');
    let length = bytes[at..to].iter().position(is_end).unwrap_or(to - at);
    Some((at, &bytes[at..at + length], at + length))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_secret(value: &[u8], is_plain: bool) -> bool {
    if value.len() < 4 || is_placeholder(value) {
        return false;
    }
    if is_plain {
        return value.len() >= 6 && !is_path_or_url(value) && !value.starts_with(b"|");
    }
    let is_usual = value.len() >= 16 && value.iter().any(u8::is_ascii_uppercase);
    let is_text = |text: Vec<u8>| text.iter().all(|byte| (0x20..0x7F).contains(byte) || *byte == b'\n');
    value.len().is_multiple_of(4)
        && !value.iter().any(|byte| matches!(byte, b'-' | b'_'))
        && decoded(value).is_some_and(|text| !text.is_empty() && (is_usual || is_text(text)))
}

fn first(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|piece| piece == part)
}

fn last(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|piece| piece == part)
}
