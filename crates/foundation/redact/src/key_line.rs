//! A line of a block of base64, whatever stands around it: the marks of a difference, comments, quotes, line numbers, file
//! names, the prefix of a log, a box.

use crate::colour;

/// The most bytes of a line that are not base64.
const AROUND: usize = 400;
/// The most pieces of base64 in a line.
const RUNS: usize = 48;
/// Stands for letters and digits in the shape of a line.
const WORD: u8 = b'a';

/// A line of a text: its shape, and its pieces of base64.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Its signs in order, and [`WORD`] for each piece of base64. Spaces and letters of other scripts are left out.
    shape: Vec<u8>,
    runs: Vec<Run>,
    /// Where the next line begins.
    pub(crate) next: usize,
    /// Why it ends.
    pub(crate) ending: Ending,
    /// Where the last piece goes on behind a colour.
    coloured: Option<usize>,
}

/// Why a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ending {
    /// Another line follows.
    #[default]
    Break,
    /// The mark of the block's end begins here.
    EndMark(usize),
    /// The text ends.
    Text,
    /// It is no line of a key: it is too long, or another block begins.
    Other,
}

/// A piece of base64 in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Its place in the shape of the line.
    at: usize,
}

impl Run {
    pub(crate) fn length(self) -> usize {
        self.end - self.start
    }
}

/// The shape of what stands before and after the base64 of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Frame {
    /// Whether nothing stands around the base64.
    pub(crate) fn is_plain(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

impl Line {
    /// Reads the line that begins at `from`; `by_words` says that spaces end lines, too.
    pub(crate) fn read(bytes: &[u8], from: usize, by_words: bool) -> Self {
        let mut line = Self { next: from, ..Self::default() };
        let mut around = 0;
        while line.next < bytes.len() {
            let rest = &bytes[line.next..];
            if let Some(length) = line_break(rest) {
                line.next += length;
                return line;
            }
            if rest.starts_with(b"-----END") || rest.starts_with(b"---- END") {
                line.ending = Ending::EndMark(line.next);
                return line;
            }
            let begins = rest.starts_with(b"-----BEGIN") || rest.starts_with(b"---- BEGIN");
            if begins || around > AROUND || line.runs.len() > RUNS {
                line.ending = Ending::Other;
                return line;
            }
            if by_words && rest[0] == b' ' {
                line.next += 1;
                return line;
            }
            let length = line.piece(rest);
            if line.runs.last().is_none_or(|run| run.end < line.next + length) {
                around += length;
            }
            line.next += length;
        }
        line.ending = Ending::Text;
        line
    }

    /// Reads what is next in a line, and gives its length.
    fn piece(&mut self, rest: &[u8]) -> usize {
        let colour = colour::length(rest);
        if colour > 0 {
            // What is highlighted in the middle of a line does not part it.
            let is_inside = base64_length(&rest[colour..]) > 0;
            self.coloured =
                self.runs.last().filter(|run| is_inside && run.end == self.next).map(|_| self.next + colour);
            return colour;
        }
        let length = base64_length(rest);
        if self.coloured.take() == Some(self.next)
            && let Some(run) = self.runs.last_mut()
        {
            run.end = self.next + length;
            return length;
        }
        if rest[..length].iter().any(u8::is_ascii_alphanumeric) {
            self.runs.push(Run { start: self.next, end: self.next + length, at: self.shape.len() });
            self.shape.push(WORD);
            return length;
        }
        match rest[0] {
            b'\\' if matches!(rest.get(1), Some(b't')) => 2,
            b'\\' => 1,
            byte => {
                if byte.is_ascii_graphic() {
                    self.shape.push(byte);
                }
                1
            }
        }
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.is_empty()
    }

    /// Whether no letter and no digit is in it.
    pub(crate) fn is_frame(&self) -> bool {
        self.runs.is_empty()
    }

    /// Its base64 where there is only one piece.
    pub(crate) fn only_run(&self) -> Option<Run> {
        match self.runs[..] {
            [run] => Some(run),
            _ => None,
        }
    }

    /// Its pieces of base64.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().copied()
    }

    /// Its longest piece of base64.
    pub(crate) fn longest_run(&self) -> Option<Run> {
        self.runs.iter().copied().max_by_key(|run| run.length())
    }

    /// The piece that stands in this frame.
    pub(crate) fn framed_run(&self, frame: &Frame) -> Option<Run> {
        self.runs.iter().rev().copied().find(|run| self.frame(*run) == *frame)
    }

    /// What stands around a piece.
    pub(crate) fn frame(&self, run: Run) -> Frame {
        let mut frame =
            Frame { before: self.shape[..run.at].to_owned(), after: self.shape[run.at + 1..].to_owned() };
        // The names of authors have more or fewer words.
        frame.before.dedup_by(|one, other| *one == WORD && *other == WORD);
        frame.after.dedup_by(|one, other| *one == WORD && *other == WORD);
        frame
    }
}

