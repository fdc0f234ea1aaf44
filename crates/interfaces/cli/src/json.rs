//! JSON that a terminal may show, too: the control characters that JSON leaves as they are, are escaped.

use std::io::{self, Write};

use model::is_steering;
use serde::Serialize;

/// Writes a value as indented JSON.
pub(crate) fn write_json(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(Escaping(out), value)?)
}

/// A value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<String> {
    let mut out = Vec::new();
    write_json(&mut out, value)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// A value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut out = Vec::new();
    serde_json::to_writer(Escaping(&mut out), value)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Escapes what is written through it, in the pieces in which `serde_json` writes: none ends inside a character.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece)?;
        Ok(piece.len())
    }

    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.iter().all(|byte| *byte < 0x7f) {
            return self.0.write_all(piece);
        }
        let text = std::str::from_utf8(piece).map_err(io::Error::other)?;
        let mut done = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| *c >= '\u{7f}' && is_steering(*c)) {
            self.0.write_all(&piece[done..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(self.0, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        self.0.write_all(&piece[done..])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_nothing_and_stays_json() {
        let said = "a\u{1b}[m\u{9b}\u{202e}\nö\u{61c}\u{feff}\u{e0041}\u{2028}👩\u{200d}👧\u{7f}";
        let text = json(&[said]).unwrap();
        let expected = "a\\u001b[m\\u009b\\u202e\\nö\\u061c\\ufeff\\udb40\\udc41\\u2028👩\u{200d}👧\\u007f";
        assert_eq!(text, format!("[\n  \"{expected}\"\n]"));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [said]);
    }
}
