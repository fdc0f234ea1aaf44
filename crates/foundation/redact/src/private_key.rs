//! Private keys as text: PEM, OpenSSH, PGP, `PuTTY`, in any frame, whole or cut off.
//!
//! A frame is what stands around every line of the key in the same way. It is learned from the lines, so that no list of
//! frames is needed: a line belongs to the key if base64 is all that is in it, if its base64 stands in the frame of the
//! line before, or if it is as long as the lines before. Between these, a few lines may be anything.

use crate::key_line::{Ending, Frame, Line, Run, base64_length, is_base64};
use crate::value::{decoded, has_few_distinct_chars, is_mixed};
use crate::{Secret, Text};

/// The number of base64 characters at the start of a key that identify its kind.
const HEAD: usize = 52;
/// The fewest characters of a key without its end.
const LEAST: usize = 24;
/// The fewest characters of a line in a frame that is still unknown.
const LEARNED: usize = 32;
/// The fewest characters of a line that is no key's last one.
const LONG: usize = 16;
/// The most lines of a key's head, such as `DEK-Info: …`.
const HEAD_LINES: usize = 12;
/// The most lines of something else between two lines of a key.
const ODD_LINES: usize = 6;
/// How long the lines of keys usually are.
const USUAL: std::ops::RangeInclusive<usize> = 60..=80;
/// The most bytes of the mark of a key's end.
const END_MARK: usize = 64;
/// The most bytes of a line of a key, with its frame.
const LONGEST_LINE: usize = 240;
/// What is between the words of a mark, and in the address of a form.
const SPACES: [&str; 3] = [" ", "  ", "\u{a0}"];
const SPACES_OF_URL: [&str; 2] = ["%20", "+"];
/// What the lines of a key's head begin with.
const HEADS: &[&str] =
    &["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Subject:", "Hash:", "Charset:", "MessageID:"];

/// Finds the key block whose first line has the `KEY` at `at`.
pub(crate) fn block(text: Text<'_>, at: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let line = &bytes[at.saturating_sub(48)..at];
    let is_of_url = SPACES_OF_URL.iter().any(|space| follows_private(line, space));
    if !is_of_url && !SPACES.iter().any(|space| follows_private(line, space)) {
        return None;
    }
    let begin = at - line.len() + line.windows(5).rposition(|word| word == b"BEGIN")?;
    let begin = begin - usize::from(bytes[..begin].ends_with(b" "));
    let dashes = bytes[..begin].iter().rev().take(5).take_while(|byte| **byte == b'-').count();
    if dashes < 4 {
        return None;
    }
    let rest = &bytes[at + 3..];
    let close = rest.iter().take(24).position(|byte| *byte == b'-')?;
    let first = at + 3 + close;
    let first = first + bytes[first..].iter().take(5).take_while(|byte| **byte == b'-').count();
    if is_of_url {
        let length = bytes[first..].iter().take_while(|byte| is_base64(**byte) || **byte == b'%').count();
        return (length >= LEAST).then(|| Secret::new("private-key", begin - dashes..first + length));
    }
    let body = Body::behind_mark(text, first);
    let is_key = (body.characters >= LEAST || (body.is_whole && body.characters >= 8)) && !body.is_filler;
    let is_key = is_key || text.is_cut_at(body.end);
    is_key.then(|| Secret::new("private-key", begin - dashes..body.end))
}

/// Whether a mark has `PRIVATE` and such a space before its `KEY`.
fn follows_private(before: &[u8], space: &str) -> bool {
    before.strip_suffix(space.as_bytes()).is_some_and(|before| before.ends_with(b"PRIVATE"))
}

/// Finds the last lines of a key whose first ones are elsewhere, such as those that `tail` prints; the `KEY` at `at` is in
/// the mark of its end.
pub(crate) fn last_lines(text: Text<'_>, at: usize) -> Option<Secret> {
    let before = &text.bytes[at.saturating_sub(48)..at];
    if !SPACES.iter().any(|space| follows_private(before, space)) {
        return None;
    }
    let mark = before.windows(5).rposition(|word| word == b"--END" || word == b"- END")?;
    let mut line = at - before.len() + mark;
    // What follows the last long line: the rest of the key, and a checksum.
    let mut short = Vec::with_capacity(2);
    let mut found: Option<(usize, usize)> = None;
    while let Some(from) = line_before(text.bytes, line) {
        let read = Line::read(text.bytes, from, false);
        let is_long = |run: &Run| run.length() >= LEARNED && is_of_key(&text.bytes[run.start..run.end]);
        if let Some(run) = read.runs().filter(is_long).max_by_key(|run| run.length()) {
            let end = short.first().copied().unwrap_or(run.end);
            found = Some((run.start, found.map_or(end, |(_, end)| end)));
        } else if found.is_none() && short.len() < 2 {
            short.push(read.runs().last()?.end);
        } else {
            break;
        }
        line = from;
    }
    found.map(|(start, end)| Secret::new("private-key", start..end))
}