/// The length of a line's end, raw or as it is written inside strings, addresses and pages.
fn line_break(rest: &[u8]) -> Option<usize> {
    let first = single_break(rest)?;
    // An end may have two halves, and a comma between strings is behind their line.
    let is_return = |text: &[u8]| {
        text.ends_with(b"\r")
            || (text.starts_with(b"\\") && text.ends_with(b"r"))
            || text.eq_ignore_ascii_case(b"%0d")
            || text == b"&#13;"
            || text.eq_ignore_ascii_case(b"&#xd;")
    };
    let is_separator = rest[..first].ends_with(b",");
    let goes_on = is_separator || is_return(&rest[..first]);
    let second = if goes_on { single_break(&rest[first..]).unwrap_or(0) } else { 0 };
    Some(first + second)
}

fn single_break(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\n' | b'\r', ..] => Some(1),
        [b'\\', ..] => escaped_break(rest),
        [b'"' | b'\'', b',', ..] => Some(2),
        [b'%', b'0', b'A' | b'a' | b'D' | b'd', ..] => Some(3),
        [b'<', b'b' | b'B', b'r' | b'R', tag @ ..] => {
            Some(4 + tag.iter().take(3).position(|byte| *byte == b'>')?)
        }
        [b'&', ..] => {
            const ENTITIES: [&[u8]; 7] =
                [b"&#10;", b"&#13;", b"&#xa;", b"&#xd;", b"&#x0a;", b"&#x0d;", b"&newline;"];
            let starts = |entity: &&&[u8]| {
                rest.get(..entity.len()).is_some_and(|text| text.eq_ignore_ascii_case(entity))
            };
            ENTITIES.iter().find(starts).map(|entity| entity.len())
        }
        _ => None,
    }
}

/// `\n`, `\\n`, `\r`, `\u000a` and their like.
fn escaped_break(rest: &[u8]) -> Option<usize> {
    const CODES: [&[u8]; 8] = [b"n", b"r", b"u000a", b"u000A", b"u000d", b"u000D", b"x0a", b"x0A"];
    let slashes = rest.iter().take(16).take_while(|byte| **byte == b'\\').count();
    let letter = &rest[slashes..];
    CODES.iter().find(|code| letter.starts_with(code)).map(|code| slashes + code.len())
}

/// The length of the base64 that begins here; its signs may be escaped.
pub(crate) fn base64_length(rest: &[u8]) -> usize {
    const ESCAPED: [&[u8]; 10] =
        [b"\\/", b"%2B", b"%2b", b"%2F", b"%2f", b"%3D", b"%3d", b"&#43;", b"&#47;", b"&#61;"];
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        if is_base64(*byte) {
            at += 1;
        } else if let Some(sign) = ESCAPED.iter().find(|sign| rest[at..].starts_with(sign)) {
            at += sign.len();
        } else {
            break;
        }
    }
    at
}

pub(crate) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shape: &str, runs: &[&str]) {
        let line = Line::read(text.as_bytes(), 0, false);
        let found: Vec<&str> = line.runs.iter().map(|run| &text[run.start..run.end]).collect();
        assert_eq!((std::str::from_utf8(&line.shape).unwrap(), &found[..]), (shape, runs), "{text:?}");
    }

    #[test]
    fn lines_have_a_shape() {
        check("MIIE+/=\nnext", "a", &["MIIE+/="]);
        check("  12 -    # MIIE", "a-#a", &["12", "MIIE"]);
        check("k.pem-3-MIIE", "a.a-a-a", &["k", "pem", "3", "MIIE"]);
        check("│ MIIE   │", "a", &["MIIE"]);
        check("\u{1b}[32mMIIE\u{1b}[0m", "a", &["MIIE"]);
        check("\\u001b[32mMI\\/IE\\\\nnext", "a", &["MI\\/IE"]);
        check("MIIE&#10;next", "a", &["MIIE"]);
        check("\"MIIE\", \"next\"", "\"a", &["MIIE"]);
    }

    #[test]
    fn lines_end() {
        let check = |text: &str, next, ending| {
            let line = Line::read(text.as_bytes(), 0, false);
            assert_eq!((line.next, line.ending), (next, ending), "{text:?}");
        };
        check("ab\r\ncd", 4, Ending::Break);
        check("ab\\r\\ncd", 6, Ending::Break);
        check("ab<br/>cd", 7, Ending::Break);
        check("ab\n\ncd", 3, Ending::Break);
        check("ab", 2, Ending::Text);
        check("------END", 1, Ending::EndMark(1));
        check("-----BEGIN", 0, Ending::Other);
    }
}
