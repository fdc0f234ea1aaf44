//! Finds secrets in HTTP headers, `Authorization` and `Cookie`, and the same secrets in settings.

use crate::value::{decoded, is_mixed, is_placeholder, is_random, is_uuid};
use crate::{Secret, Text};

/// Finds the token after `Bearer`, whose second letter is at `start`.
pub(crate) fn bearer(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    if !matches!(bytes.get(start.checked_sub(1)?)?, b'B' | b'b') {
        return None;
    }
    let gap = bytes[end..].iter().take(4).take_while(|byte| matches!(byte, b' ' | b':' | b'=')).count();
    let escaped = if bytes[end..].starts_with(b"%20") { 3 } else { gap };
    let from = end + escaped;
    let length = bytes[from..].iter().take(8192).take_while(|byte| is_token(**byte)).count();
    let mut value = &bytes[from..from + length];
    while let Some(trimmed) = value.strip_suffix(b".") {
        value = trimmed;
    }
    let before = &bytes[start.saturating_sub(32)..start];
    let in_header = before.windows(9).any(|word| word.eq_ignore_ascii_case(b"uthorizat"));
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let fits = match value.len() {
        0..8 => false,
        8..16 => in_header && digits >= 2 && value.iter().any(u8::is_ascii_alphabetic),
        _ => is_random(value) || (in_header && (is_mixed(value) || digits >= 2)),
    };
    let goes_on = bytes.get(from + value.len()).is_some_and(|byte| matches!(byte, b'(' | b'{' | b'$' | b'['));
    let is_cut = text.is_cut_at(from + value.len()) && value.len() >= 4;
    (escaped > 0 && (fits || is_cut) && !goes_on && !is_placeholder(value))
        .then(|| Secret::new("bearer-token", from..from + value.len()))
}

/// Finds the value of an `Authorization` header whose name ends at `end`, if its scheme is neither `Bearer` nor
/// `Basic`.
pub(crate) fn authorization(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let before = &bytes[start.saturating_sub(4)..start];
    if !before.eq_ignore_ascii_case(b"auth") {
        return None;
    }
    let is_gap = |byte: &u8| matches!(byte, b' ' | b':' | b'=' | b']' | b'"' | b'\'' | b'\\' | b',' | b'`');
    let gap = bytes[end..].iter().take(8).take_while(|byte| is_gap(byte)).count();
    if !bytes[end..end + gap].iter().any(|byte| matches!(byte, b':' | b'=' | b',')) {
        return None;
    }
    let word = |from: usize| bytes[from..].iter().take(400).take_while(|byte| is_token(**byte)).count();
    let (mut from, mut length) = (end + gap, word(end + gap));
    let scheme = &bytes[from..from + length];
    if (3..=12).contains(&length)
        && scheme.iter().all(u8::is_ascii_alphabetic)
        && bytes.get(from + length) == Some(&b' ')
    {
        if scheme.eq_ignore_ascii_case(b"bearer") || scheme.eq_ignore_ascii_case(b"basic") {
            return None;
        }
        from += length + 1;
        length = word(from);
    }
    let value = &bytes[from..from + length];
    let goes_on = bytes.get(from + length).is_some_and(|byte| matches!(byte, b'(' | b'{' | b'$' | b'['));
    (length >= 16 && is_mixed(value) && !goes_on && !is_placeholder(value))
        .then(|| Secret::new("bearer-token", from..from + length))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// The name and password in base64 that begin at `from`, behind `Basic `.
pub(crate) fn basic(text: Text<'_>, from: usize) -> Option<Secret> {
    let rest = &text.bytes[from..];
    let length = rest.iter().take(1024).take_while(|byte| is_base64(**byte)).count();
    let is_pair = length >= 6 && decodes_to_pair(&rest[..length]);
    is_pair.then(|| Secret::new("basic-credentials", from..from + length))
}

/// Finds the value after `_auth=` or `"auth": "`, as in a registry's settings.
pub(crate) fn registry(text: Text<'_>, from: usize) -> Option<Secret> {
    let gap = |byte: &u8| matches!(byte, b' ' | b'"' | b'\\' | b':' | b'=' | b'\'');
    let length = text.bytes[from..].iter().take(8).take_while(|byte| gap(byte)).count();
    if length == 0 {
        return None;
    }
    basic(text, from + length)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Whether base64 decodes to printable text with a colon that is not its last character.
fn decodes_to_pair(encoded: &[u8]) -> bool {
    let length = encoded.iter().position(|byte| *byte == b'=').unwrap_or(encoded.len());
    let Some(text) = decoded(&encoded[..length]) else { return false };
    let colon = text.iter().position(|byte| *byte == b':');
    text.len() >= 4
        && text.iter().all(|byte| (0x20..0x7F).contains(byte))
        && colon.is_some_and(|colon| colon + 1 < text.len())
}

/// Finds session cookies after `Cookie:` or `Set-Cookie:`.
pub(crate) fn cookies(text: Text<'_>, start: usize, end: usize, found: &mut Vec<Secret>) {
    let bytes = text.bytes;
    let before = bytes[..start].strip_suffix(b"C").or_else(|| bytes[..start].strip_suffix(b"c"));
    if before
        .is_none_or(|before| before.last().is_some_and(u8::is_ascii_alphanumeric) && !before.ends_with(b"n"))
    {
        return;
    }
    let gap = bytes[end..]
        .iter()
        .take(6)
        .take_while(|byte| matches!(byte, b':' | b' ' | b'"' | b'\'' | b'\\'))
        .count();
    if !bytes[end..end + gap].contains(&b':') {
        return;
    }
    let mut at = end + gap;
    while let Some((equals, stop)) = cookie(bytes, at) {
        let (start, value) = (equals + 1, bytes[equals + 1..stop].trim_ascii_end());
        let is_value = value.len() >= 16 && !value.contains(&b' ');
        if is_value && is_mixed(value) && !is_uuid(value) && !is_placeholder(value) {
            found.push(Secret::new("cookie", start..start + value.len()));
        }
        if bytes.get(stop) != Some(&b';') {
            break;
        }
        at = stop + 1;
    }
}

/// The positions of the `=` of the cookie at `at` and of the end of its value.
fn cookie(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let no_name = |byte: &u8| matches!(byte, b'=' | b';' | b':' | b'\n' | b'"' | b'\'');
    let equals = at + bytes[at..].iter().take(64).position(no_name)?;
    let ends = |byte: &u8| matches!(byte, b';' | b'\n' | b'\r' | b'"' | b'\'' | b'`');
    let rest = &bytes[equals..bytes.len().min(equals + 1024)];
    (bytes[equals] == b'=')
        .then(|| equals + rest.iter().position(ends).unwrap_or(rest.len()))
        .map(|stop| (equals, stop))
}