/// Where the line before the one with `at` begins; `None` where it is longer than a key's.
fn line_before(bytes: &[u8], at: usize) -> Option<usize> {
    let start_of_line = |end: usize| {
        let first = end.saturating_sub(LONGEST_LINE);
        let newline = bytes[first..end].iter().rposition(|byte| *byte == b'\n');
        newline.map(|at| first + at + 1).or((first == 0).then_some(0))
    };
    start_of_line(at)?.checked_sub(1).and_then(start_of_line)
}

/// The lines behind `Private-Lines: 14`.
pub(crate) fn putty(text: Text<'_>, at: usize) -> Option<Secret> {
    let rest = &text.bytes[at..];
    let number = rest.iter().take(8).take_while(|byte| matches!(byte, b':' | b' ' | b'0'..=b'9')).count();
    let body = Body::new(at + number).read(text, at + number, false);
    (body.characters >= LEAST).then(|| Secret::new("private-key", at + number..body.end))
}

/// Finds a base64 block that starts at `start` and whose content is a private key.
pub(crate) fn encoded(text: Text<'_>, start: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let head = bytes[start..].iter().take(HEAD).take_while(|byte| is_base64(**byte)).count();
    if !decoded(&bytes[start..start + head])?.windows(7).any(|word| word == b"PRIVATE") {
        return None;
    }
    let length = base64_length(&bytes[start..]);
    let end = start + length;
    let mut body = Body::new(end);
    // Lines that were broken are of one length; others are no lines of a key.
    if (60..=80).contains(&length) {
        (body.width, body.previous) = (length, Previous::Long);
        body = body.read(text, end, false);
    }
    Some(Secret::new("private-key", start..body.end))
}

/// The line of a key before the one that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// The head of the key, or its first mark.
    Head,
    /// A line of the usual length.
    Long,
    /// A short line, which may be the last.
    Short,
    /// An empty line inside.
    Empty,
}

/// The extent of a key's lines.
#[derive(Debug)]
struct Body {
    /// The end offset of the lines.
    end: usize,
    /// Characters of the key itself.
    characters: usize,
    /// Its last line was found.
    is_whole: bool,
    /// Whether all lines consist of few different characters, such as `XXXX`.
    is_filler: bool,
    /// The length of its longest line.
    width: usize,
    frame: Option<Frame>,
    previous: Previous,
}

impl Body {
    fn new(end: usize) -> Self {
        Self {
            end,
            characters: 0,
            is_whole: false,
            is_filler: true,
            width: 0,
            frame: None,
            previous: Previous::Head,
        }
    }

    /// Reads the lines behind a mark that ends at `from`.
    fn behind_mark(text: Text<'_>, from: usize) -> Self {
        let rest = Line::read(text.bytes, from, false);
        if rest.is_frame() {
            return Self::new(from).read(text, from, false);
        }
        // Line ends became spaces, or the frame goes on behind the mark.
        let joined = Self::new(from).read(text, from, true);
        if rest.ending != Ending::Break || text.is_cut_at(joined.end) {
            return joined;
        }
        let framed = Self::new(from).read(text, rest.next, false);
        if framed.characters > joined.characters { framed } else { joined }
    }

    /// Reads lines that can belong to a key.
    fn read(mut self, text: Text<'_>, from: usize, by_words: bool) -> Self {
        let (mut at, mut heads) = (from, 0);
        loop {
            let line = Line::read(text.bytes, at, by_words);
            let is_taken = if line.is_frame() {
                self.skip(&line, &text.bytes[at..line.next]);
                true
            } else if self.previous == Previous::Head
                && heads < HEAD_LINES
                && is_head(&text.bytes[at..line.next])
            {
                heads += 1;
                true
            } else {
                self.take(text, &line, by_words)
            };
            if !is_taken {
                match self.behind_odd_lines(text, at, by_words) {
                    Some(next) => at = next,
                    None => return self,
                }
                continue;
            }
            match line.ending {
                Ending::EndMark(mark) => {
                    self.close(text.bytes, mark);
                    return self;
                }
                Ending::Text | Ending::Other => return self,
                Ending::Break => at = line.next,
            }
        }
    }

