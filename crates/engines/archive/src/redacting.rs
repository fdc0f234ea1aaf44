//! The content of a copy without secrets: the same lines, with each secret replaced by `[redacted:kind]`.
//!
//! A line of JSON stays JSON: its strings are decoded before secrets are looked for, and encoded again where one was
//! found.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use serde::de::IgnoredAny;

/// The longest piece that is looked through at once. Longer lines are cut between words.
const LONGEST: usize = 16 << 20;

/// Reads a file piece by piece and gives each without its secrets.
#[derive(Debug)]
pub(crate) struct RedactedPieces<R> {
    input: BufReader<R>,
    /// Whether a line is a piece: in other files a secret may have several lines.
    by_line: bool,
    /// What was read beyond the end of the last piece.
    left: Vec<u8>,
    /// How many secrets were replaced.
    pub(crate) secrets: u64,
}

/// One piece of a file.
#[derive(Debug)]
pub(crate) struct Piece {
    /// How many bytes of the file it is.
    pub(crate) read: u64,
    /// What is left of them.
    pub(crate) bytes: Vec<u8>,
}

impl<R: Read> RedactedPieces<R> {
    pub(crate) fn new(input: R, by_line: bool) -> Self {
        Self { input: BufReader::with_capacity(256 << 10, input), by_line, left: Vec::new(), secrets: 0 }
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        let mut raw = std::mem::take(&mut self.left);
        let limit = (LONGEST - raw.len().min(LONGEST)) as u64;
        let mut input = (&mut self.input).take(limit);
        if !self.by_line {
            input.read_to_end(&mut raw)?;
        } else if raw.last() != Some(&b'\n') {
            input.read_until(b'\n', &mut raw)?;
        }
        if raw.len() >= LONGEST && raw.last() != Some(&b'\n') {
            let is_between = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"_-+/=.:@".contains(byte);
            let end = raw.iter().rposition(is_between).map_or(raw.len(), |at| at + 1);
            self.left = raw.split_off(end);
        }
        if raw.is_empty() {
            return Ok(None);
        }
        let (bytes, secrets) = redacted(&raw);
        self.secrets += secrets;
        Ok(Some(Piece { read: raw.len() as u64, bytes }))
    }
}

/// A piece without its secrets, and how many those were.
fn redacted(raw: &[u8]) -> (Vec<u8>, u64) {
    let (mut out, mut secrets) = (Vec::with_capacity(raw.len()), 0);
    for chunk in raw.utf8_chunks() {
        let (text, found) = redact_text(chunk.valid());
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(chunk.invalid());
        secrets += found;
    }
    (out, secrets)
}

fn redact_text(text: &str) -> (Cow<'_, str>, u64) {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !text.trim_start().starts_with(['{', '[']) || !is_json(text) {
        return redact_words(text);
    }
    // A secret may be known by the name of its field.
    let (whole, first) = match redact_words(text) {
        (redacted, found) if found > 0 && is_json(&redacted) => (redacted, found),
        _ => (Cow::Borrowed(text), 0),
    };
    let (strings, more) = redact_json_strings(&whole);
    match strings {
        Some(strings) => (Cow::Owned(strings), first + more),
        None => (whole, first),
    }
}

fn redact_words(text: &str) -> (Cow<'_, str>, u64) {
    let found = redact::find(text).len() as u64;
    if found == 0 { (Cow::Borrowed(text), 0) } else { (redact::redact(text), found) }
}

/// The same JSON with the secrets in its strings replaced, where there are any.
fn redact_json_strings(json: &str) -> (Option<String>, u64) {
    let (mut out, mut done, mut secrets) = (String::new(), 0, 0);
    let mut from = 0;
    while let Some(begin) = json[from..].find('"').map(|at| from + at) {
        let Some(end) = string_end(json, begin) else { break };
        let token = &json[begin..end];
        // Strings without escapes were searched with the whole line.
        if token.contains('\\')
            && let Ok(text) = serde_json::from_str::<String>(token)
            && let (Cow::Owned(redacted), found) = redact_words(&text)
            && let Ok(encoded) = serde_json::to_string(&redacted)
        {
            out.push_str(&json[done..begin]);
            out.push_str(&encoded);
            (done, secrets) = (end, secrets + found);
        }
        from = end;
    }
    if secrets == 0 {
        return (None, 0);
    }
    out.push_str(&json[done..]);
    (Some(out), secrets)
}

/// The end of the string that begins at `begin`.
fn string_end(json: &str, begin: usize) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(begin + 1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIj-AbCdEfAA";

    fn all(content: &str, by_line: bool) -> (String, u64) {
        let mut pieces = RedactedPieces::new(content.as_bytes(), by_line);
        let (mut out, mut read) = (Vec::new(), 0);
        while let Some(piece) = pieces.next().unwrap() {
            out.extend(piece.bytes);
            read += piece.read;
        }
        assert_eq!(read, content.len() as u64);
        (String::from_utf8(out).unwrap(), pieces.secrets)
    }

    #[test]
    fn redacted_json_lines_stay_json() {
        for line in [
            format!("{{\"text\":\"use {KEY} now\"}}\n"),
            format!("{{\"text\":\"first\\nexport KEY={KEY}\\nlast\",\"n\":1.50}}\n"),
            format!("{{\"cut\":\"{KEY}"),
        ] {
            let (text, secrets) = all(&format!("{{\"a\":1}}\n{line}"), true);
            assert_eq!((secrets, text.contains("AbCdEf")), (1, false), "{text}");
            assert!(text.starts_with("{\"a\":1}\n") && text.contains("[redacted:"), "{text}");
            let valid = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(valid(text.lines().last().unwrap()), valid(&line));
        }
    }

    #[test]
    fn a_secret_of_several_lines_is_found_in_text() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAxyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyz\nabcdabcd\n-----END RSA PRIVATE KEY-----";
        let (text, secrets) = all(&format!("before\n{key}\nafter\n"), false);
        assert_eq!((secrets, text.contains("MIIE")), (1, false), "{text}");
        assert!(text.ends_with("\nafter\n"));
    }
}
