//! The content of a copy without secrets: the same lines, with each secret replaced by `[redacted:kind]`.
//!
//! A line of JSON stays JSON.

use std::io::{self, BufRead, BufReader, Read};

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
        let (text, found) = redact::redact_json(chunk.valid());
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(chunk.invalid());
        secrets += found as u64;
    }
    (out, secrets)
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