    /// Passes a line without letters and digits.
    fn skip(&mut self, line: &Line, content: &[u8]) {
        let is_empty = line.is_empty() && content.contains(&b'\n');
        if is_empty && matches!(self.previous, Previous::Long | Previous::Short) {
            self.previous = Previous::Empty;
        }
    }

    /// Takes a line where it belongs to the key.
    fn take(&mut self, text: Text<'_>, line: &Line, by_words: bool) -> bool {
        let Some(run) = self.accepted(text, line, by_words) else { return false };
        let length = run.length();
        self.end = run.end;
        self.characters += length;
        self.is_filler &= has_few_distinct_chars(&text.bytes[run.start..run.end]);
        self.width = self.width.max(length);
        self.frame = Some(line.frame(run));
        self.previous = if length >= LONG && length == self.width { Previous::Long } else { Previous::Short };
        true
    }

    /// The base64 of a line that belongs to the key behind the lines before.
    fn accepted(&self, text: Text<'_>, line: &Line, by_words: bool) -> Option<Run> {
        let run = self.body_of(text.bytes, line)?;
        let length = run.length();
        let is_last = matches!(line.ending, Ending::EndMark(_)) || text.is_cut_at(run.end);
        let fits = match self.previous {
            _ if is_last => true,
            Previous::Head => length >= LONG,
            Previous::Long => length >= LONG || !by_words,
            // Behind the last line there may be a checksum.
            Previous::Short => length >= LONG || text.bytes[run.start] == b'=',
            Previous::Empty => length == self.width || length >= LEARNED,
        };
        fits.then_some(run)
    }

    /// The base64 of a line that may be the key's.
    fn body_of(&self, bytes: &[u8], line: &Line) -> Option<Run> {
        let longest = line.longest_run()?;
        let is_like_others = longest.length() >= LEARNED && longest.length() == self.width;
        if is_like_others || line.only_run().is_some() {
            return Some(longest);
        }
        if let Some(frame) = &self.frame {
            return line.framed_run(frame);
        }
        let content = &bytes[longest.start..longest.end];
        (longest.length() >= LEARNED && is_of_key(content)).then_some(longest)
    }

    /// Where the key goes on behind a few lines that are unlike it; ends the key if its end is there.
    fn behind_odd_lines(&mut self, text: Text<'_>, from: usize, by_words: bool) -> Option<usize> {
        let (mut at, mut odd) = (from, 0);
        while odd <= ODD_LINES {
            let line = Line::read(text.bytes, at, by_words);
            match line.ending {
                Ending::EndMark(mark) if self.characters >= LEAST => {
                    self.close(text.bytes, mark);
                    return None;
                }
                Ending::EndMark(_) | Ending::Other => return None,
                _ if at > from && self.goes_on(text, &line, at, by_words) => return Some(at),
                Ending::Break => at = line.next,
                Ending::Text => return None,
            }
            odd += usize::from(!line.is_frame());
        }
        None
    }

    /// Whether a line behind others that are no key's is one, beyond doubt.
    fn goes_on(&self, text: Text<'_>, line: &Line, at: usize, by_words: bool) -> bool {
        if self.previous == Previous::Head && is_head(&text.bytes[at..line.next]) {
            return true;
        }
        let Some(run) = self.accepted(text, line, by_words) else { return false };
        let content = &text.bytes[run.start..run.end];
        let length = run.length();
        let is_usual = if self.width < LEARNED { USUAL.contains(&length) } else { length == self.width };
        let is_like_others = is_usual && is_of_key(content);
        is_like_others
            || self.frame.as_ref().is_some_and(|frame| !frame.is_plain() && line.frame(run) == *frame)
    }

    /// Ends the key behind the mark of its end.
    fn close(&mut self, bytes: &[u8], mark: usize) {
        let rest = &bytes[mark..bytes.len().min(mark + END_MARK)];
        let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'\\')).unwrap_or(rest.len());
        let words = rest.iter().take(line).skip(5).position(|byte| *byte == b'-').map_or(line, |at| at + 5);
        let dashes = rest[words..].iter().take(5).take_while(|byte| **byte == b'-').count();
        self.end = mark + words + dashes;
        self.is_whole = true;
    }
}

/// Whether base64 is mixed as that of a key is; a checksum in hexadecimal digits may be as long.
fn is_of_key(content: &[u8]) -> bool {
    is_mixed(content) && !content.iter().all(u8::is_ascii_hexdigit)
}

/// Whether a line is one such as `Proc-Type: 4,ENCRYPTED`.
fn is_head(line: &[u8]) -> bool {
    let line = &line[..line.len().min(200)];
    HEADS.iter().any(|head| line.windows(head.len()).any(|part| part == head.as_bytes()))
        && line.contains(&b':')
}
